// Integer instructions, one lane or one scalar: shifts, bit fields, saturation, sums of differences.
//
// Compiled for each executor, in its namespace. No undefined behaviour for any input.
#pragma once

#include "tools/kfdemu/isa/execution/exec.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

KFDEMU_INLINE u32 popcount(u32 v) {
    v = v - ((v >> 1) & 0x55555555);
    v = (v & 0x33333333) + ((v >> 2) & 0x33333333);
    return (((v + (v >> 4)) & 0x0f0f0f0f) * 0x01010101) >> 24;
}
KFDEMU_INLINE u32 popcount64(u64 v) { return popcount(static_cast<u32>(v)) + popcount(static_cast<u32>(v >> 32)); }

KFDEMU_INLINE u32 reversed(u32 v) {
    v = ((v >> 1) & 0x55555555) | ((v & 0x55555555) << 1);
    v = ((v >> 2) & 0x33333333) | ((v & 0x33333333) << 2);
    v = ((v >> 4) & 0x0f0f0f0f) | ((v & 0x0f0f0f0f) << 4);
    v = ((v >> 8) & 0x00ff00ff) | ((v & 0x00ff00ff) << 8);
    return v >> 16 | v << 16;
}
KFDEMU_INLINE u64 reversed64(u64 v) {
    return static_cast<u64>(reversed(static_cast<u32>(v))) << 32 | reversed(static_cast<u32>(v >> 32));
}

// Bit positions; -1 if no bit is set.
KFDEMU_INLINE u32 first_one_low(u32 v) { return popcount((v & (0u - v)) - 1) | (v ? 0 : ~0u); }
KFDEMU_INLINE u32 first_one_low64(u64 v) { return v ? static_cast<u32>(__builtin_ctzll(v)) : ~0u; }
KFDEMU_INLINE u32 first_one_high(u32 v) {
    u32 w = v;
    w |= w >> 1;
    w |= w >> 2;
    w |= w >> 4;
    w |= w >> 8;
    w |= w >> 16;
    return v ? 32 - popcount(w) : ~0u;
}
KFDEMU_INLINE u32 first_one_high64(u64 v) { return v ? static_cast<u32>(__builtin_clzll(v)) : ~0u; }
/// How many bits from the top equal the sign bit; -1 for 0 and -1.
KFDEMU_INLINE u32 first_opposite(i32 v) { return first_one_high(static_cast<u32>(v ^ (v >> 31))); }
KFDEMU_INLINE u32 first_opposite64(i64 v) { return first_one_high64(static_cast<u64>(v ^ (v >> 63))); }

// Shift counts are modulo the width.
KFDEMU_INLINE u32 shl(u32 v, u32 n) { return v << (n & 31); }
KFDEMU_INLINE u32 shr(u32 v, u32 n) { return v >> (n & 31); }
KFDEMU_INLINE i32 sar(i32 v, u32 n) { return v >> (n & 31); }
/// 32 bits of the pair `high`:`low`, starting at bit n % 32. Computed in 32 bits, which gives the CPU's vectors twice
/// as many lanes.
KFDEMU_INLINE u32 aligned_bits(u32 high, u32 low, u32 n) { return low >> (n & 31) | high << 1 << (~n & 31); }
KFDEMU_INLINE u64 shl64(u64 v, u32 n) { return v << (n & 63); }
KFDEMU_INLINE u64 shr64(u64 v, u32 n) { return v >> (n & 63); }
KFDEMU_INLINE i64 sar64(i64 v, u32 n) { return v >> (n & 63); }

/// `width` ones; width is at most 31 or 63.
KFDEMU_INLINE u32 ones(u32 width) { return (1u << (width & 31)) - 1; }
KFDEMU_INLINE u64 ones64(u32 width) { return (1ull << (width & 63)) - 1; }

/// Bit fields of the vector unit: offset and width modulo 32.
KFDEMU_INLINE u32 field(u32 v, u32 offset, u32 width) { return (v >> (offset & 31)) & ones(width); }
KFDEMU_INLINE i32 signed_field(i32 v, u32 offset, u32 width) {
    const u32 w = width & 31, o = offset & 31;
    const u32 left = w == 0 ? 0 : w + o < 32 ? 32 - w - o : 0;
    const i32 value = static_cast<i32>(static_cast<u32>(v) << left) >> (w + o < 32 ? (32 - w) & 31 : o);
    return w == 0 ? 0 : value;
}
/// Bit fields of the scalar unit: offset in 4:0 (5:0), width in 22:16, which may exceed the operand.
KFDEMU_INLINE u64 scalar_field(u64 v, u32 control, u32 bits_total) {
    const u32 offset = control & (bits_total - 1), width = (control >> 16) & 0x7f;
    const u64 shifted = v >> offset;
    return width >= 64 ? shifted : shifted & ones64(width);
}
KFDEMU_INLINE i64 signed_scalar_field(i64 v, u32 control, u32 bits_total) {
    const u32 offset = control & (bits_total - 1), width = (control >> 16) & 0x7f;
    const i64 shifted = v >> offset;
    if (width == 0) return 0;
    if (width >= bits_total) return shifted;
    return static_cast<i64>(static_cast<u64>(shifted) << (64 - width)) >> (64 - width);
}

KFDEMU_INLINE i32 sign24(i32 v) { return static_cast<i32>(static_cast<u32>(v) << 8) >> 8; }
KFDEMU_INLINE i32 mul24(i32 a, i32 b) {
    return static_cast<i32>(static_cast<u32>(sign24(a)) * static_cast<u32>(sign24(b)));
}
KFDEMU_INLINE u32 mul24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
KFDEMU_INLINE i64 wide_mul24(i32 a, i32 b) { return static_cast<i64>(sign24(a)) * sign24(b); }
KFDEMU_INLINE u64 wide_mul24(u32 a, u32 b) { return static_cast<u64>(a & 0xffffff) * (b & 0xffffff); }

KFDEMU_INLINE i32 wrap_add(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b)); }
KFDEMU_INLINE i32 wrap_sub(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) - static_cast<u32>(b)); }
KFDEMU_INLINE i32 wrap_mul(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) * static_cast<u32>(b)); }
/// Whether the signed sum a + b = sum (or difference a - b = rest) overflowed.
KFDEMU_INLINE bool add_overflows(i32 a, i32 b, i32 sum) { return ((a ^ sum) & (b ^ sum)) < 0; }
KFDEMU_INLINE bool sub_overflows(i32 a, i32 b, i32 rest) { return ((a ^ b) & (a ^ rest)) < 0; }

// With CLAMP, integers saturate.
KFDEMU_INLINE u32 add_u32(u32 a, u32 b, bool clamp) {
    const u32 sum = a + b;
    return clamp && sum < a ? ~0u : sum;
}
KFDEMU_INLINE u32 sub_u32(u32 a, u32 b, bool clamp) { return clamp && a < b ? 0 : a - b; }
KFDEMU_INLINE i32 add_i32(i32 a, i32 b, bool clamp) {
    const i32 sum = wrap_add(a, b);
    return clamp && add_overflows(a, b, sum) ? (a < 0 ? -0x7fffffff - 1 : 0x7fffffff) : sum;
}
KFDEMU_INLINE i32 sub_i32(i32 a, i32 b, bool clamp) {
    const i32 rest = wrap_sub(a, b);
    return clamp && sub_overflows(a, b, rest) ? (a < 0 ? -0x7fffffff - 1 : 0x7fffffff) : rest;
}
KFDEMU_INLINE u32 saturated_u32(u64 v, bool clamp) { return clamp && v > 0xffffffff ? ~0u : static_cast<u32>(v); }
KFDEMU_INLINE i32 saturated_i32(i64 v, bool clamp) {
    const i64 bounded = v > 0x7fffffff ? 0x7fffffff : v < -0x7fffffffll - 1 ? -0x7fffffffll - 1 : v;
    return static_cast<i32>(clamp ? bounded : v);
}
KFDEMU_INLINE u16 saturated_u16(i32 v, bool clamp) {
    return static_cast<u16>(clamp ? (v < 0 ? 0 : v > 65535 ? 65535 : v) : v);
}
KFDEMU_INLINE i16 saturated_i16(i32 v, bool clamp) {
    return static_cast<i16>(clamp ? (v < -32768 ? -32768 : v > 32767 ? 32767 : v) : v);
}
/// u16 * u16 + u16, which does not fit in an i32.
KFDEMU_INLINE u16 mad_u16(u32 a, u32 b, u32 c, bool clamp) {
    const u32 sum = a * b + c;
    const bool beyond = sum > 65535;
    return static_cast<u16>(clamp && beyond ? 65535 : sum);
}

template <class T>
KFDEMU_INLINE T min_of(T a, T b) {
    return a < b ? a : b;
}
template <class T>
KFDEMU_INLINE T max_of(T a, T b) {
    return a < b ? b : a;
}
template <class T>
KFDEMU_INLINE T median(T a, T b, T c) {
    return max_of(min_of(a, b), min_of(max_of(a, b), c));
}

KFDEMU_INLINE u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }
KFDEMU_INLINE u32 byte_of(u32 v, unsigned n) { return (v >> (8 * n)) & 0xff; }
KFDEMU_INLINE u32 sum_of_distances(u32 a, u32 b) {
    return distance(byte_of(a, 0), byte_of(b, 0)) + distance(byte_of(a, 1), byte_of(b, 1)) +
           distance(byte_of(a, 2), byte_of(b, 2)) + distance(byte_of(a, 3), byte_of(b, 3));
}
/// Bytes whose reference is 0 are skipped.
KFDEMU_INLINE u32 masked_sum_of_distances(u32 a, u32 reference) {
    u32 sum = 0;
    for (unsigned n = 0; n < 4; ++n) {
        const u32 r = byte_of(reference, n);
        sum += r ? distance(byte_of(a, n), r) : 0;
    }
    return sum;
}
/// V_QSAD_PK_U16_U8, V_MQSAD_PK_U16_U8: four windows of a, each compared with b, added to four 16-bit sums.
template <bool masked>
KFDEMU_INLINE u64 packed_sums(u64 a, u32 b, u64 c, bool clamp) {
    u64 result = 0;
    for (unsigned n = 0; n < 4; ++n) {
        const u32 window = static_cast<u32>(a >> (8 * n));
        const u32 sad = masked ? masked_sum_of_distances(window, b) : sum_of_distances(window, b);
        const u32 sum = sad + (static_cast<u32>(c >> (16 * n)) & 0xffff);
        result |= static_cast<u64>(clamp && sum > 0xffff ? 0xffff : sum & 0xffff) << (16 * n);
    }
    return result;
}
KFDEMU_INLINE Quad::V masked_sums(u64 a, u32 b, Quad::V c, bool clamp) {
    Quad::V result;
    for (unsigned n = 0; n < 4; ++n) {
        const u32 sad = masked_sum_of_distances(static_cast<u32>(a >> (8 * n)), b);
        result.dword[n] = add_u32(sad, c.dword[n], clamp);
    }
    return result;
}

/// Averages four bytes; the low bit of each byte of `round` adds one half.
KFDEMU_INLINE u32 average_bytes(u32 a, u32 b, u32 round) {
    u32 result = 0;
    for (unsigned n = 0; n < 4; ++n) {
        result |= ((byte_of(a, n) + byte_of(b, n) + (byte_of(round, n) & 1)) >> 1) << (8 * n);
    }
    return result;
}
/// V_PERM_B32: selectors name bytes of {a, b} (b is bytes 0-3), signs of 16-bit halves (8-11), 0 (12) or 255 (13 and
/// above).
KFDEMU_INLINE u32 permuted(u32 a, u32 b, u32 selectors) {
    const u64 both = static_cast<u64>(a) << 32 | b;
    u32 result = 0;
    for (unsigned n = 0; n < 4; ++n) {
        const u32 s = byte_of(selectors, n);
        const u32 plain = static_cast<u32>(both >> (8 * (s & 7))) & 0xff;
        const u32 sign = (both >> (16 * (s & 3) + 15)) & 1 ? 0xff : 0;
        result |= (s < 8 ? plain : s < 12 ? sign : s == 12 ? 0 : 0xffu) << (8 * n);
    }
    return result;
}

KFDEMU_INLINE u32 pack16(u32 low, u32 high) { return (low & 0xffff) | high << 16; }

/// Sets all bits of each group of four in which any bit is set (whole quad mode).
KFDEMU_INLINE u64 whole_quads(u64 v) {
    const u64 any = (v | v >> 1 | v >> 2 | v >> 3) & 0x1111111111111111;
    return any * 15;
}
/// One bit per group of four.
KFDEMU_INLINE u64 quad_mask(u64 v) {
    u64 result = 0;
    for (unsigned n = 0; n < 16; ++n) result |= static_cast<u64>(((v >> (4 * n)) & 15) != 0) << n;
    return result;
}
KFDEMU_INLINE u64 doubled_bits(u32 v) {
    u64 result = 0;
    for (unsigned n = 0; n < 32; ++n) result |= static_cast<u64>((v >> n) & 1) * 3 << (2 * n);
    return result;
}

/// Two numbers, each limited to a byte.
KFDEMU_INLINE u16 packed_bytes(i32 low, i32 high, i32 least, i32 most) {
    const auto byte = [=](i32 v) { return static_cast<u32>(v < least ? least : v > most ? most : v) & 0xff; };
    return static_cast<u16>(byte(low) | byte(high) << 8);
}
/// Each bit by a table of its three: bit 4 * a + 2 * b + c of it.
KFDEMU_INLINE u32 by_table(u32 a, u32 b, u32 c, u32 table) {
    const auto all = [=](u32 n) { return 0 - (table >> n & 1); };
    const u32 neither = (all(0) & ~c) | (all(1) & c), second = (all(2) & ~c) | (all(3) & c);
    const u32 first = (all(4) & ~c) | (all(5) & c), both_of = (all(6) & ~c) | (all(7) & c);
    return (~a & ((~b & neither) | (b & second))) | (a & ((~b & first) | (b & both_of)));
}
KFDEMU_INLINE i32 shifted_signed(i32 v, u32 by) { return v >> (by & 31); }

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
