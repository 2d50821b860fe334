// The commands of the packet processor's own language, PM4, as far as an HSA runtime sends them: in a buffer that an
// AQL packet points at. Pure.
#pragma once

#include <cstdint>

namespace kfdemu::pm4 {

enum Opcode : std::uint32_t { kNop = 0x10, kIndirectBuffer = 0x3f, kAcquireMem = 0x58 };

/// Of a type-3 command, the only type that is sent.
struct Header {
    std::uint32_t opcode, dwords;  ///< how long the command is, header included; both 0 if it is of another type
};

constexpr Header header(std::uint32_t dword) {
    if (dword >> 30 != 3) return {0, 0};
    return {(dword >> 8) & 0xff, ((dword >> 16) & 0x3fff) + 2};
}

}  // namespace kfdemu::pm4
