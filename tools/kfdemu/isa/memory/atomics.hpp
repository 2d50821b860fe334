// What the atomic instructions do to a value in memory, for global memory (host atomics) and LDS alike.
//
//     T old = memory_atomic<Add<std::uint32_t>>(host, operand, 0);
//
// An operation is `combine(memory, a, b)`, which returns the new value; only two-operand operations use b. Sources:
// "Vega" ISA manual, "DS Instructions" and "FLAT, Scratch and Global Instructions"; MI200 manual for the float atomics.
#pragma once

#include <xmmintrin.h>

#include "tools/kfdemu/isa/memory/lane_access.hpp"

namespace kfdemu::isa {
/// Adds both halves, rounding to nearest even and keeping denormals. Defined in atomics.cpp.
std::uint32_t add_packed_half(std::uint32_t a, std::uint32_t b) noexcept;
std::uint32_t add_packed_brain(std::uint32_t a, std::uint32_t b) noexcept;
}  // namespace kfdemu::isa

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// The MXCSR setting that an operation needs; None for integers.
enum class Floats { None, Keep, Flush, Mode };

template <class Type, Floats floats = Floats::None>
struct Operation {
    using T = Type;
    static constexpr Floats kFloats = floats;
};

template <class T>
struct Signed;
template <>
struct Signed<std::uint32_t> {
    using Type = std::int32_t;
};
template <>
struct Signed<std::uint64_t> {
    using Type = std::int64_t;
};

#define KFDEMU_COMBINE(Name, expression)                                                                        \
    template <class V>                                                                                          \
    struct Name : Operation<V> {                                                                                \
        KFDEMU_INLINE static V combine([[maybe_unused]] V memory, [[maybe_unused]] V a, [[maybe_unused]] V b) { \
            [[maybe_unused]] typedef typename Signed<V>::Type S;                                                \
            return static_cast<V>(expression);                                                                  \
        }                                                                                                       \
    };
KFDEMU_COMBINE(Swap, a)
KFDEMU_COMBINE(Add, memory + a)
KFDEMU_COMBINE(Sub, memory - a)
KFDEMU_COMBINE(ReverseSub, a - memory)
KFDEMU_COMBINE(MinS, static_cast<S>(a) < static_cast<S>(memory) ? a : memory)
KFDEMU_COMBINE(MaxS, static_cast<S>(a) > static_cast<S>(memory) ? a : memory)
KFDEMU_COMBINE(MinU, a < memory ? a : memory)
KFDEMU_COMBINE(MaxU, a > memory ? a : memory)
KFDEMU_COMBINE(And, memory& a)
KFDEMU_COMBINE(Or, memory | a)
KFDEMU_COMBINE(Xor, memory ^ a)
KFDEMU_COMBINE(Inc, memory >= a ? 0 : memory + 1)
KFDEMU_COMBINE(Dec, memory == 0 || memory > a ? a : memory - 1)
KFDEMU_COMBINE(MaskOr, (memory & ~a) | b)
KFDEMU_COMBINE(CompareSwap, memory == b ? a : memory)   // FLAT, MUBUF, SMEM: DATA is {new, expected}
KFDEMU_COMBINE(CompareStore, memory == a ? b : memory)  // DS: DATA0 expected, DATA1 new
#undef KFDEMU_COMBINE

struct SubClamped : Operation<std::uint32_t> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return memory < a ? 0 : memory - a; }
};

struct SubIfEnough : Operation<std::uint32_t> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return memory < a ? memory : memory - a; }
};

struct Wrap : Operation<std::uint32_t> {
    KFDEMU_INLINE static T combine(T memory, T a, T b) { return memory >= a ? memory - a : memory + b; }
};

/// Exchanges each half if the top bit of its operand is set; that bit is not stored.
struct ConditionalExchange : Operation<std::uint64_t> {
    KFDEMU_INLINE static T combine(T memory, T a, T) {
        const T low = (a & 0x80000000u) != 0 ? a & 0x7fffffffu : memory & 0xffffffffu;
        const T high = (a >> 63) != 0 ? (a >> 32) & 0x7fffffffu : memory >> 32;
        return low | high << 32;
    }
};

KFDEMU_INLINE float as_float(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
KFDEMU_INLINE double as_double(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
KFDEMU_INLINE std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
KFDEMU_INLINE std::uint64_t bits_of(double value) { return __builtin_bit_cast(std::uint64_t, value); }

/// LDS adders honour MODE's denormal bits; the L2 adders (global_atomic_add_f32) flush. All round to nearest even.
struct AddFloat : Operation<std::uint32_t, Floats::Mode> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return bits_of(as_float(memory) + as_float(a)); }
};
struct AddFlushed : Operation<std::uint32_t, Floats::Flush> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return bits_of(as_float(memory) + as_float(a)); }
};
/// GFX11's L2 adder keeps denormals (LLVM's FeatureMemoryAtomicFAddF32DenormalSupport).
struct AddSingle : Operation<std::uint32_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return bits_of(as_float(memory) + as_float(a)); }
};
struct CompareSwapFloat : Operation<std::uint32_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T b) { return as_float(memory) == as_float(b) ? a : memory; }
};
struct CompareSwapDouble : Operation<std::uint64_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T b) { return as_double(memory) == as_double(b) ? a : memory; }
};
/// DATA is {new, expected}.
template <class Op>
inline constexpr bool kSwapsIfEqual = false;
template <class T>
inline constexpr bool kSwapsIfEqual<CompareSwap<T>> = true;
template <>
inline constexpr bool kSwapsIfEqual<CompareSwapFloat> = true;
template <>
inline constexpr bool kSwapsIfEqual<CompareSwapDouble> = true;

struct MinFloat : Operation<std::uint32_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return as_float(a) < as_float(memory) ? a : memory; }
};
struct MaxFloat : Operation<std::uint32_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return as_float(a) > as_float(memory) ? a : memory; }
};
/// GFX12's minimumNumber and maximumNumber: a number wins over NaN, of two NaNs that of DATA is stored, quieted, and -0
/// is less than +0 ("RDNA 4" ISA manual, DS_MIN_NUM_F32).
template <class V, bool greatest>
struct NumberExtreme : Operation<V, Floats::Keep> {
    static constexpr V kSign = V{1} << (8 * sizeof(V) - 1),
                       kInfinity = static_cast<V>(sizeof(V) == 4 ? 0x7f800000u : 0x7ff0000000000000u),
                       kQuiet = static_cast<V>(sizeof(V) == 4 ? 0x400000u : 0x8000000000000u);
    KFDEMU_INLINE static bool is_nan(V v) { return (v & ~kSign) > kInfinity; }
    /// Ascends with the number.
    KFDEMU_INLINE static V rank(V v) { return (v & kSign) != 0 ? ~v : v | kSign; }
    KFDEMU_INLINE static V combine(V memory, V a, V) {
        if (is_nan(a)) return is_nan(memory) ? a | kQuiet : memory;
        if (is_nan(memory)) return a;
        return (greatest ? rank(a) > rank(memory) : rank(a) < rank(memory)) ? a : memory;
    }
};
template <class V>
using MinNumber = NumberExtreme<V, false>;
template <class V>
using MaxNumber = NumberExtreme<V, true>;

struct CompareStoreFloat : Operation<std::uint32_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T b) { return as_float(memory) == as_float(a) ? b : memory; }
};
struct AddDouble : Operation<std::uint64_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return bits_of(as_double(memory) + as_double(a)); }
};
struct MinDouble : Operation<std::uint64_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return as_double(a) < as_double(memory) ? a : memory; }
};
struct MaxDouble : Operation<std::uint64_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return as_double(a) > as_double(memory) ? a : memory; }
};
struct CompareStoreDouble : Operation<std::uint64_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T b) { return as_double(memory) == as_double(a) ? b : memory; }
};
struct AddPackedHalf : Operation<std::uint32_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return add_packed_half(memory, a); }
};
struct AddPackedBrain : Operation<std::uint32_t, Floats::Keep> {
    KFDEMU_INLINE static T combine(T memory, T a, T) { return add_packed_brain(memory, a); }
};

/// Sets the CPU's rounding and denormal modes for the duration of a float atomic.
template <Floats floats>
class FloatMode {
  public:
    KFDEMU_INLINE explicit FloatMode(const Wave& wave) : restore_{wave.mxcsr_now} {
        constexpr std::uint32_t kMasked = 0x1f80, kFlush = 0x8040;  // MXCSR: exceptions masked; FTZ and DAZ
        if constexpr (floats == Floats::Keep) _mm_setcsr(kMasked);
        if constexpr (floats == Floats::Flush) _mm_setcsr(kMasked | kFlush);
        if constexpr (floats == Floats::Mode) _mm_setcsr(kMasked | (wave.mxcsr_f32 & kFlush));
    }
    KFDEMU_INLINE ~FloatMode() {
        if constexpr (floats != Floats::None) _mm_setcsr(restore_);
    }
    FloatMode(const FloatMode&) = delete;
    FloatMode& operator=(const FloatMode&) = delete;

  private:
    [[maybe_unused]] std::uint32_t restore_;
};

/// `to` is naturally aligned. Memory ordering: sequentially consistent (free with the lock prefix), so other devices
/// and the host see GPU atomics in one order.
template <class Op>
KFDEMU_INLINE typename Op::T memory_atomic(std::byte* to, typename Op::T a, typename Op::T b) {
    typedef typename Op::T __attribute__((may_alias)) Cell;
    Cell* cell = reinterpret_cast<Cell*>(to);
    typename Op::T old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(cell, &old, Op::combine(old, a, b), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return old;
}

/// One lane's T from `registers`: one or two of them.
template <class T>
KFDEMU_INLINE T lane_value(const std::uint32_t* registers, unsigned lane) {
    if constexpr (sizeof(T) == 4)
        return registers[lane];
    else
        return registers[lane] | static_cast<T>(registers[kLanes + lane]) << 32;
}
template <class T>
KFDEMU_INLINE void set_lane_value(std::uint32_t* registers, unsigned lane, T value) {
    registers[lane] = static_cast<std::uint32_t>(value);
    if constexpr (sizeof(T) == 8) registers[kLanes + lane] = static_cast<std::uint32_t>(value >> 32);
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
