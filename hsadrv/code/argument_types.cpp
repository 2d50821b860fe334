#include "hsadrv/code/argument_types.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
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

std::vector<ArgumentMetadata*> explicit_arguments(KernelMetadata& kernel) {
    std::vector<ArgumentMetadata*> arguments;
    for (ArgumentMetadata& argument : kernel.arguments)
        if (!is_hidden(argument.kind)) arguments.push_back(&argument);
    return arguments;
}

/// Types that do not fit are another function's.
void set_types(KernelMetadata& kernel, const std::vector<std::string_view>& types,
               std::string (*name)(std::string_view)) {
    const std::vector<ArgumentMetadata*> arguments = explicit_arguments(kernel);
    if (types.size() != arguments.size()) return;
    for (std::size_t i = 0; i < types.size(); ++i) {
        const bool is_pointer = arguments[i]->kind != ValueKind::by_value;
        if (arguments[i]->type_name.empty() && types[i].ends_with('*') == is_pointer)
            arguments[i]->type_name = name(types[i]);
    }
}

std::vector<std::string_view> split(std::string_view types) {
    std::vector<std::string_view> all;
    while (!types.empty()) {
        const std::size_t end = std::min(types.find(','), types.size());
        all.push_back(types.substr(0, end));
        if (end + 1 == types.size()) all.push_back({});  // "float*,"
        types.remove_prefix(std::min(end + 1, types.size()));
    }
    return all;
}

/// Empty if it is not mangled.
std::string demangled(const std::string& name) {
    if (!name.starts_with("_Z")) return {};
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                           &std::free);
    return text ? text.get() : "";
}

/// "float*", "unsigned int" of "void app::scale<float>(float*, unsigned int)"; of a function pointer's parameters none.
std::vector<std::string_view> parameters_of(std::string_view function) {
    std::vector<std::string_view> types;
    const std::size_t last = function.rfind(')');
    if (last == function.npos) return types;
    std::size_t end = last;
    int depth = 0;
    for (std::size_t at = last; at-- > 0;) {
        const char c = function[at];
        const bool opens = c == '(' || c == '<' || c == '[' || c == '{';
        if (c == ')' || c == '>' || c == ']' || c == '}') ++depth;
        if (depth == 0 && (opens || c == ',')) {
            std::string_view type = function.substr(at + 1, end - at - 1);
            type.remove_prefix(std::min(type.find_first_not_of(' '), type.size()));
            types.insert(types.begin(), type);
            end = at;
            if (opens) return types.size() == 1 && types[0].empty() ? std::vector<std::string_view>() : types;
        }
        if (opens) --depth;
    }
    return {};
}

struct TypeName {
    std::string_view cpp, opencl;
};
constexpr TypeName type_names[] = {
    {"bool", "bool"},        {"char", "char"},
    {"signed char", "char"}, {"unsigned char", "uchar"},
    {"short", "short"},      {"unsigned short", "ushort"},
    {"int", "int"},          {"unsigned int", "uint"},
    {"long", "long"},        {"unsigned long", "ulong"},
    {"long long", "long"},   {"unsigned long long", "ulong"},
    {"_Float16", "half"},    {"float", "float"},
    {"double", "double"},
};

/// "float*" for "float const*"; empty if OpenCL C has no such type.
std::string opencl_name(std::string_view type) {
    const bool is_pointer = type.ends_with('*');
    if (is_pointer) type.remove_suffix(1);
    for (const std::string_view qualifier : {" volatile", " const"})
        if (is_pointer && type.ends_with(qualifier)) type.remove_suffix(qualifier.size());
    const auto* const known = std::find_if(std::begin(type_names), std::end(type_names),
                                           [&](const TypeName& name) { return name.cpp == type; });
    if (known == std::end(type_names)) return {};
    return std::string(known->opencl) + (is_pointer ? "*" : "");
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
            if (kernel.name == name)
                set_types(kernel, split(types), [](std::string_view type) { return std::string(type); });
        }
    }
}

void add_mangled_types(std::vector<KernelMetadata>& kernels) {
    for (KernelMetadata& kernel : kernels) {
        const std::string function = demangled(kernel.name);
        set_types(kernel, parameters_of(function), opencl_name);
    }
}

}  // namespace hsadrv::detail
