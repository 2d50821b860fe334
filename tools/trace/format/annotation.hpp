// Annotation: a named value of an event, such as an argument of a call.
//
//     const Annotation size{"size", std::uint64_t{4096}};
//
// Borrows: texts, until the event is written. Thread safety: a value.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace trace {

/// Shown in hexadecimal.
struct Pointer {
    std::uint64_t value;
};

struct Annotation {
    using Value = std::variant<std::uint64_t, std::int64_t, bool, double, Pointer, std::string_view>;
    std::string_view name;
    Value value;
};

}  // namespace trace
