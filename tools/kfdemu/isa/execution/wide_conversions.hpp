// V_CVT_SCALEF32 of 32 numbers, or of two times 16 (MI350 ISA manual): element n of a lane is at bit n * width of its
// registers. The rows name the formats.
//
// Compiled for each executor, in its namespace; internal to its translation unit.
#pragma once

#include "tools/kfdemu/isa/execution/lanes.hpp"
#include "tools/kfdemu/isa/execution/small_float_math.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

struct Single {
    static constexpr unsigned width = 32;
    static KFDEMU_INLINE double of(u32 raw) { return static_cast<double>(bits<float>(raw)); }
    static KFDEMU_INLINE u32 from(double v) { return bits<u32>(static_cast<float>(v)); }
};
struct Half {
    static constexpr unsigned width = 16;
    static KFDEMU_INLINE double of(u32 raw) { return static_cast<double>(half_at(raw, 0)); }
    static KFDEMU_INLINE u32 from(double v) { return half_of_double(v, 0); }
};
struct Brain {
    static constexpr unsigned width = 16;
    static KFDEMU_INLINE double of(u32 raw) { return static_cast<double>(brain_at(raw, 0)); }
    static KFDEMU_INLINE u32 from(double v) { return brain_of(static_cast<float>(v)); }
};
using Fp6 = Fp6Float;
using Bf6 = Bf6Float;

constexpr unsigned kWideCount = 32;

/// The numbers that a lane gets. All of its sources are read before any of its registers is written: they may overlap.
template <class To>
class LaneResult {
  public:
    void put(unsigned n, u32 number) {
        const unsigned at = n * To::width;
        const u64 moved = u64{number} << at % 32;
        dword_[at / 32] |= static_cast<u32>(moved);
        dword_[at / 32 + 1] |= static_cast<u32>(moved >> 32);
    }
    void store(Wave& w, const Inst& i, unsigned lane) const {
        for (unsigned n = 0; n < kDwords; ++n) lanes_of(w, i.dst)[n * kLanes + lane] = dword_[n];
    }

  private:
    static constexpr unsigned kDwords = kWideCount * To::width / 32;
    u32 dword_[kDwords + 1] = {};
};

/// Calls body(lane, scale, random) for each active lane; the scale is source n, the random number the one before it.
template <unsigned n, bool with_random, class Body>
KFDEMU_INLINE const Inst* convert_lanes(Wave& w, const Inst& i, Body&& body) {
    scalar_setup(w, i);
    use_mxcsr(w, 0x1f80);
    Room<1> scales, numbers;
    const u32* const scale = source<T_b32>(w, i, n, scales.lane);
    const u32* const random = with_random ? source<T_u32>(w, i, n - 1, numbers.lane) : scale;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((exec_of(w) >> lane & 1) != 0) body(lane, scale[lane] >> 23 & 0xff, random[lane]);
    return next_of(i);
}

template <class From, class To, bool by_random = false>
const Inst* convert_32(Wave& w, const Inst& i) {
    const Context x = context(w, i);
    return convert_lanes<by_random ? 2 : 1, by_random>(w, i, [&](unsigned lane, u32 scale, u32 random) {
        const u32* const from = lanes_of(w, i.src[0]) + lane;
        LaneResult<To> out;
        for (unsigned n = 0; n < kWideCount; ++n, random = next_random(random)) {
            const double number = From::of(packed_element(from, n, From::width));
            out.put(n, To::from(number * inverse_scale(scale), !by_random, random, x));
        }
        out.store(w, i, lane);
    });
}
template <class From, class To>
const Inst* convert_32_by(Wave& w, const Inst& i) {
    return convert_32<From, To, true>(w, i);
}
template <class From, class To>
const Inst* convert_32_up(Wave& w, const Inst& i) {
    return convert_lanes<1, false>(w, i, [&](unsigned lane, u32 scale, u32) {
        const u32* const from = lanes_of(w, i.src[0]) + lane;
        LaneResult<To> out;
        for (unsigned n = 0; n < kWideCount; ++n) {
            const float number = From::of(packed_element(from, n, From::width));
            out.put(n, To::from(static_cast<double>(number) * scale_of(scale)));
        }
        out.store(w, i, lane);
    });
}
/// Of two sources in turn.
template <class To>
const Inst* convert_two_16(Wave& w, const Inst& i) {
    const Context x = context(w, i);
    return convert_lanes<2, false>(w, i, [&](unsigned lane, u32 scale, u32) {
        LaneResult<To> out;
        for (unsigned n = 0; n < kWideCount; ++n) {
            const double number = Single::of(lanes_of(w, i.src[n % 2])[n / 2 * kLanes + lane]);
            out.put(n, To::from(number * inverse_scale(scale), true, 0, x));
        }
        out.store(w, i, lane);
    });
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
