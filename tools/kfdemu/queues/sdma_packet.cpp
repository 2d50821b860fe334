#include "queues/sdma_packet.hpp"

#include "base/log.hpp"

namespace kfdemu::sdma {
namespace {

enum Op : unsigned {
    kNop = 0,
    kCopy = 1,
    kFence = 5,
    kTrap = 6,
    kPollRegmem = 8,
    kAtomic = 10,
    kConstFill = 11,
    kTimestamp = 13,
};
enum CopySubOp : unsigned { kLinear = 0, kLinearRect = 4 };
constexpr unsigned kTimestampGetGlobal = 2;

using Dwords = std::span<const std::uint32_t>;

std::uint64_t qword(Dwords d, unsigned at) { return d[at] | std::uint64_t{d[at + 1]} << 32; }

std::uint32_t bits(std::uint32_t dword, unsigned low, unsigned count) {
    return (dword >> low) & ((std::uint32_t{1} << count) - 1);
}

/// One side of a rectangle packet: five dwords from `at` on. Coordinates and pitches are in elements.
CopyRect::Side rect_side(Dwords d, unsigned at, unsigned element_shift) {
    const std::uint64_t x = bits(d[at + 2], 0, 14), y = bits(d[at + 2], 16, 14), z = bits(d[at + 3], 0, 11);
    const std::uint64_t pitch = (std::uint64_t{bits(d[at + 3], 13, 19)} + 1) << element_shift;
    const std::uint64_t slice = (std::uint64_t{bits(d[at + 4], 0, 28)} + 1) << element_shift;
    return {qword(d, at) + z * slice + y * pitch + (x << element_shift), pitch, slice};
}

Command copy_rect(Dwords d) {
    const unsigned shift = bits(d[0], 29, 3);
    return CopyRect{rect_side(d, 1, shift), rect_side(d, 6, shift), (std::uint64_t{bits(d[11], 0, 14)} + 1) << shift,
                    std::uint64_t{bits(d[11], 16, 14)} + 1, std::uint64_t{bits(d[12], 0, 11)} + 1};
}

Command poll(Dwords d) {
    if (!(d[0] >> 31)) return FlushHdp{};
    return PollMemory{qword(d, 1), d[3], d[4], bits(d[0], 28, 3)};
}

}  // namespace

bool PollMemory::holds(std::uint32_t now) const {
    now &= mask;
    switch (function) {
        case 0:
            return true;
        case 1:
            return now < value;
        case 2:
            return now <= value;
        case 3:
            return now == value;
        case 4:
            return now != value;
        case 5:
            return now >= value;
        case 6:
            return now > value;
        default:
            return false;
    }
}

Decoded decode(Dwords d) {
    if (d.empty()) return {};
    const unsigned op = d[0] & 0xff, sub_op = bits(d[0], 8, 8);
    const auto whole = [&](unsigned size, auto&& make) -> Decoded {
        if (d.size() < size) return {};
        return {make(), size, {}};
    };
    const auto refuse = [&](std::string_view what) -> Decoded {
        return {Nop{}, 0, fmt::format("SDMA packet {:#010x} (op {}, sub-op {}): {}", d[0], op, sub_op, what)};
    };
    switch (op) {
        case kNop:
            return whole(1 + bits(d[0], 16, 14), [] { return Nop{}; });
        case kCopy:
            if (sub_op == kLinear)
                return whole(7, [&] {
                    // The count has 30 bits from SDMA 4.4 (gfx90a) on, and ROCR 6 uses them; before, 22 bits and
                    // zeroes.
                    return CopyLinear{qword(d, 3), qword(d, 5), std::uint64_t{bits(d[1], 0, 30)} + 1};
                });
            if (sub_op == kLinearRect) return whole(13, [&] { return copy_rect(d); });
            return refuse("unsupported kind of copy");
        case kFence:
            return whole(4, [&] { return Fence{qword(d, 1), d[3]}; });
        case kTrap:
            return whole(2, [&] { return Trap{bits(d[1], 0, 28)}; });
        case kPollRegmem:
            // Not memory: a register, or the flush of the host data path, which accepts any value.
            if (!(d[0] >> 31) && bits(d[0], 28, 3) != 0) return refuse("polling of registers is not supported");
            return whole(6, [&] { return poll(d); });
        case kAtomic: {
            const unsigned operation = bits(d[0], 25, 7);
            if (operation != kAdd64 && operation != kSub64 && operation != kSwap64)
                return refuse(fmt::format("unsupported atomic operation {:#x}", operation));
            return whole(8, [&] { return Atomic{qword(d, 1), qword(d, 3), qword(d, 5), operation}; });
        }
        case kConstFill: {
            const unsigned fill_size = d[0] >> 30;
            if (fill_size == 3) return refuse("fill size 3 is reserved");
            return whole(5, [&] {
                // The count is in bytes, minus one unit.
                const std::uint64_t units = (std::uint64_t{bits(d[4], 0, 22)} >> fill_size) + 1;
                return Fill{qword(d, 1), units << fill_size, d[3], 1u << fill_size};
            });
        }
        case kTimestamp:
            if (sub_op != kTimestampGetGlobal) return refuse("unsupported kind of timestamp");
            return whole(3, [&] { return Timestamp{qword(d, 1)}; });
        default:
            return refuse("unknown operation");
    }
}

}  // namespace kfdemu::sdma
