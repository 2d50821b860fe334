#include "tools/kfdemu/check/report/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kfdemu::check {
namespace {

/// The length of the UTF-8 sequence at the text's begin; 0: it is none (RFC 3629, "Syntax of UTF-8 Byte Sequences").
std::size_t sequence(std::string_view text) {
    const auto byte = [&](std::size_t n) { return n < text.size() ? static_cast<unsigned char>(text[n]) : 0u; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;
    const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (std::size_t n = 1; n < length; ++n)
        if ((byte(n) & 0xc0) != 0x80) return 0;
    // Longer than needed, surrogates, beyond U+10FFFF.
    const bool wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                       (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
    return wrong ? 0 : length;
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const char c = text[0];
        const std::size_t length = sequence(text);
        if (c == '"' || c == '\\')
            out += {'\\', c};
        else if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else if (length == 0)
            out += "\\ufffd";
        else
            out += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out + "\"";
}

}  // namespace kfdemu::check
