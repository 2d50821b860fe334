#include "hsadrv/services/printf_text.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <cstring>

namespace hsadrv::detail {
namespace {

/// Fields are no wider than this: a kernel's mistake does not make gigabytes of blanks.
constexpr int most_columns = 4096;

/// "%-*.3ld"
struct Conversion {
    std::string flags;
    int width = -1, precision = -1;  ///< -1: not given
    std::string length;
    char kind = 0;
};

template <class T>
std::string formatted(const Conversion& conversion, const char* length, T value) {
    std::string format = "%" + conversion.flags;
    if (conversion.width >= 0) format += std::to_string(conversion.width);
    if (conversion.precision >= 0) format += "." + std::to_string(conversion.precision);
    format += length;
    format += conversion.kind;
    // The format is made of parts that were checked.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int size = std::snprintf(nullptr, 0, format.c_str(), value);
    std::string text(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
    std::snprintf(text.data(), text.size(), format.c_str(), value);
#pragma GCC diagnostic pop
    text.pop_back();
    return text;
}

/// The number that C would read: an int unless a length is given.
std::string integer_text(const Conversion& conversion, std::uint64_t word) {
    const bool is_signed = conversion.kind == 'd' || conversion.kind == 'i';
    std::int64_t value = static_cast<std::int64_t>(word);
    if (conversion.length.empty())
        value = is_signed ? std::int64_t{static_cast<std::int32_t>(word)} : word & 0xffffffff;
    if (conversion.length == "h") value = is_signed ? std::int64_t{static_cast<std::int16_t>(word)} : word & 0xffff;
    if (conversion.length == "hh") value = is_signed ? std::int64_t{static_cast<std::int8_t>(word)} : word & 0xff;
    return formatted(conversion, "ll", static_cast<long long>(value));
}

class Formatter {
  public:
    explicit Formatter(std::span<const std::uint64_t> words) : arguments_(words), format_(arguments_.text()) {}

    std::string text() {
        while (!format_.empty()) {
            const std::size_t literal = std::min(format_.find('%'), format_.size());
            text_ += format_.substr(0, literal);
            format_.remove_prefix(literal);
            if (!format_.empty()) convert();
        }
        return std::move(text_);
    }

  private:
    /// The conversion at the start of the format.
    void convert() {
        const std::string_view whole = format_;
        format_.remove_prefix(1);
        Conversion conversion;
        conversion.flags = take_any("-+ #0");
        conversion.width = number(conversion);
        if (format_.starts_with('.')) {
            format_.remove_prefix(1);
            const bool given = format_.starts_with('*');
            conversion.precision = number(conversion, false);
            if (!given) conversion.precision = std::max(conversion.precision, 0);
        }
        conversion.length = take_any("hljztL");
        if (format_.empty()) {
            text_ += whole;
            return;
        }
        conversion.kind = format_.front();
        format_.remove_prefix(1);
        if (conversion.kind == '%')
            text_ += '%';
        else if (conversion.kind == 'n' || arguments_.empty())
            text_ += whole.substr(0, whole.size() - format_.size());
        else
            text_ += argument_text(conversion, whole.substr(0, whole.size() - format_.size()));
    }

    std::string argument_text(const Conversion& conversion, std::string_view whole) {
        switch (conversion.kind) {
            case 'd':
            case 'i':
            case 'o':
            case 'u':
            case 'x':
            case 'X':
                return integer_text(conversion, arguments_.word());
            case 'c':
                return formatted(conversion, "", static_cast<int>(arguments_.word() & 0xff));
            case 'e':
            case 'E':
            case 'f':
            case 'F':
            case 'g':
            case 'G':
            case 'a':
            case 'A':
                return formatted(conversion, "", std::bit_cast<double>(arguments_.word()));
            case 'p':
                return formatted(conversion, "", reinterpret_cast<const void*>(arguments_.word()));
            case 's':
                return formatted(conversion, "", std::string(arguments_.text()).c_str());
            default:
                return std::string(whole);
        }
    }

    std::string take_any(std::string_view of) {
        const std::size_t count = std::min(format_.find_first_not_of(of), format_.size());
        const std::string taken(format_.substr(0, count));
        format_.remove_prefix(count);
        return taken;
    }

    /// A width or precision; -1 if there is none. A negative width from an argument is a flag.
    int number(Conversion& conversion, bool is_width = true) {
        if (format_.starts_with('*')) {
            format_.remove_prefix(1);
            const auto value = static_cast<std::int32_t>(arguments_.word());
            if (value >= 0) return std::min(value, most_columns);
            if (!is_width) return -1;
            conversion.flags += '-';
            return value < -most_columns ? most_columns : -value;
        }
        const std::string digits = take_any("0123456789");
        if (digits.empty()) return -1;
        return digits.size() > 4 ? most_columns : std::min(std::stoi(digits), most_columns);
    }

    MessageReader arguments_;
    std::string_view format_;
    std::string text_;
};

}  // namespace

std::uint64_t MessageReader::word() noexcept {
    if (words_.empty()) return 0;
    const std::uint64_t word = words_.front();
    words_ = words_.subspan(1);
    return word;
}

std::string_view MessageReader::text() noexcept {
    if (words_.empty()) return {};
    const auto* const begin = reinterpret_cast<const char*>(words_.data());
    const std::size_t size = ::strnlen(begin, words_.size_bytes());
    words_ = words_.subspan(std::min(size / sizeof(std::uint64_t) + 1, words_.size()));
    return {begin, size};
}

std::string printf_text(std::span<const std::uint64_t> words) { return Formatter(words).text(); }

}  // namespace hsadrv::detail
