// Loads, stores and atomics on known lane addresses, for FLAT, MUBUF and DS alike.
//
//     if (!Load<2>::memory(wave, inst, access)) return nullptr;      // faulted, wave.stop is set
//     Load<2>::local(wave, inst, lds_access);                        // cannot fault
//
// For executor files only, like lane_access.hpp. `access.mask` is never empty.
#pragma once

#include "tools/kfdemu/isa/memory/atomics.hpp"
#include "tools/kfdemu/isa/memory/lds_access.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

enum Half : unsigned { kLow = 0, kHigh = 16 };  ///< half of a register; the shift to its low bits

template <unsigned N>
struct Load {
    static constexpr unsigned kBytes = N * 4;
    static constexpr std::uint32_t kAccess = kRead;
    static bool fetch(Wave& wave, const Inst& inst, LaneAccess& a, std::uint32_t* values) {
        return load_dwords<N>(wave, inst, a, values);
    }
    static bool memory(Wave& wave, const Inst& inst, LaneAccess& a) {
        return fetch(wave, inst, a, lanes_of(wave, inst.dst));
    }
    static void local(Wave& wave, const Inst& inst, const LdsAccess& a) {
        lds_load<N>(wave, a, lanes_of(wave, inst.dst));
    }
    static void block(Wave& wave, const Inst& inst, const std::byte* all) {
        load_block<N>(all, kAllLanes, lanes_of(wave, inst.dst));
    }
    /// Lanes outside a buffer read zero.
    static void outside(Wave& wave, const Inst& inst, std::uint64_t mask) {
        for (unsigned k = 0; k < N; ++k)
            for_each_lane(mask, [&](unsigned l) { lanes_of(wave, inst.dst)[k * kLanes + l] = 0; });
    }
};

template <class T>
struct LoadSmall {
    static constexpr unsigned kBytes = sizeof(T);
    static constexpr std::uint32_t kAccess = kRead;
    static bool fetch(Wave& wave, const Inst& inst, LaneAccess& a, std::uint32_t* values) {
        return load_small<T>(wave, inst, a, values);
    }
    static bool memory(Wave& wave, const Inst& inst, LaneAccess& a) {
        return fetch(wave, inst, a, lanes_of(wave, inst.dst));
    }
    static void local(Wave& wave, const Inst& inst, const LdsAccess& a) {
        lds_load_small<T>(wave, a, lanes_of(wave, inst.dst));
    }
    static void outside(Wave& wave, const Inst& inst, std::uint64_t mask) { Load<1>::outside(wave, inst, mask); }
};

/// Whether the operation may load directly into LDS (the LDS bit): loads of up to one dword, on some models of three
/// and four (Traits::wide_loads_to_lds).
template <class Operation>
inline constexpr bool kLoadsToLds = false;
template <>
inline constexpr bool kLoadsToLds<Load<1>> = true;
template <>
inline constexpr bool kLoadsToLds<Load<3>> = true;
template <>
inline constexpr bool kLoadsToLds<Load<4>> = true;
template <class T>
inline constexpr bool kLoadsToLds<LoadSmall<T>> = true;

/// The dwords of a lane.
template <class Operation>
inline constexpr unsigned kWords = Operation::kBytes < 4 ? 1 : Operation::kBytes / 4;

/// The LDS addresses of the lanes' N dwords in that case: M0[15:0] + OFFSET + 4 * N * lane ("Vega" ISA manual, "Memory
/// Buffer Load to LDS"). Of an LDS larger than 64 KiB, M0 has the bits for it.
template <unsigned N = 1>
KFDEMU_INLINE LdsAccess direct_lds(const Wave& wave, const Inst& inst, std::uint64_t mask) {
    LdsAccess a;
    const std::uint32_t places = wave.lds_size_bytes > 0x10000 ? 0x3ffff : 0xffff;
    const std::uint32_t base = (wave.s[kM0] & places) + static_cast<std::uint32_t>(inst.offset);
    for (unsigned l = 0; l < kLanes; ++l) a.at[l] = base + 4 * N * l;
    a.mask = mask;
    return a;
}

/// Loads into one half of the register and keeps the other.
template <class T, Half half>
struct LoadD16 {
    static constexpr unsigned kBytes = sizeof(T);
    static constexpr std::uint32_t kAccess = kRead;
    KFDEMU_INLINE static void merge(std::uint32_t* dst, const std::uint32_t* values, std::uint64_t mask) {
        for (unsigned l = 0; l < kLanes; ++l) {
            const std::uint32_t merged = (dst[l] & (0xffffu << (16 - half))) | (values[l] & 0xffffu) << half;
            dst[l] = active(mask, l) ? merged : dst[l];
        }
    }
    static bool memory(Wave& wave, const Inst& inst, LaneAccess& a) {
        alignas(64) std::uint32_t values[kLanes] = {};
        if (!load_small<T>(wave, inst, a, values)) return false;
        merge(lanes_of(wave, inst.dst), values, a.mask);
        return true;
    }
    static void local(Wave& wave, const Inst& inst, const LdsAccess& a) {
        alignas(64) std::uint32_t values[kLanes] = {};
        lds_load_small<T>(wave, a, values);
        merge(lanes_of(wave, inst.dst), values, a.mask);
    }
    static void outside(Wave& wave, const Inst& inst, std::uint64_t mask) {
        alignas(64) const std::uint32_t zeros[kLanes] = {};
        merge(lanes_of(wave, inst.dst), zeros, mask);
    }
};

template <unsigned N>
struct Store {
    static constexpr unsigned kBytes = N * 4;
    static constexpr std::uint32_t kAccess = kWrite;
    static bool memory(Wave& wave, const Inst& inst, LaneAccess& a) {
        return store_dwords<N>(wave, inst, a, lanes_of(wave, inst.src[1]));
    }
    static void local(Wave& wave, const Inst& inst, const LdsAccess& a) {
        lds_store<N>(wave, a, lanes_of(wave, inst.src[1]));
    }
    static void block(Wave& wave, const Inst& inst, std::byte* all) {
        store_block<N>(all, kAllLanes, lanes_of(wave, inst.src[1]));
    }
    static void outside(Wave&, const Inst&, std::uint64_t) {}
};

/// Whether it moves whole dwords, and so has block(): those of all lanes, which are adjacent.
template <class Operation>
inline constexpr bool kMovesDwords = false;
template <unsigned N>
inline constexpr bool kMovesDwords<Load<N>> = true;
template <unsigned N>
inline constexpr bool kMovesDwords<Store<N>> = true;

template <class T, Half half = kLow>
struct StoreSmall {
    static constexpr unsigned kBytes = sizeof(T);
    static constexpr std::uint32_t kAccess = kWrite;
    static bool memory(Wave& wave, const Inst& inst, LaneAccess& a) {
        return store_small<T>(wave, inst, a, lanes_of(wave, inst.src[1]), half);
    }
    static void local(Wave& wave, const Inst& inst, const LdsAccess& a) {
        lds_store_small<T>(wave, a, lanes_of(wave, inst.src[1]), half);
    }
    static void outside(Wave&, const Inst&, std::uint64_t) {}
};

/// FLAT and MUBUF atomics: operands in one register group (cmpswap: new value, then expected), old value if GLC.
template <class Op>
struct Atomic {
    using T = typename Op::T;
    static constexpr unsigned kBytes = sizeof(T);
    static constexpr std::uint32_t kAccess = kRead | kWrite;

    [[gnu::noinline]] static bool memory(Wave& wave, const Inst& inst, LaneAccess& a) {
        const FloatMode<Op::kFloats> mode{wave};
        const std::uint32_t* data = lanes_of(wave, inst.src[1]);
        for (std::uint64_t rest = a.mask; rest != 0; rest &= rest - 1) {
            const unsigned lane = first_lane(rest);
            const T operand = lane_value<T>(data, lane), second = second_operand(data, lane);
            T old;
            if (!one_lane(wave, inst, a, lane, operand, second, old)) return false;
            if (inst.has(kGlc)) set_lane_value(lanes_of(wave, inst.dst), lane, old);
        }
        return true;
    }
    [[gnu::noinline]] static void local(Wave& wave, const Inst& inst, const LdsAccess& a) {
        const FloatMode<Op::kFloats> mode{wave};
        const std::uint32_t* data = lanes_of(wave, inst.src[1]);
        for (std::uint64_t rest = a.mask; rest != 0; rest &= rest - 1) {
            const unsigned lane = first_lane(rest);
            const T old = lds_atomic<Op>(wave, a.at[lane], lane_value<T>(data, lane), second_operand(data, lane));
            if (inst.has(kGlc)) set_lane_value(lanes_of(wave, inst.dst), lane, old);
        }
    }
    static void outside(Wave& wave, const Inst& inst, std::uint64_t mask) {
        if (inst.has(kGlc)) Load<sizeof(T) / 4>::outside(wave, inst, mask);
    }

  private:
    /// Read only if the operation has a second operand: the registers after the first may not exist.
    KFDEMU_INLINE static T second_operand(const std::uint32_t* data, unsigned lane) {
        if constexpr (kSwapsIfEqual<Op>)
            return lane_value<T>(data + sizeof(T) / 4 * kLanes, lane);
        else
            return 0;
    }
    static bool one_lane(Wave& wave, const Inst& inst, const LaneAccess& a, unsigned lane, T operand, T second,
                         T& old) {
        const std::uint64_t va = a.at[lane];
        // Scratch interleaves dwords, so the address does not determine the alignment of a 64-bit value.
        const unsigned alignment = a.dword_stride == 4 ? sizeof(T) : 4;
        if ((va & (alignment - 1)) != 0) {
            wave.fault_at(Stop::Misaligned, inst, {va, lane, kRead | kWrite});
            return false;
        }
        if (a.dword_stride != 4 && sizeof(T) == 8) return swizzled(wave, inst, a, lane, operand, second, old);
        const Tlb::Entry* entry = translate(wave, va, sizeof(T), kRead | kWrite);
        if (entry == nullptr) return fault(wave, inst, va, lane, kRead | kWrite);
        old = memory_atomic<Op>(entry->at(va), operand, second);
        return true;
    }
    /// The halves of a 64-bit value in scratch are separate, but only this lane accesses them.
    static bool swizzled(Wave& wave, const Inst& inst, const LaneAccess& a, unsigned lane, T operand, T second,
                         T& old) {
        std::uint64_t bad = 0;
        if (!read_lane(wave, a.at[lane], a.dword_stride, &old, sizeof old, bad))
            return fault(wave, inst, bad, lane, kRead | kWrite);
        const T value = Op::combine(old, operand, second);
        if (!write_lane(wave, a.at[lane], a.dword_stride, &value, sizeof value, bad))
            return fault(wave, inst, bad, lane, kRead | kWrite);
        return true;
    }
};

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
