#include "tools/kfdemu/queues/sdma_packet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "tools/kfdemu/queues/sdma_atomic.hpp"

namespace kfdemu::sdma {
namespace {

using Dwords = std::span<const std::uint32_t>;

std::uint64_t qword(Dwords d, unsigned at) { return d[at] | std::uint64_t{d[at + 1]} << 32; }

constexpr std::uint32_t bits(std::uint32_t dword, unsigned low, unsigned count) {
    return (dword >> low) & static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
}

/// Widths of a rectangle packet's fields. An offset's and an extent's Y is in the upper half of its dword, a pitch in
/// the upper bits of its own.
struct RectFields {
    unsigned xy, z, pitch, slice;

    constexpr std::uint32_t offset() const { return bits(~0u, 0, xy) * 0x10001u; }
    constexpr std::uint32_t depth() const { return bits(~0u, 0, z); }
    constexpr std::uint32_t offset_and_pitch() const { return depth() | ~0u << (32 - pitch); }
    constexpr std::uint32_t slices() const { return bits(~0u, 0, slice); }
};
constexpr RectFields kRect4{14, 11, 19, 28}, kRect7{16, 14, 16, 32};

/// One side: five dwords from `at` on. Coordinates and pitches are in elements.
template <const RectFields& fields>
CopyRect::Side rect_side(Dwords d, unsigned at, unsigned element_shift) {
    const std::uint64_t x = bits(d[at + 2], 0, fields.xy), y = bits(d[at + 2], 16, fields.xy),
                        z = bits(d[at + 3], 0, fields.z);
    const std::uint64_t pitch = ((std::uint64_t{d[at + 3]} >> (32 - fields.pitch)) + 1) << element_shift;
    const std::uint64_t slice = (std::uint64_t{bits(d[at + 4], 0, fields.slice)} + 1) << element_shift;
    return {qword(d, at) + z * slice + y * pitch + (x << element_shift), pitch, slice};
}

Command copy_linear(Dwords d) {
    // The count has 30 bits from SDMA 4.4 (gfx90a) on, and ROCR 6 uses them; before, 22 bits and zeroes.
    return CopyLinear{qword(d, 3), qword(d, 5), std::uint64_t{d[1]} + 1};
}

Command copy_broadcast(Dwords d) { return CopyLinear{qword(d, 3), qword(d, 5), std::uint64_t{d[1]} + 1, qword(d, 7)}; }

template <const RectFields& fields>
Command copy_rect(Dwords d) {
    const unsigned shift = bits(d[0], 29, 3);
    return CopyRect{rect_side<fields>(d, 1, shift), rect_side<fields>(d, 6, shift),
                    (std::uint64_t{bits(d[11], 0, fields.xy)} + 1) << shift,
                    std::uint64_t{bits(d[11], 16, fields.xy)} + 1, std::uint64_t{bits(d[12], 0, fields.z)} + 1};
}

Command fill(Dwords d) {
    // The count is in bytes, minus one unit.
    const unsigned shift = d[0] >> 30;
    const std::uint64_t units = (std::uint64_t{d[4]} >> shift) + 1;
    return Fill{qword(d, 1), units << shift, d[3], 1u << shift};
}

Command atomic(Dwords d) {
    return Atomic{qword(d, 1), qword(d, 3), qword(d, 5), bits(d[0], 25, 7), bits(d[0], 16, 1) != 0};
}

/// Of a dword with undefined bits: the bits that are defined and emulated.
struct Field {
    unsigned dword;
    std::uint32_t known;
};

/// A kind of packet. The first row that matches a header decides.
struct Kind {
    unsigned op, sub_op;
    std::uint32_t select, selected;  // further bits of the header that distinguish kinds
    std::string_view name;
    unsigned dwords;
    std::uint32_t flags;  // other known bits of the header
    std::array<Field, 8> fields;
    Command (*make)(Dwords);  // null: a known packet that is not emulated

    bool matches(std::uint32_t header) const {
        return op == bits(header, 0, 8) && sub_op == bits(header, 8, 8) && (header & select) == selected;
    }
};

constexpr std::uint32_t kBroadcast = 1u << 27, kPollSelect = 1u << 31, kFillSize = 3u << 30;
constexpr std::uint32_t kPollFunction = 7u << 28, kHdpFlush = 1u << 26;
constexpr std::uint32_t kNopCount = 0x3fffu << 16, kElement = 7u << 29, kEngines = 0xffu << 16;
constexpr std::uint32_t kAtomicLoop = 1u << 16, kAtomicOperation = 0x7fu << 25;
constexpr std::uint32_t kMemoryType = 7u << 16;

template <const RectFields& fields>
constexpr Kind copy_rect_kind(std::uint32_t cache_policies) {
    return {1,
            4,
            0,
            0,
            "COPY_LINEAR_SUB_WIND",
            13,
            kElement,
            {{{3, fields.offset()},
              {4, fields.offset_and_pitch()},
              {5, fields.slices()},
              {8, fields.offset()},
              {9, fields.offset_and_pitch()},
              {10, fields.slices()},
              {11, fields.offset()},
              {12, fields.depth() | cache_policies}}},
            copy_rect<fields>};
}

// clang-format off
constexpr Kind kKinds[] = {
    {0, 0, 0, 0, "NOP", 1, kNopCount, {}, [](Dwords) -> Command { return Nop{}; }},
    {1, 0, kBroadcast, 0, "COPY_LINEAR", 7, 0, {{{1, 0x3fffffff}, {2, 0}}}, copy_linear},
    {1, 0, kBroadcast, kBroadcast, "COPY_LINEAR with broadcast", 9, 0, {{{1, 0x3fffffff}, {2, 0}}}, copy_broadcast},
    copy_rect_kind<kRect4>(0),
    {1, 1, 0, 0, "COPY_TILED", 0, 0, {}, nullptr},
    {1, 3, 0, 0, "COPY_SOA", 0, 0, {}, nullptr},
    {1, 5, 0, 0, "COPY_TILED_SUB_WIND", 0, 0, {}, nullptr},
    {1, 6, 0, 0, "COPY_T2T_SUB_WIND", 0, 0, {}, nullptr},
    {1, 7, 0, 0, "COPY_DIRTY_PAGE", 0, 0, {}, nullptr},
    {1, 8, 0, 0, "COPY_LINEAR_PHY", 0, 0, {}, nullptr},
    {2, 0, 0, 0, "WRITE_LINEAR", kWriteHeadDwords, 0, {{{1, ~3u}, {3, 0xfffff}}},
     [](Dwords d) -> Command { return Write{qword(d, 1), d[3] + 1}; }},
    {2, 1, 0, 0, "WRITE_TILED", 0, 0, {}, nullptr},
    {4, 0, 0, 0, "INDIRECT", 6, 0, {{{1, ~31u}, {3, 0xfffff}}}, [](Dwords d) -> Command { return Indirect{qword(d, 1), d[3]}; }},
    {5, 0, 0, 0, "FENCE", 4, 0, {}, [](Dwords d) -> Command { return Fence{qword(d, 1), d[3]}; }},
    {6, 0, 0, 0, "TRAP", 2, 0, {{{1, 0x0fffffff}}}, [](Dwords d) -> Command { return Trap{d[1]}; }},
    {7, 0, 0, 0, "SEM", 0, 0, {}, nullptr},
    {8, 0, kPollSelect | kPollFunction, kPollSelect | kPollFunction, "POLL_REGMEM with the reserved function 7", 0, 0, {}, nullptr},
    {8, 0, kPollSelect, kPollSelect, "POLL_REGMEM of memory", 6, kPollFunction, {{{5, 0x0fffffff}}},
     [](Dwords d) -> Command { return PollMemory{qword(d, 1), d[3], d[4], bits(d[0], 28, 3)}; }},
    // Not memory: the flush of the host data path, which accepts any value, or a register.
    {8, 0, kPollSelect | kPollFunction | kHdpFlush, 0, "POLL_REGMEM as HDP flush", 6, 0, {},
     [](Dwords) -> Command { return FlushHdp{}; }},
    {8, 0, 0, 0, "POLL_REGMEM of registers", 0, 0, {}, nullptr},
    {8, 1, 0, 0, "POLL_REG_WRITE_MEM", 0, 0, {}, nullptr},
    {8, 2, 0, 0, "POLL_DBIT_WRITE_MEM", 0, 0, {}, nullptr},
    {8, 3, 0, 0, "POLL_MEM_VERIFY", 0, 0, {}, nullptr},
    {9, 0, 0, 0, "COND_EXE", 5, 0, {{{4, 0x3fff}}}, [](Dwords d) -> Command { return ExecuteIfEqual{qword(d, 1), d[3], d[4]}; }},
    {10, 0, 0, 0, "ATOMIC", 8, kAtomicLoop | kAtomicOperation, {{{7, 0x1fff}}}, atomic},
    {11, 0, kFillSize, kFillSize, "CONST_FILL with the reserved size 3", 0, 0, {}, nullptr},
    {11, 0, 0, 0, "CONST_FILL", 5, kFillSize, {{{4, 0x3fffff}}}, fill},
    {11, 1, 0, 0, "DATA_FILL_MULTI", 0, 0, {}, nullptr},
    {12, 0, 0, 0, "PTEPDE_GEN", 0, 0, {}, nullptr},
    {12, 1, 0, 0, "PTEPDE_COPY", 0, 0, {}, nullptr},
    {12, 2, 0, 0, "PTEPDE_RMW", 0, 0, {}, nullptr},
    {13, 0, 0, 0, "TIMESTAMP_SET", 3, 0, {}, [](Dwords d) -> Command { return SetClock{qword(d, 1)}; }},
    {13, 1, 0, 0, "TIMESTAMP_GET", 3, 0, {}, [](Dwords d) -> Command { return Timestamp{qword(d, 1), false}; }},
    {13, 2, 0, 0, "TIMESTAMP_GET_GLOBAL", 3, 0, {}, [](Dwords d) -> Command { return Timestamp{qword(d, 1), true}; }},
    {14, 0, 0, 0, "SRBM_WRITE", 0, 0, {}, nullptr},
    {15, 0, 0, 0, "PRE_EXE", 2, kEngines, {{{1, 0x3fff}}}, [](Dwords d) -> Command { return ExecuteOnEngines{bits(d[0], 16, 8), d[1]}; }},
    {16, 0, 0, 0, "DUMMY_TRAP", 0, 0, {}, nullptr},
};
// What SDMA 5 has besides, or otherwise. GCR_REQ is for caches, which are coherent here.
constexpr Kind kKindsOf5[] = {
    {5, 0, 0, 0, "FENCE", 4, kMemoryType, {}, [](Dwords d) -> Command { return Fence{qword(d, 1), d[3]}; }},
    {17, 1, 0, 0, "GCR_REQ", 5, 0, {}, [](Dwords) -> Command { return Nop{}; }},
};
// And SDMA 7: wider fields of a box, and policies for caches, which are coherent here.
constexpr std::uint32_t kCachePolicies = 7u << 20 | 7u << 28;
constexpr Kind kKindsOf7[] = {copy_rect_kind<kRect7>(kCachePolicies)};
// clang-format on

const Kind* find_kind(std::span<const Kind> kinds, std::uint32_t header) {
    const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.matches(header); });
    return at == kinds.end() ? nullptr : &*at;
}

const Kind* find_kind(std::uint32_t header, Version version) {
    const Kind* kind = nullptr;
    if (version == Version::v7) kind = find_kind(kKindsOf7, header);
    if (kind == nullptr && version != Version::v4) kind = find_kind(kKindsOf5, header);
    return kind != nullptr ? kind : find_kind(kKinds, header);
}

template <class... Args>
Decoded refuse(std::string_view name, std::uint32_t header, fmt::format_string<Args...> why, Args&&... args) {
    return {Nop{}, 0,
            fmt::format("SDMA packet {} (op {}, sub-op {}, dword 0 {:#010x}): {}", name, bits(header, 0, 8),
                        bits(header, 8, 8), header, fmt::format(why, std::forward<Args>(args)...))};
}

/// Why an atomic packet is not emulated, or "".
std::string_view defect_of(const Atomic& atomic) {
    if (!is_atomic(atomic.operation)) return "unsupported atomic operation";
    if (atomic.loops && operation_of(atomic.operation) != kCompareSwap) return "only a compare-and-swap can loop";
    return {};
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

Decoded decode(Dwords d, std::uint64_t available, Version version) {
    if (d.empty()) return {};
    const Kind* kind = find_kind(d[0], version);
    if (!kind) return refuse("?", d[0], "unknown operation");
    const auto unknown_bits = [&](unsigned dword, std::uint32_t known) -> std::optional<Decoded> {
        if (!(d[dword] & ~known)) return {};
        return refuse(kind->name, d[0], "dword {} has bits {:#010x}, which are not supported", dword,
                      d[dword] & ~known);
    };
    if (!kind->make) return refuse(kind->name, d[0], "not supported");
    if (auto refused = unknown_bits(0, 0xffff | kind->select | kind->flags)) return *refused;
    if (d.size() < kind->dwords) return {};
    for (const Field& field : kind->fields)
        if (field.dword != 0)
            if (auto refused = unknown_bits(field.dword, field.known)) return *refused;

    Decoded decoded{kind->make(d), kind->dwords, {}};
    if (const auto* atomic = std::get_if<Atomic>(&decoded.command))
        if (const std::string_view defect = defect_of(*atomic); !defect.empty())
            return refuse(kind->name, d[0], "{} {:#x}", defect, atomic->operation);
    if (std::holds_alternative<Nop>(decoded.command)) decoded.dwords += bits(d[0], 16, 14);
    if (const auto* write = std::get_if<Write>(&decoded.command)) decoded.dwords += write->dwords;
    if (decoded.dwords > available) return {};
    return decoded;
}

}  // namespace kfdemu::sdma
