// Decoder of GFX9 SDMA packets. Pure.
// Source: the public header vega10_sdma_pkt_open.h, and the packets that ROCR's blit_sdma and AMD's kfdtest emit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace kfdemu::sdma {

struct Nop {};
struct CopyLinear {
    std::uint64_t source, destination, size_bytes;
    std::optional<std::uint64_t> second_destination{};  ///< of a broadcast
};
/// A box of bytes in two pitched volumes.
struct CopyRect {
    struct Side {
        std::uint64_t address;  ///< of the box's first byte
        std::uint64_t pitch_bytes, slice_bytes;
    } source, destination;
    std::uint64_t width_bytes, height, depth;
};
/// Stores the packet's own dwords from kWriteHeadDwords on.
struct Write {
    std::uint64_t destination;
    std::uint32_t dwords;
};
inline constexpr unsigned kWriteHeadDwords = 4;
struct Fill {
    std::uint64_t destination, size_bytes;
    std::uint32_t value;
    unsigned unit_bytes;  ///< 1, 2 or 4: bytes of `value` that repeat
};
/// Packets elsewhere in memory, which run before the ring's next packet.
struct Indirect {
    std::uint64_t address;
    std::uint32_t dwords;
};
struct Fence {
    std::uint64_t address;
    std::uint32_t value;
};
struct Trap {
    std::uint32_t event_id;
};
/// Polls until the condition holds; the packet's retry count is ignored.
struct PollMemory {
    std::uint64_t address;
    std::uint32_t value, mask;
    unsigned function;  ///< 0 always, 1 <, 2 <=, 3 ==, 4 !=, 5 >=, 6 >

    bool holds(std::uint32_t now) const;
};
struct FlushHdp {};
/// Skips the next dwords unless the word at `address` equals the reference.
struct ExecuteIfEqual {
    std::uint64_t address;
    std::uint32_t reference, dwords;
};
/// Skips the next dwords on engines that are not in the mask.
struct ExecuteOnEngines {
    std::uint32_t engines, dwords;
};
struct Atomic {
    std::uint64_t address, operand, compare;
    unsigned operation;  ///< a TC_OP number, see sdma_atomic.hpp
    bool loops;          ///< of a compare-and-swap: until it succeeds
};
/// Sets the engine's own clock.
struct SetClock {
    std::uint64_t ticks;
};
struct Timestamp {
    std::uint64_t address;
    bool global;  ///< of the GPU's clock; else of the engine's own
};

using Command = std::variant<Nop, CopyLinear, CopyRect, Write, Fill, Indirect, Fence, Trap, PollMemory, FlushHdp,
                             ExecuteIfEqual, ExecuteOnEngines, Atomic, SetClock, Timestamp>;

struct Decoded {
    Command command;
    unsigned dwords;  ///< consumed; 0: see `error`, or the packet is incomplete
    std::string error;
};

/// Dwords of the longest packet without the data of a Write and the padding of a Nop.
inline constexpr unsigned kHeadDwords = 13;

/// Of the engine: GFX9's, GFX10's and GFX11's, or GFX12's.
enum class Version { v4, v5, v7 };

/// Decodes the packet at the front of `available` dwords, of which `head` holds the first, kHeadDwords at least.
/// Incomplete packet: {.dwords = 0} without an error. Set bits that the packet does not define, and those of features
/// that are not emulated, are errors.
Decoded decode(std::span<const std::uint32_t> head, std::uint64_t available, Version version);
inline Decoded decode(std::span<const std::uint32_t> dwords, Version version = Version::v4) {
    return decode(dwords, dwords.size(), version);
}

}  // namespace kfdemu::sdma
