// Internal: UTF-8, read character by character.
//
//     const Utf8Character c = first_of(text);      // c.bytes 0: invalid
//
// Pure. Overlong forms, surrogates and values above U+10FFFF are invalid. Source: RFC 3629, section 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hsadrv::detail {

struct Utf8Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;
};

constexpr Utf8Character first_of(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    if (text.empty()) return {};
    const std::uint32_t lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = lead >> 5 == 0x6 ? 2 : lead >> 4 == 0xe ? 3 : lead >> 3 == 0x1e ? 4 : 0;
    if (bytes == 0 || bytes > text.size()) return {};
    std::uint32_t code = lead & (0x7fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if (byte(i) >> 6 != 2) return {};
        code = code << 6 | (byte(i) & 0x3f);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
    return {code, bytes};
}

}  // namespace hsadrv::detail
