// PM4 commands, as far as an HSA runtime sends them in an indirect buffer. Pure.
#pragma once

#include <cstdint>

namespace kfdemu::pm4 {

enum Opcode : std::uint32_t { kNop = 0x10, kIndirectBuffer = 0x3f, kAcquireMem = 0x58 };

/// Header of a type-3 command, the only type that is sent.
struct Header {
    std::uint32_t opcode, dwords;  ///< length with the header; both are 0 for other types
};

constexpr Header header(std::uint32_t dword) {
    if (dword >> 30 != 3) return {0, 0};
    return {(dword >> 8) & 0xff, ((dword >> 16) & 0x3fff) + 2};
}

}  // namespace kfdemu::pm4
