#include "devicearray/python_literal.hpp"

#include <algorithm>
#include <charconv>

#include "devicearray/unprintable.hpp"
#include "devicearray/utf8.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr int deepest_literal = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }

void append_utf8(std::string& text, std::uint32_t code) {
    const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
        text += static_cast<char>(code);
    } else if (code < 0x800) {
        text += static_cast<char>(0xc0 | code >> 6);
        tail(0);
    } else if (code < 0x10000) {
        text += static_cast<char>(0xe0 | code >> 12);
        tail(6);
        tail(0);
    } else {
        text += static_cast<char>(0xf0 | code >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

void append_hex(std::string& text, const char* prefix, std::uint32_t code, int digits) {
    text += prefix;
    for (int i = digits - 1; i >= 0; --i) text += "0123456789abcdef"[code >> 4 * i & 15];
}

/// `bytes` is the character, or one invalid byte, which is appended unchanged.
void append_quoted(std::string& text, std::string_view bytes, const detail::Utf8Character& character, char quote) {
    const std::uint32_t code = character.code;
    if (bytes[0] == quote || bytes[0] == '\\') {
        (text += '\\') += bytes;
    } else if (bytes[0] == '\n' || bytes[0] == '\r' || bytes[0] == '\t') {
        text += bytes[0] == '\n' ? "\\n" : bytes[0] == '\r' ? "\\r" : "\\t";
    } else if (character.bytes == 0 || detail::is_printable(code)) {
        text += bytes;
    } else if (code < 0x100) {
        append_hex(text, "\\x", code, 2);
    } else if (code < 0x10000) {
        append_hex(text, "\\u", code, 4);
    } else {
        append_hex(text, "\\U", code, 8);
    }
}

}  // namespace

class PythonParser {
  public:
    explicit PythonParser(std::string_view text) : text_(text) {}

    PythonLiteral whole() {
        PythonLiteral value = literal(0);
        skip_space();
        if (at_ != text_.size()) fail("more text after the value");
        return value;
    }

  private:
    [[noreturn]] void fail(const std::string& why) const {
        std::string found = "the end";
        if (at_ < text_.size()) {
            const auto byte = static_cast<unsigned char>(text_[at_]);
            found =
                byte >= 0x20 && byte < 0x7f ? "'" + std::string(1, text_[at_]) + "'" : "byte " + std::to_string(byte);
        }
        throw InvalidArgument("Python literal: " + why + ", at byte " + std::to_string(at_) + " of " +
                              std::to_string(text_.size()) + ": " + found);
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool take(char c) {
        skip_space();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void skip_space() {
        while (at_ < text_.size() && (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r')) ++at_;
    }

    PythonLiteral literal(int depth) {
        skip_space();
        if (depth > deepest_literal) fail("nested deeper than " + std::to_string(deepest_literal));
        PythonLiteral value;
        value.offset_ = at_;
        const char c = peek();
        if (c == '\'' || c == '"') return string(std::move(value));
        if ((c == 'u' || c == 'b') && at_ + 1 < text_.size() && (text_[at_ + 1] == '\'' || text_[at_ + 1] == '"')) {
            ++at_;
            return string(std::move(value));
        }
        if (is_digit(c) || c == '-' || c == '+') return integer(std::move(value));
        if (c == '(') return tuple(std::move(value), depth);
        if (c == '[') return list(std::move(value), depth);
        if (c == '{') return dictionary(std::move(value), depth);
        return constant(std::move(value));
    }

    PythonLiteral constant(PythonLiteral value) {
        std::size_t end = at_;
        while (end < text_.size() && is_name(text_[end])) ++end;
        const std::string_view word = text_.substr(at_, end - at_);
        if (word == "True" || word == "False") {
            value.type_ = PythonLiteral::Type::boolean;
            value.integer_ = word == "True";
        } else if (word != "None") {
            fail("a string, an integer, True, False, None, a tuple, a list or a dictionary is missing");
        }
        at_ = end;
        return value;
    }

    PythonLiteral integer(PythonLiteral value) {
        value.type_ = PythonLiteral::Type::integer;
        std::size_t begin = at_;
        if (text_[begin] == '+') ++begin;
        const char* const end = text_.data() + text_.size();
        const auto [parsed, error] = std::from_chars(text_.data() + begin, end, value.integer_);
        if (error == std::errc::result_out_of_range) fail("an integer of more than 64 bits");
        if (error != std::errc()) fail("an integer is missing");
        at_ = static_cast<std::size_t>(parsed - text_.data());
        if (peek() == 'L') ++at_;  // the suffix of Python 2's long integers
        if (is_name(peek()) || peek() == '.') fail("not an integer");
        return value;
    }

    std::uint32_t hex_digits(int count) {
        std::uint32_t code = 0;
        for (int i = 0; i < count; ++i, ++at_) {
            const char c = peek();
            const int digit = is_digit(c)            ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (digit < 0) fail("a hexadecimal digit of an escape is missing");
            code = code << 4 | static_cast<std::uint32_t>(digit);
        }
        if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) fail("an escape is not a Unicode character");
        return code;
    }

    void escape(std::string& text) {
        const char c = peek();
        constexpr std::string_view names = "\\'\"nrtabfv", meanings = "\\'\"\n\r\t\a\b\f\v";
        if (const std::size_t which = names.find(c); c != '\0' && which != names.npos) {
            text += meanings[which];
            ++at_;
            return;
        }
        const int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
        if (digits == 0) fail("an unknown escape");
        ++at_;
        append_utf8(text, hex_digits(digits));
    }

    PythonLiteral string(PythonLiteral value) {
        value.type_ = PythonLiteral::Type::string;
        const char quote = text_[at_++];
        while (at_ < text_.size() && peek() != quote) {
            const char c = text_[at_++];
            if (c == '\n') fail("a string is not closed on its line");
            if (c == '\\') {
                escape(value.string_);
            } else {
                value.string_ += c;
            }
        }
        if (at_ == text_.size()) fail("a string is not closed");
        ++at_;
        return value;
    }

    /// Parses up to `close`; returns whether there was a comma.
    bool sequence(PythonLiteral& value, char close, int depth) {
        bool comma = false;
        while (!take(close)) {
            if (!value.items_.empty() && !comma) fail(std::string("',' or '") + close + "' is missing");
            value.items_.push_back(literal(depth + 1));
            comma = take(',');
        }
        return comma;
    }

    PythonLiteral list(PythonLiteral value, int depth) {
        ++at_;
        value.type_ = PythonLiteral::Type::list;
        sequence(value, ']', depth);
        return value;
    }

    PythonLiteral tuple(PythonLiteral value, int depth) {
        ++at_;
        value.type_ = PythonLiteral::Type::tuple;
        const bool comma = sequence(value, ')', depth);
        if (value.items_.size() != 1 || comma) return value;
        PythonLiteral only = std::move(value.items_.front());  // (x) equals x
        return only;
    }

    PythonLiteral dictionary(PythonLiteral value, int depth) {
        ++at_;
        value.type_ = PythonLiteral::Type::dictionary;
        bool comma = true;
        while (!take('}')) {
            if (!comma) fail("',' or '}' is missing");
            skip_space();
            PythonLiteral key = literal(depth + 1);
            if (!key.is(PythonLiteral::Type::string)) fail("a key is not a string");
            if (value.find(key.string_)) fail("key " + python_quoted(key.string_) + " is a duplicate");
            if (!take(':')) fail("':' is missing");
            value.items_.push_back(std::move(key));
            value.items_.push_back(literal(depth + 1));
            comma = take(',');
        }
        return value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

PythonLiteral PythonLiteral::parse(std::string_view text) { return PythonParser(text).whole(); }

void PythonLiteral::require(bool holds, const char* wanted) const {
    if (!holds) throw InvalidArgument("Python literal: " + what() + ", but " + wanted + " is expected");
}

bool PythonLiteral::boolean() const {
    require(is(Type::boolean), "True or False");
    return integer_ != 0;
}

std::int64_t PythonLiteral::integer() const {
    require(is(Type::integer), "an integer");
    return integer_;
}

const std::string& PythonLiteral::string() const {
    require(is(Type::string), "a string");
    return string_;
}

const std::vector<PythonLiteral>& PythonLiteral::items() const {
    require(is_sequence(), "a tuple or a list");
    return items_;
}

const PythonLiteral* PythonLiteral::find(std::string_view key) const {
    require(is(Type::dictionary), "a dictionary");
    for (std::size_t i = 0; i < items_.size(); i += 2) {
        if (items_[i].string_ == key) return &items_[i + 1];
    }
    return nullptr;
}

std::vector<std::string_view> PythonLiteral::keys() const {
    require(is(Type::dictionary), "a dictionary");
    std::vector<std::string_view> all;
    for (std::size_t i = 0; i < items_.size(); i += 2) all.push_back(items_[i].string_);
    return all;
}

std::string PythonLiteral::what() const {
    const auto described = [&]() -> std::string {
        switch (type_) {
            case Type::none:
                return "None";
            case Type::boolean:
                return integer_ ? "True" : "False";
            case Type::integer:
                return std::to_string(integer_);
            case Type::string:
                return python_quoted(string_);
            case Type::tuple:
                return "a tuple of " + std::to_string(items_.size());
            case Type::list:
                return "a list of " + std::to_string(items_.size());
            case Type::dictionary:
                return "a dictionary";
        }
        return "nothing";
    };
    return described() + " at byte " + std::to_string(offset_);
}

std::string python_quoted(std::string_view text) {
    const bool has_single = text.find('\'') != text.npos, has_double = text.find('"') != text.npos;
    const char quote = has_single && !has_double ? '"' : '\'';
    std::string result(1, quote);
    while (!text.empty()) {
        const detail::Utf8Character next = detail::first_of(text);
        const std::string_view bytes = text.substr(0, std::max<std::size_t>(next.bytes, 1));
        append_quoted(result, bytes, next, quote);
        text.remove_prefix(bytes.size());
    }
    return result + quote;
}

}  // namespace hsadrv
