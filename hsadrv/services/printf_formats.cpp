#include "hsadrv/services/printf_formats.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "hsadrv/services/printf_text.hpp"

namespace hsadrv::detail {
namespace {

constexpr std::size_t dword_bytes = 4;

std::optional<std::uint32_t> number_of(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = line.find(':');
        parts.push_back(line.substr(0, end));
        if (end == std::string_view::npos) return parts;
        line.remove_prefix(end + 1);
    }
}

/// The compiler writes control characters as C does, and a colon as "\72"; a backslash is left as it is.
std::string without_escapes(std::string_view text) {
    static constexpr std::pair<std::string_view, char> escapes[] = {
        {"\\a", '\a'}, {"\\b", '\b'}, {"\\f", '\f'}, {"\\n", '\n'}, {"\\r", '\r'}, {"\\v", '\v'}, {"\\72", ':'}};
    std::string plain;
    while (!text.empty()) {
        const auto* const found = std::find_if(std::begin(escapes), std::end(escapes),
                                               [&](const auto& escape) { return text.starts_with(escape.first); });
        const bool escaped = found != std::end(escapes);
        plain += escaped ? found->second : text.front();
        text.remove_prefix(escaped ? found->first.size() : 1);
    }
    return plain;
}

/// IEEE binary16.
double half_value(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? std::nan("") : HUGE_VAL)
                   : exponent == 0 ? std::ldexp(fraction, -24)
                                   : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -value : value;
}

bool is_floating(char kind) { return std::string_view("aAeEfFgG").find(kind) != std::string_view::npos; }
bool is_signed(char kind) { return kind == 'd' || kind == 'i' || kind == 'c'; }

/// One element as printf_text() reads it. `bytes` has 1, 2, 4 or 8.
std::uint64_t word_of(std::span<const std::byte> bytes, char kind) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data(), bytes.size());
    if (is_floating(kind)) {
        if (bytes.size() == 2) return std::bit_cast<std::uint64_t>(half_value(static_cast<std::uint16_t>(bits)));
        if (bytes.size() == 4)
            return std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))});
        return bits;
    }
    const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
    if (!is_signed(kind)) return bits;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
}

bool is_element_size(std::size_t bytes) { return bytes <= 8 && std::has_single_bit(bytes); }

std::string_view length_of(std::size_t element_bytes) {
    return element_bytes == 1 ? "hh" : element_bytes == 2 ? "h" : element_bytes == 8 ? "l" : "";
}

/// Some compilers, clang 16 and 19 among them, count the zero of a string of whole dwords, but do not store it: the
/// arguments that follow are a dword nearer, and at the end of the record a dword is unwritten for each such string.
/// Finds which strings are short, so that all unwritten dwords are accounted for.
class ShortStrings {
  public:
    ShortStrings(std::string_view format, std::span<const std::uint32_t> sizes_bytes,
                 std::span<const std::byte> arguments, std::size_t unwritten)
        : sizes_bytes_(sizes_bytes), arguments_(arguments), strings_(sizes_bytes.size()), short_(sizes_bytes.size()) {
        mark_strings(format);
        if (unwritten == 0 || !try_from(0, 0, unwritten)) short_.clear();
    }
    /// Of each argument whether it is one; empty if none is.
    std::vector<bool> found() && { return std::move(short_); }

  private:
    void mark_strings(std::string_view format) {
        std::size_t argument = 0;
        for (std::size_t at = format.find('%'); at < format.size(); at = format.find('%', at + 1)) {
            std::size_t kind = format.find_first_not_of("-+ #0123456789.*vhljztL", at + 1);
            if (kind >= format.size()) return;
            argument += static_cast<std::size_t>(std::count(format.begin() + static_cast<std::ptrdiff_t>(at),
                                                            format.begin() + static_cast<std::ptrdiff_t>(kind), '*'));
            if (format[kind] != '%') {
                if (argument < strings_.size() && format[kind] == 's') strings_[argument] = true;
                ++argument;
            }
            at = kind;
        }
    }
    /// Whether the arguments from `n` on, at `offset`, can have `left` short strings.
    bool try_from(std::size_t n, std::size_t offset, std::size_t left) {
        if (n == sizes_bytes_.size()) return left == 0;
        if (++tries_ > 1000) return false;
        const std::size_t size = sizes_bytes_[n];
        if (size > arguments_.size() - offset) return false;
        const auto bytes = arguments_.subspan(offset, size);
        const bool may_be_short =
            strings_[n] && left > 0 && size > dword_bytes && !has_zero(bytes.first(size - dword_bytes));
        const bool may_be_long = !strings_[n] || size <= dword_bytes || is_padded(bytes.last(dword_bytes));
        const auto as = [&](bool is_short) {
            short_[n] = is_short;
            return try_from(n + 1, offset + size - (is_short ? dword_bytes : 0), left - is_short);
        };
        return (may_be_long && as(false)) || (may_be_short && as(true));
    }
    static bool has_zero(std::span<const std::byte> bytes) {
        return std::find(bytes.begin(), bytes.end(), std::byte{}) != bytes.end();
    }
    /// As the end of a longer string: characters, then zeros.
    static bool is_padded(std::span<const std::byte> bytes) {
        const auto end = std::find(bytes.begin(), bytes.end(), std::byte{});
        return end != bytes.begin() && end != bytes.end() &&
               std::all_of(bytes.begin(), end, [](std::byte b) { return b >= std::byte{' '}; }) &&
               std::all_of(end, bytes.end(), [](std::byte b) { return b == std::byte{}; });
    }

    std::span<const std::uint32_t> sizes_bytes_;
    std::span<const std::byte> arguments_;
    std::vector<bool> strings_, short_;  // of each argument
    std::size_t tries_ = 0;
};

/// Rewrites a format of OpenCL's and its arguments for printf_text().
class Translation {
  public:
    Translation(std::string_view format, std::span<const std::uint32_t> sizes_bytes,
                std::span<const std::byte> arguments)
        : format_(format),
          sizes_bytes_(sizes_bytes),
          arguments_(arguments),

          short_(ShortStrings(format, sizes_bytes, arguments, unwritten_dwords(arguments)).found()) {}

    std::string text() {
        while (!format_.empty()) {
            const std::size_t literal = std::min(format_.find('%'), format_.size());
            plain_ += format_.substr(0, literal);
            format_.remove_prefix(literal);
            if (!format_.empty()) convert();
        }
        std::vector<std::uint64_t> words;
        append_text(words, plain_);
        words.insert(words.end(), words_.begin(), words_.end());
        return printf_text(words);
    }

  private:
    static void append_text(std::vector<std::uint64_t>& words, std::string_view text) {
        const std::size_t at = words.size();
        words.resize(at + text.size() / sizeof(std::uint64_t) + 1);
        std::memcpy(words.data() + at, text.data(), text.size());
    }

    /// The conversion at the start of the format.
    void convert() {
        const std::string_view whole = format_;
        std::string head(1, '%');
        format_.remove_prefix(1);
        head += take_any("-+ #0");
        head += width();
        if (format_.starts_with('.')) {
            format_.remove_prefix(1);
            head += "." + width();
        }
        const std::size_t elements = vector_elements();
        const std::string length = take_any("hljztL");
        if (format_.empty()) {
            plain_ += '%';
            plain_ += whole;
            return;
        }
        const char kind = format_.front();
        format_.remove_prefix(1);
        if (kind == '%')
            plain_ += "%%";
        else if (sizes_bytes_.empty())
            plain_.append(1, '%').append(whole.substr(0, whole.size() - format_.size()));
        else if (!is_known(kind))
            skip_argument(whole.substr(0, whole.size() - format_.size()));
        else if (kind == 's')
            put_string(head);
        else
            put_elements(head, elements, length, kind);
    }

    void put_string(const std::string& head) {
        std::span<const std::byte> bytes = take_argument();
        if (!short_.empty() && short_[taken_ - 1]) {
            bytes = bytes.first(bytes.size() - dword_bytes);
            arguments_ = {bytes.data() + bytes.size(), arguments_.size() + dword_bytes};
        }
        const auto* const text = reinterpret_cast<const char*>(bytes.data());
        append_text(words_, {text, ::strnlen(text, bytes.size())});
        plain_ += head + 's';
    }

    /// The dwords at the end of the record that are unwritten.
    static std::size_t unwritten_dwords(std::span<const std::byte> arguments) {
        std::size_t count = 0;
        for (; arguments.size() >= dword_bytes; ++count) {
            std::uint32_t last = 0;
            std::memcpy(&last, arguments.last(dword_bytes).data(), sizeof last);
            if (last != PrintfFormats::unwritten) break;
            arguments = arguments.first(arguments.size() - dword_bytes);
        }
        return count;
    }

    static bool is_known(char kind) {
        return std::string_view("diouxXcpsaAeEfFgG").find(kind) != std::string_view::npos;
    }
    void skip_argument(std::string_view conversion) {
        take_argument();
        plain_.append(1, '%').append(conversion);
    }

    void put_elements(const std::string& head, std::size_t elements, const std::string& length, char kind) {
        const std::span<const std::byte> bytes = take_argument();
        const std::size_t held = elements == 3 ? 4 : std::max<std::size_t>(elements, 1);
        const std::size_t element_bytes = bytes.size() / held;
        if (!is_element_size(element_bytes)) {
            plain_ += "(" + std::to_string(bytes.size()) + " bytes)";
            return;
        }
        for (std::size_t i = 0; i < std::max<std::size_t>(elements, 1); ++i) {
            if (i > 0) plain_ += ',';
            plain_ += head;
            if (!is_floating(kind)) plain_ += elements ? length_of(element_bytes) : length;
            plain_ += kind;
            words_.push_back(word_of(bytes.subspan(i * element_bytes, element_bytes), kind));
        }
    }

    /// Digits, or '*' with its argument.
    std::string width() {
        if (!format_.starts_with('*') || sizes_bytes_.empty()) return take_any("0123456789");
        format_.remove_prefix(1);
        const std::span<const std::byte> bytes = take_argument();
        words_.push_back(is_element_size(bytes.size()) ? word_of(bytes, 'd') : 0);
        return "*";
    }

    /// Of "v4"; 0: a scalar.
    std::size_t vector_elements() {
        if (!format_.starts_with('v')) return 0;
        format_.remove_prefix(1);
        return std::min(number_of(take_any("0123456789")).value_or(0), 16u);
    }

    /// Requires one.
    std::span<const std::byte> take_argument() {
        const std::size_t size = sizes_bytes_.front();
        const std::span<const std::byte> bytes = arguments_.first(size);
        sizes_bytes_ = sizes_bytes_.subspan(1);
        arguments_ = arguments_.subspan(size);
        ++taken_;
        return bytes;
    }

    std::string take_any(std::string_view of) {
        const std::size_t count = std::min(format_.find_first_not_of(of), format_.size());
        const std::string taken(format_.substr(0, count));
        format_.remove_prefix(count);
        return taken;
    }

    std::string_view format_;
    std::span<const std::uint32_t> sizes_bytes_;
    std::span<const std::byte> arguments_;
    std::size_t taken_ = 0;    // arguments
    std::vector<bool> short_;  // of each argument; empty: none is
    std::string plain_;        // the format of C
    std::vector<std::uint64_t> words_;
};

}  // namespace

PrintfFormats::PrintfFormats(std::span<const std::string> lines) {
    for (const std::string& line : lines) {
        const std::vector<std::string_view> parts = split(line);
        if (parts.size() < 3) continue;
        Format format{.sizes_bytes = {}, .text = without_escapes(parts.back())};
        bool good = true;
        for (std::size_t i = 2; i + 1 < parts.size(); ++i) {
            const auto size = number_of(parts[i]);
            good = good && size && *size % dword_bytes == 0;
            format.sizes_bytes.push_back(size.value_or(0));
        }
        const auto number = number_of(parts.front());
        if (good && number) formats_.insert_or_assign(*number, std::move(format));
    }
}

bool PrintfFormats::print(std::span<const std::byte> records,
                          const std::function<void(std::string_view)>& print) const {
    while (!records.empty()) {
        std::uint32_t number = 0;
        if (records.size() < sizeof number) return false;
        std::memcpy(&number, records.data(), sizeof number);
        const auto found = formats_.find(number);
        if (found == formats_.end()) return false;
        std::uint64_t size_bytes = 0;
        for (const std::uint32_t size : found->second.sizes_bytes) size_bytes += size;
        records = records.subspan(sizeof number);
        if (size_bytes > records.size()) return false;
        print(Translation(found->second.text, found->second.sizes_bytes, records.first(size_bytes)).text());
        records = records.subspan(size_bytes);
    }
    return true;
}

}  // namespace hsadrv::detail
