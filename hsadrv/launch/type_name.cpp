#include "hsadrv/launch/type_name.hpp"

#include <algorithm>
#include <iterator>

namespace hsadrv::detail {
namespace {

constexpr ArgumentClass integer = ArgumentClass::integer, floating = ArgumentClass::floating;

struct ScalarName {
    std::string_view name;
    ElementType type;
};

constexpr ScalarName scalar_names[] = {
    {"bool", {integer, 1}},
    {"char", {integer, 1}},
    {"signed char", {integer, 1}},
    {"unsigned char", {integer, 1}},
    {"uchar", {integer, 1}},
    {"int8_t", {integer, 1}},
    {"uint8_t", {integer, 1}},
    {"short", {integer, 2}},
    {"unsigned short", {integer, 2}},
    {"ushort", {integer, 2}},
    {"int16_t", {integer, 2}},
    {"uint16_t", {integer, 2}},
    {"int", {integer, 4}},
    {"unsigned int", {integer, 4}},
    {"unsigned", {integer, 4}},
    {"uint", {integer, 4}},
    {"int32_t", {integer, 4}},
    {"uint32_t", {integer, 4}},
    {"long", {integer, 8}},
    {"unsigned long", {integer, 8}},
    {"ulong", {integer, 8}},
    {"long long", {integer, 8}},
    {"unsigned long long", {integer, 8}},
    {"int64_t", {integer, 8}},
    {"uint64_t", {integer, 8}},
    {"size_t", {integer, 8}},
    {"half", {integer | floating, 2}},  // C++20 has no such type: programs keep its bits in 16-bit integers
    {"float", {floating, 4}},
    {"double", {floating, 8}},
};

ElementType scalar_of(std::string_view name) noexcept {
    const auto* const found = std::find_if(std::begin(scalar_names), std::end(scalar_names),
                                           [&](const ScalarName& scalar) { return scalar.name == name; });
    return found == std::end(scalar_names) ? ElementType{} : found->type;
}

/// "float4" is "float".
std::string_view without_width(std::string_view name) noexcept {
    for (const std::string_view width : {"16", "2", "3", "4", "8"}) {
        if (name.ends_with(width)) return name.substr(0, name.size() - width.size());
    }
    return name;
}

}  // namespace

ArgumentClass value_class(std::string_view type_name) noexcept {
    const ElementType type = scalar_of(type_name);
    return type.known() ? type.what : ArgumentClass::any_value;
}

ElementType element_of_pointer(std::string_view type_name) noexcept {
    if (!type_name.ends_with('*')) return {};
    type_name.remove_suffix(1);
    while (type_name.ends_with(' ')) type_name.remove_suffix(1);
    for (const std::string_view qualifier : {"const ", "volatile "}) {
        if (type_name.starts_with(qualifier)) type_name.remove_prefix(qualifier.size());
    }
    const ElementType scalar = scalar_of(type_name);
    return scalar.known() ? scalar : scalar_of(without_width(type_name));
}

}  // namespace hsadrv::detail
