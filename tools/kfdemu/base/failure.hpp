// User-requested failures of driver calls.
//
//     "allocation:3:ENOMEM"    the third allocation
//     "ioctl/0x16:2-5:EIO"     the second to fifth request of that number
//     "mmap:1-:ENOMEM"         every mmap of a device file
//
// Pure: text in, value or error text out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace kfdemu {

enum class Point : std::uint8_t { allocation = 1, scratch = 2, mapping = 3, ioctl = 4, open = 5 };

/// Selects `count` events of a series, from the nth on. The next event is number 1.
struct Turns {
    std::uint64_t nth = 1, count = 1;

    static constexpr std::uint64_t kAll = ~std::uint64_t{0};
    bool valid() const { return nth != 0 && count != 0; }
    /// Counts one event; returns whether it is selected.
    bool next();
};

struct Failure {
    Point point;
    std::uint32_t number = 0;  ///< of an ioctl; 0: any
    Turns turns;
    int error;
};

/// "3": the third. "3-5": the third to fifth. "3-": the third and all after it. False for anything else.
bool parse_turns(std::string_view text, Turns& turns);
std::string to_string(const Turns& turns);

/// The second alternative is an error text with the accepted forms.
std::variant<Failure, std::string> parse_failure(std::string_view text);
/// The text that parse_failure() parses to `failure`.
std::string to_string(const Failure& failure);

}  // namespace kfdemu
