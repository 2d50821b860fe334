#include "hsadrv/code/argument_types.hpp"

#include <algorithm>
#include <string_view>

#include "hsadrv/error.hpp"

namespace hsadrv::detail {
namespace {

[[noreturn]] void refuse_types(std::string_view kernel, const std::string& why) {
    throw InvalidCodeObject("code object: section '" + std::string(argument_types_section) + "': kernel '" +
                            std::string(kernel) + "' " + why);
}

/// Up to the next zero, which is removed as well.
std::string_view take_text(std::string_view& rest, std::string_view kernel) {
    const std::size_t end = rest.find('\0');
    if (end == rest.npos) refuse_types(kernel, "has a record that is cut off");
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return text;
}

std::string_view take_type(std::string_view& types) {
    const std::size_t end = std::min(types.find(','), types.size());
    const std::string_view type = types.substr(0, end);
    types.remove_prefix(std::min(end + 1, types.size()));
    return type;
}

void set_types(KernelMetadata& kernel, std::string_view types) {
    const auto stated = static_cast<std::size_t>(std::count(types.begin(), types.end(), ',')) + 1;
    const auto wanted = static_cast<std::size_t>(
        std::count_if(kernel.arguments.begin(), kernel.arguments.end(),
                      [](const ArgumentMetadata& argument) { return !is_hidden(argument.kind); }));
    if (stated != wanted && !(types.empty() && wanted == 0))
        refuse_types(kernel.name, "has types of " + std::to_string(stated) + " arguments, and its metadata list " +
                                      std::to_string(wanted));
    for (ArgumentMetadata& argument : kernel.arguments) {
        if (is_hidden(argument.kind)) continue;
        const std::string_view type = take_type(types);
        if (type.empty() || !argument.type_name.empty()) continue;
        if (type.ends_with('*') == (argument.kind == ValueKind::by_value))
            refuse_types(kernel.name, "has an argument of type '" + std::string(type) + "', and its metadata say " +
                                          std::string(to_string(argument.kind)));
        argument.type_name = type;
    }
}

}  // namespace

void add_argument_types(std::vector<KernelMetadata>& kernels, std::span<const std::byte> section) {
    std::string_view rest(reinterpret_cast<const char*>(section.data()), section.size());
    while (true) {
        rest.remove_prefix(std::min(rest.find_first_not_of('\0'), rest.size()));
        if (rest.empty()) return;
        const std::string_view name = take_text(rest, rest.substr(0, 64));
        const std::string_view types = take_text(rest, name);
        for (KernelMetadata& kernel : kernels) {
            if (kernel.name == name) set_types(kernel, types);
        }
    }
}

}  // namespace hsadrv::detail
