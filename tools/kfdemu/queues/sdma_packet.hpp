// Decoder of GFX9 SDMA packets. Pure.
// Source: the public header vega10_sdma_pkt_open.h, and the packets that ROCR's blit_sdma emits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

namespace kfdemu::sdma {

struct Nop {};
struct CopyLinear {
    std::uint64_t source, destination, size_bytes;
};
/// A box of bytes in two pitched volumes.
struct CopyRect {
    struct Side {
        std::uint64_t address;  ///< of the box's first byte
        std::uint64_t pitch_bytes, slice_bytes;
    } source, destination;
    std::uint64_t width_bytes, height, depth;
};
struct Fill {
    std::uint64_t destination, size_bytes;
    std::uint32_t value;
    unsigned unit_bytes;  ///< 1, 2 or 4: bytes of `value` that repeat
};
struct Fence {
    std::uint64_t address;
    std::uint32_t value;
};
struct Trap {
    std::uint32_t event_id;
};
struct PollMemory {
    std::uint64_t address;
    std::uint32_t value, mask;
    unsigned function;  ///< 0 always, 1 <, 2 <=, 3 ==, 4 !=, 5 >=, 6 >

    bool holds(std::uint32_t now) const;
};
struct FlushHdp {};
struct Atomic {
    std::uint64_t address, operand, compare;
    unsigned operation;  ///< an AtomicOperation
};
struct Timestamp {
    std::uint64_t address;
};

using Command = std::variant<Nop, CopyLinear, CopyRect, Fill, Fence, Trap, PollMemory, FlushHdp, Atomic, Timestamp>;

/// TC_OP numbers of 64-bit atomics whose result is not used ("Vega" ISA manual, order of the buffer atomics).
enum AtomicOperation : unsigned { kSwap64 = 0x27, kAdd64 = 0x2f, kSub64 = 0x30 };

struct Decoded {
    Command command;
    unsigned dwords;  ///< consumed; 0: see `error`, or the packet is incomplete
    std::string error;
};

/// Decodes the packet at the front of `dwords`. Incomplete packet: {.dwords = 0} without an error.
Decoded decode(std::span<const std::uint32_t> dwords);

}  // namespace kfdemu::sdma
