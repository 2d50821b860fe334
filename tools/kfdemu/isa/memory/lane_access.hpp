// Moves data between VGPRs and memory for all lanes of one instruction: as whole blocks if lanes are adjacent,
// otherwise lane by lane.
//
//     LaneAccess access{...};                                      // the address of each active lane's data
//     if (!load_dwords<2>(wave, inst, access, lanes_of(wave, inst.dst))) return nullptr;  // faulted, wave.stop is set
//
// For executor files only: everything here is in their anonymous namespace, once per x86 level. Functions that handle
// all lanes are worth a call and kept out of line, for one copy per file instead of one per instruction. Memory
// ordering: plain moves are relaxed accesses, which x86 orders as the ISA requires; the fences of MUBUF and SMEM add
// the rest.
#pragma once

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/isa/memory/lane_addresses.hpp"
#include "tools/kfdemu/isa/memory/tlb.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// The address of each active lane's data. In swizzled memory (scratch) the dwords of a lane are `dword_stride` apart.
struct LaneAccess {
    alignas(64) std::uint64_t at[kLanes];
    std::uint64_t mask = 0;
    std::uint32_t dword_stride = 4;
};

/// The same for LDS: byte offsets.
struct LdsAccess {
    alignas(64) std::uint32_t at[kLanes];
    std::uint64_t mask = 0;
};

template <class T>
KFDEMU_INLINE T read_as(const std::byte* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}
template <class T>
KFDEMU_INLINE void write_as(std::byte* to, T value) {
    __builtin_memcpy(to, &value, sizeof value);
}

/// Stores the active lanes of one register.
KFDEMU_INLINE void put(std::uint32_t* dst, const std::uint32_t* values, std::uint64_t mask) {
    if (mask == kAllLanes) {
        __builtin_memcpy(dst, values, kLanes * sizeof *dst);
        return;
    }
    for (unsigned l = 0; l < kLanes; ++l) dst[l] = active(mask, l) ? values[l] : dst[l];
}

/// Calls body(lane) for each active lane, in ascending order.
template <class Body>
KFDEMU_INLINE void for_each_lane(std::uint64_t mask, Body&& body) {
    for (; mask != 0; mask &= mask - 1) body(first_lane(mask));
}

inline constexpr unsigned kChunk = 16;

/// How the dwords of 16 neighbouring lanes are laid out; rows of tiles and values shared by all lanes are common.
struct ChunkShape {
    bool adjacent, same;
};
template <class Address>
KFDEMU_INLINE ChunkShape shape_of(const Address* at) {
    // Written as a vector type: a loop this short is unrolled before it is vectorised.
    typedef Address Vector __attribute__((vector_size(kChunk * sizeof(Address))));
    Vector distance, steps;
    __builtin_memcpy(&distance, at, sizeof distance);
    for (unsigned l = 0; l < kChunk; ++l) steps[l] = 4 * l;
    distance -= at[0];
    steps ^= distance;
    std::uint64_t different[sizeof distance / 8], apart[sizeof steps / 8];
    __builtin_memcpy(different, &distance, sizeof distance);
    __builtin_memcpy(apart, &steps, sizeof steps);
    std::uint64_t any_different = 0, any_apart = 0;
    for (std::uint64_t word : different) any_different |= word;
    for (std::uint64_t word : apart) any_apart |= word;
    return {any_apart == 0, any_different == 0};
}

/// dst[lane] = the dword at memory + (at[lane] - begin), for active lanes.
template <class Address>
[[gnu::noinline]] void gather_dwords(const std::byte* memory, Address begin, const Address* at, std::uint64_t mask,
                                     std::uint32_t* dst) {
    for (unsigned c = 0; c < kLanes; c += kChunk) {
        const std::uint64_t lanes = mask >> c & 0xffff;
        const ChunkShape shape = lanes == 0xffff ? shape_of(at + c) : ChunkShape{false, false};
        if (shape.adjacent) {
            __builtin_memcpy(dst + c, memory + (at[c] - begin), kChunk * 4);
        } else if (shape.same) {
            const auto value = read_as<std::uint32_t>(memory + (at[c] - begin));
            for (unsigned l = 0; l < kChunk; ++l) dst[c + l] = value;
        } else if (lanes == 0xffff) {
            for (unsigned l = c; l < c + kChunk; ++l) dst[l] = read_as<std::uint32_t>(memory + (at[l] - begin));
        } else {
            for_each_lane(lanes << c, [=](unsigned l) { dst[l] = read_as<std::uint32_t>(memory + (at[l] - begin)); });
        }
    }
}

template <class Address>
[[gnu::noinline]] void scatter_dwords(std::byte* memory, Address begin, const Address* at, std::uint64_t mask,
                                      const std::uint32_t* src) {
    for (unsigned c = 0; c < kLanes; c += kChunk) {
        const std::uint64_t lanes = mask >> c & 0xffff;
        if (lanes == 0xffff && shape_of(at + c).adjacent)
            __builtin_memcpy(memory + (at[c] - begin), src + c, kChunk * 4);
        else
            for_each_lane(lanes << c, [=](unsigned l) { write_as(memory + (at[l] - begin), src[l]); });
    }
}

/// N dwords per lane, lanes adjacent; `block` is the first active lane's address.
template <unsigned N>
void load_block(const std::byte* block, std::uint64_t mask, std::uint32_t* dst) {
    const unsigned first = first_lane(mask), count = last_lane(mask) - first + 1;
    if constexpr (N == 1) {
        if (mask == kAllLanes) {
            __builtin_memcpy(dst, block, kLanes * 4);
            return;
        }
        if (is_run(mask)) {
            __builtin_memcpy(dst + first, block, count * 4);
            return;
        }
    }
    alignas(64) std::uint32_t raw[N * kLanes], column[kLanes];
    __builtin_memcpy(raw + first * N, block, count * N * 4);
    for (unsigned k = 0; k < N; ++k) {
        for (unsigned l = 0; l < kLanes; ++l) column[l] = raw[l * N + k];
        put(dst + k * kLanes, column, mask);
    }
}

template <unsigned N>
void store_block(std::byte* block, std::uint64_t mask, const std::uint32_t* src) {
    const unsigned first = first_lane(mask), count = last_lane(mask) - first + 1;
    if constexpr (N == 1) {
        if (mask == kAllLanes)
            __builtin_memcpy(block, src, kLanes * 4);
        else
            __builtin_memcpy(block, src + first, count * 4);
    } else {
        alignas(64) std::uint32_t raw[N * kLanes];
        for (unsigned k = 0; k < N; ++k)
            for (unsigned l = 0; l < kLanes; ++l) raw[l * N + k] = src[k * kLanes + l];
        __builtin_memcpy(block, raw + first * N, count * N * 4);
    }
}

KFDEMU_INLINE bool fault(Wave& wave, const Inst& inst, std::uint64_t address, unsigned lane, std::uint32_t access) {
    wave.fault_at(Stop::MemoryFault, inst, {address, lane, access});
    return false;
}

template <unsigned N>
[[gnu::noinline]] bool load_slowly(Wave& wave, const Inst& inst, const LaneAccess& a, std::uint32_t* dst) {
    for (std::uint64_t rest = a.mask; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        std::uint32_t value[N];
        std::uint64_t bad = 0;
        if (!read_lane(wave, a.at[lane], a.dword_stride, value, sizeof value, bad))
            return fault(wave, inst, bad, lane, kRead);
        for (unsigned k = 0; k < N; ++k) dst[k * kLanes + lane] = value[k];
    }
    return true;
}

template <unsigned N>
[[gnu::noinline]] bool store_slowly(Wave& wave, const Inst& inst, const LaneAccess& a, const std::uint32_t* src) {
    for (std::uint64_t rest = a.mask; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        std::uint32_t value[N];
        std::uint64_t bad = 0;
        for (unsigned k = 0; k < N; ++k) value[k] = src[k * kLanes + lane];
        if (!write_lane(wave, a.at[lane], a.dword_stride, value, sizeof value, bad))
            return fault(wave, inst, bad, lane, kWrite);
    }
    return true;
}

/// Linear memory: the N dwords of a lane are adjacent.
template <unsigned N>
bool load_linear(Wave& wave, const Inst& inst, const LaneAccess& a, std::uint32_t* dst) {
    const unsigned first = first_lane(a.mask);
    if (contiguous(a.at, a.mask, N * 4)) {
        const std::uint64_t bytes = (last_lane(a.mask) - first + 1) * std::uint64_t{N * 4};
        if (const Tlb::Entry* entry = translate(wave, a.at[first], bytes, kRead)) {
            load_block<N>(entry->at(a.at[first]), a.mask, dst);
            return true;
        }
    }
    const Tlb::Entry* entry = translate(wave, a.at[first], N * 4, kRead);
    if (entry == nullptr || !all_inside<std::uint64_t>(a.at, a.mask, entry->begin, entry->size_bytes, N * 4))
        return load_slowly<N>(wave, inst, a, dst);
    const std::byte* memory = entry->host;
    const std::uint64_t begin = entry->begin;
    if constexpr (N == 1) {
        gather_dwords<std::uint64_t>(memory, begin, a.at, a.mask, dst);
    } else {
        for_each_lane(a.mask, [=, &a](unsigned l) {
            const std::byte* from = memory + (a.at[l] - begin);
            for (unsigned k = 0; k < N; ++k) dst[k * kLanes + l] = read_as<std::uint32_t>(from + k * 4);
        });
    }
    return true;
}

template <unsigned N>
bool store_linear(Wave& wave, const Inst& inst, const LaneAccess& a, const std::uint32_t* src) {
    const unsigned first = first_lane(a.mask);
    if (is_run(a.mask) && contiguous(a.at, a.mask, N * 4)) {
        const std::uint64_t bytes = (last_lane(a.mask) - first + 1) * std::uint64_t{N * 4};
        if (const Tlb::Entry* entry = translate(wave, a.at[first], bytes, kWrite)) {
            store_block<N>(entry->at(a.at[first]), a.mask, src);
            return true;
        }
    }
    const Tlb::Entry* entry = translate(wave, a.at[first], N * 4, kWrite);
    if (entry == nullptr || !all_inside<std::uint64_t>(a.at, a.mask, entry->begin, entry->size_bytes, N * 4))
        return store_slowly<N>(wave, inst, a, src);
    std::byte* memory = entry->host;
    const std::uint64_t begin = entry->begin;
    if constexpr (N == 1) {
        scatter_dwords<std::uint64_t>(memory, begin, a.at, a.mask, src);
    } else {
        for_each_lane(a.mask, [=, &a](unsigned l) {
            std::byte* to = memory + (a.at[l] - begin);
            for (unsigned k = 0; k < N; ++k) write_as(to + k * 4, src[k * kLanes + l]);
        });
    }
    return true;
}

/// Whether the swizzle would split a dword of some active lane.
[[gnu::noinline, maybe_unused]] bool misaligned_dwords(const LaneAccess& a) {
    const auto low_bits = any_bits<std::uint64_t>(a.mask, [&](unsigned l) { return a.at[l]; });
    return (low_bits & 3) != 0;
}

/// dst[k * kLanes + lane] = dword k at the lane's address.
template <unsigned N>
bool load_dwords(Wave& wave, const Inst& inst, LaneAccess& a, std::uint32_t* dst) {
    if (a.dword_stride == 4) return load_linear<N>(wave, inst, a, dst);
    if (misaligned_dwords(a)) return load_slowly<N>(wave, inst, a, dst);
    for (unsigned k = 0; k < N; ++k) {
        if (!load_linear<1>(wave, inst, a, dst + k * kLanes)) return false;
        for (unsigned l = 0; l < kLanes; ++l) a.at[l] += a.dword_stride;
    }
    return true;
}

template <unsigned N>
bool store_dwords(Wave& wave, const Inst& inst, LaneAccess& a, const std::uint32_t* src) {
    if (a.dword_stride == 4) return store_linear<N>(wave, inst, a, src);
    if (misaligned_dwords(a)) return store_slowly<N>(wave, inst, a, src);
    for (unsigned k = 0; k < N; ++k) {
        if (!store_linear<1>(wave, inst, a, src + k * kLanes)) return false;
        for (unsigned l = 0; l < kLanes; ++l) a.at[l] += a.dword_stride;
    }
    return true;
}

/// values[lane] = the byte or half at the lane's address, sign-extended or zero-extended as T is.
template <class T>
bool load_small(Wave& wave, const Inst& inst, const LaneAccess& a, std::uint32_t* values) {
    const unsigned first = first_lane(a.mask);
    const Tlb::Entry* entry = translate(wave, a.at[first], sizeof(T), kRead);
    const bool swizzle_splits = a.dword_stride != 4 && sizeof(T) == 2;
    if (entry != nullptr && !swizzle_splits &&
        all_inside<std::uint64_t>(a.at, a.mask, entry->begin, entry->size_bytes, sizeof(T))) {
        const std::byte* memory = entry->host;
        const std::uint64_t begin = entry->begin;
        for_each_lane(a.mask, [=, &a](unsigned l) {
            values[l] = static_cast<std::uint32_t>(std::int32_t{read_as<T>(memory + (a.at[l] - begin))});
        });
        return true;
    }
    for (std::uint64_t rest = a.mask; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        T value;
        std::uint64_t bad = 0;
        if (!read_lane(wave, a.at[lane], a.dword_stride, &value, sizeof value, bad))
            return fault(wave, inst, bad, lane, kRead);
        values[lane] = static_cast<std::uint32_t>(std::int32_t{value});
    }
    return true;
}

template <class T>
bool store_small(Wave& wave, const Inst& inst, const LaneAccess& a, const std::uint32_t* src, unsigned shift) {
    const unsigned first = first_lane(a.mask);
    const Tlb::Entry* entry = translate(wave, a.at[first], sizeof(T), kWrite);
    const bool swizzle_splits = a.dword_stride != 4 && sizeof(T) == 2;
    if (entry != nullptr && !swizzle_splits &&
        all_inside<std::uint64_t>(a.at, a.mask, entry->begin, entry->size_bytes, sizeof(T))) {
        std::byte* memory = entry->host;
        const std::uint64_t begin = entry->begin;
        for_each_lane(a.mask,
                      [=, &a](unsigned l) { write_as(memory + (a.at[l] - begin), static_cast<T>(src[l] >> shift)); });
        return true;
    }
    for (std::uint64_t rest = a.mask; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        const T value = static_cast<T>(src[lane] >> shift);
        std::uint64_t bad = 0;
        if (!write_lane(wave, a.at[lane], a.dword_stride, &value, sizeof value, bad))
            return fault(wave, inst, bad, lane, kWrite);
    }
    return true;
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
