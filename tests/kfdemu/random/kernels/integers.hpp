// Whole numbers without undefined behaviour: every function is defined for every argument.
#pragma once

#include "types.hpp"

/// The number, of which the compiler knows nothing: LLVM's expandDivRem24 and shrinkDivRem64 (seen in 16 and 19) take
/// unsigned numbers with many sign bits for small ones, and divide wrongly.
template <class T>
FN T unknown(T a) {
#if ON_DEVICE
    if constexpr (!is_signed<T> && sizeof(T) >= 4) asm("" : "+v"(a));
#endif
    return a;
}
// Where LLVM before 2026 learns late that half of an operand of a 64-bit or has ones only, the same half of the other
// operand is the result's (SIFoldOperands.cpp, tryConstantFoldOp, "or x, -1"): so it does not know the operands.
template <class T>
FN T either(T a, T b) {
#if ON_DEVICE
    if constexpr (width<T> == 64) asm("" : "+v"(a), "+v"(b));
#endif
    return T(a | b);
}
/// For the ors that it makes itself of sums and exclusive ors without a bit in common, and for divisions.
template <class T>
FN T hidden_ones(T a) {
#if ON_DEVICE
    if constexpr (width<T> == 64)
        if ((__builtin_constant_p(u32(a)) && u32(a) == ~0u) ||
            (__builtin_constant_p(u32(u64(a) >> 32)) && u32(u64(a) >> 32) == ~0u))
            asm("" : "+v"(a));
#endif
    return a;
}
template <class T>
FN T divide(T a, T b) {
    a = unknown(a), b = hidden_ones(b);
    if (b == 0) return a;
    if constexpr (is_signed<T>)
        if (b == T(-1)) return T(0 - u64(a));
    return T(a / b);
}
template <class T>
FN T modulo(T a, T b) {
    a = unknown(a), b = hidden_ones(b);
    if (b == 0) return a;
    if constexpr (is_signed<T>)
        if (b == T(-1)) return 0;
    return T(a % b);
}
template <class T>
FN T rotate(T a, u32 by) {
    by &= width<T> - 1;
    return by == 0 ? a : T(a << by | a >> (width<T> - by));
}
template <class T>
FN T funnel(T high, T low, u32 by) {
    by &= width<T> - 1;
    return by == 0 ? low : T(high << (width<T> - by) | low >> by);
}
template <class T>
FN T minimum(T a, T b) {
    return a < b ? a : b;
}
template <class T>
FN T maximum(T a, T b) {
    return a > b ? a : b;
}
template <class T>
FN T median(T a, T b, T c) {
    return maximum(minimum(a, b), minimum(maximum(a, b), c));
}
template <class T>
FN T absolute(T a) {
    return a < 0 ? T(0 - u64(a)) : a;
}
/// |a - b|, as much of it as T holds.
template <class T>
FN T distance(T a, T b) {
    return T(a > b ? u64(a) - u64(b) : u64(b) - u64(a));
}
template <class T>
FN T add_saturated(T a, T b) {
    // clang 22 adds the upper halves of a product and of b in one, and takes the product's lost carry for the sum's.
    if constexpr (sizeof(T) == 8) a = unknown(a);
    T sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    if constexpr (is_signed<T>) return a < 0 ? T(u64(1) << (width<T> - 1)) : T((u64(1) << (width<T> - 1)) - 1);
    return T(~u64(0));
}
template <class T>
FN T subtract_saturated(T a, T b) {
    T difference;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    if constexpr (is_signed<T>) return a < 0 ? T(u64(1) << (width<T> - 1)) : T((u64(1) << (width<T> - 1)) - 1);
    return 0;
}
/// The number, which the compiler does not know: clang before 19 takes the upper half of a signed product for that of
/// an unsigned one, of numbers with nine sign bits (llvm-project, pull request 105831).
template <class T>
FN T factor(T a) {
#if ON_DEVICE && __clang_major__ < 19
    asm("" : "+v"(a));
#endif
    return a;
}
/// The product's upper half.
FN u32 multiply_high(u32 a, u32 b) { return u32(u64(factor(a)) * b >> 32); }
FN i32 multiply_high(i32 a, i32 b) { return i32(i64(a) * b >> 32); }
FN u64 multiply_high(u64 a, u64 b) { return u64((unsigned __int128)factor(a) * b >> 64); }
FN i64 multiply_high(i64 a, i64 b) { return i64((__int128)factor(a) * b >> 64); }
/// Bits of b where mask has ones, of a elsewhere.
template <class T>
FN T insert(T mask, T b, T a) {
    return either(T(mask & b), T(~mask & a));
}
template <class T>
FN T field(T a, u32 offset, u32 bits) {
    offset &= width<T> - 1;
    bits &= width<T> - 1;
    return T(a >> offset & ((u64(1) << bits) - 1));
}
FN u32 ones(u32 a) { return u32(__builtin_popcount(a)); }
FN u32 ones(u64 a) { return u32(__builtin_popcountl(a)); }
FN u32 leading_zeros(u32 a) { return a == 0 ? 32 : u32(__builtin_clz(a)); }
FN u32 leading_zeros(u64 a) { return a == 0 ? 64 : u32(__builtin_clzl(a)); }
FN u32 trailing_zeros(u32 a) { return a == 0 ? 32 : u32(__builtin_ctz(a)); }
FN u32 trailing_zeros(u64 a) { return a == 0 ? 64 : u32(__builtin_ctzl(a)); }
FN u8 reverse(u8 a) { return __builtin_bitreverse8(a); }
FN u16 reverse(u16 a) { return __builtin_bitreverse16(a); }
FN u32 reverse(u32 a) { return __builtin_bitreverse32(a); }
FN u64 reverse(u64 a) { return __builtin_bitreverse64(a); }
FN u16 swap_bytes(u16 a) { return __builtin_bswap16(a); }
FN u32 swap_bytes(u32 a) { return __builtin_bswap32(a); }
FN u64 swap_bytes(u64 a) { return __builtin_bswap64(a); }
FN u32 multiply_24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
FN i32 multiply_24(i32 a, i32 b) { return i32(u32(i32(u32(a) << 8) >> 8) * u32(i32(u32(b) << 8) >> 8)); }

FN u32 pack(u16x2 a) { return u32(a[0]) | u32(a[1]) << 16; }
FN u32 pack(u8x4 a) { return u32(a[0]) | u32(a[1]) << 8 | u32(a[2]) << 16 | u32(a[3]) << 24; }
FN u16x2 unpack_2(u32 a) { return u16x2{u16(a), u16(a >> 16)}; }
FN u8x4 unpack_4(u32 a) { return u8x4{u8(a), u8(a >> 8), u8(a >> 16), u8(a >> 24)}; }
/// The numbers, which the compiler does not know: clang before 18 takes a constant whose halves are -15 and -1 for one
/// whose halves are -15 in packed instructions, and others alike (llvm-project, pull request 76522).
template <class V>
FN V hidden_pair(V a) {
#if ON_DEVICE && __clang_major__ < 18
    if constexpr (sizeof(V) == 4 && sizeof a[0] == 2)
        if (__builtin_constant_p(a[0]) && __builtin_constant_p(a[1])) asm("" : "+v"(a));
#endif
    return a;
}
template <class V>
FN V each_minimum(V a, V b) {
    return __builtin_elementwise_min(hidden_pair(a), hidden_pair(b));
}
template <class V>
FN V each_maximum(V a, V b) {
    return __builtin_elementwise_max(hidden_pair(a), hidden_pair(b));
}
template <class V>
FN V each_shift_left(V a, V b) {
    return hidden_pair(a) << hidden_pair(b & V(sizeof a[0] * 8 - 1));
}
template <class V>
FN V each_shift_right(V a, V b) {
    return hidden_pair(a) >> hidden_pair(b & V(sizeof a[0] * 8 - 1));
}
FN u16x2 add_saturated(u16x2 a, u16x2 b) {
    a = hidden_pair(a), b = hidden_pair(b);
    return u16x2{add_saturated(a[0], b[0]), add_saturated(a[1], b[1])};
}
FN i16x2 add_saturated(i16x2 a, i16x2 b) {
    a = hidden_pair(a), b = hidden_pair(b);
    return i16x2{add_saturated(a[0], b[0]), add_saturated(a[1], b[1])};
}
FN u16x2 subtract_saturated(u16x2 a, u16x2 b) {
    a = hidden_pair(a), b = hidden_pair(b);
    return u16x2{subtract_saturated(a[0], b[0]), subtract_saturated(a[1], b[1])};
}
