// Whole numbers of 8 to 128 bits.
#define UNIT "integers"
#include "twin.hpp"

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

KERNEL(arithmetic_u32, u32, u32, u32, .out = 4) {
    const u32 i = global_id(), x = a[i], y = b[i];
    out[i * 4] = x + y * 3 - (x ^ y);
    out[i * 4 + 1] = (x - y) * (x + y);
    out[i * 4 + 2] = (x & y) + (x | ~y);
    out[i * 4 + 3] = x * 2654435761u + (y << 7) - (y >> 3);
}

KERNEL(arithmetic_i64, i64, i64, i64, .out = 3) {
    const u32 i = global_id();
    const u64 x = u64(a[i]), y = u64(b[i]);
    out[i * 3] = i64(x + y - (x ^ 0x123456789abcdefu));
    out[i * 3 + 1] = i64(x * y + 77);
    out[i * 3 + 2] = a[i] < b[i] ? i64(-x) : i64(y | x);
}

KERNEL(divide_32, i32, i32, i32, .out = 4) {
    const u32 i = global_id();
    const u32 ux = u32(a[i]), uy = b[i] == 0 ? 7 : u32(b[i]);
    const i32 y = b[i] == 0 || b[i] == -1 ? 13 : b[i];
    out[i * 4] = i32(ux / uy);
    out[i * 4 + 1] = i32(ux % uy);
    out[i * 4 + 2] = a[i] / y;
    out[i * 4 + 3] = a[i] % y;
}

KERNEL(divide_64, i64, i64, i64, .out = 4) {
    const u32 i = global_id();
    const u64 ux = u64(a[i]), uy = b[i] == 0 ? 7 : u64(b[i]);
    const i64 y = b[i] == 0 || b[i] == -1 ? 13 : b[i];
    out[i * 4] = i64(ux / uy);
    out[i * 4 + 1] = i64(ux % uy);
    out[i * 4 + 2] = a[i] / y;
    out[i * 4 + 3] = a[i] % y;
}

KERNEL(divide_by_constants, i32, i64, i64, .out = 6) {
    const u32 i = global_id();
    out[i * 6] = u32(a[i]) / 10 + u32(a[i]) % 7;
    out[i * 6 + 1] = a[i] / 3 - a[i] % 1000;
    out[i * 6 + 2] = i64(u64(b[i]) / 10);
    out[i * 6 + 3] = b[i] % 1'000'000'007;
    out[i * 6 + 4] = b[i] / 16;
    out[i * 6 + 5] = i16(a[i]) / 11 + u8(b[i]) % 13;
}

KERNEL(multiply_high, u32, u64, u64, .out = 4) {
    const u32 i = global_id(), x = a[i], y = u32(b[i]);
    const u64 w = b[i] * 0x9e3779b97f4a7c15u;
    out[i * 4] = u64{x} * y >> 32;
    out[i * 4 + 1] = u64(i64{i32(x)} * i32(y)) >> 32;
    out[i * 4 + 2] = u64(u128(w) * b[i] >> 64);
    out[i * 4 + 3] = u64(i128(i64(w)) * i64(b[i]) >> 64);
}

KERNEL(wide_128, u64, u64, u64, .out = 4) {
    const u32 i = global_id();
    u128 x = u128{a[i]} << 64 | b[i], y = u128{b[i]} << 64 | ~a[i];
    for (u32 k = 0; k < 5; ++k) {
        x = x * y + k;
        y = (y >> (i & 127)) ^ (x << (b[i] & 127));
        if (x < y) x -= y;
    }
    out[i * 4] = u64(x);
    out[i * 4 + 1] = u64(x >> 64);
    out[i * 4 + 2] = u64(y);
    out[i * 4 + 3] = u64(y >> 64);
}

KERNEL(shifts_32, u32, u32, u32, .out = 5) {
    const u32 i = global_id(), x = a[i], by = b[i];
    out[i * 5] = by < 32 ? x << by : 0;
    out[i * 5 + 1] = by < 32 ? x >> by : 0;
    out[i * 5 + 2] = u32(i32(x) >> (by < 32 ? by : 31));
    out[i * 5 + 3] = rotate_left(x, by) ^ rotate_right(x, by + 5);
    out[i * 5 + 4] = u32((u64{x} << 32 | by) >> (by & 31));
}

KERNEL(shifts_64, u64, u32, u64, .out = 4) {
    const u32 i = global_id(), by = b[i];
    const u64 x = a[i];
    out[i * 4] = by < 64 ? x << by : 0;
    out[i * 4 + 1] = by < 64 ? x >> by : 0;
    out[i * 4 + 2] = u64(i64(x) >> (by < 64 ? by : 63));
    out[i * 4 + 3] = rotate_left64(x, by);
}

KERNEL(bit_counts, u32, u64, u32, .out = 8) {
    const u32 i = global_id(), x = a[i];
    const u64 w = b[i];
    out[i * 8] = u32(__builtin_popcount(x));
    out[i * 8 + 1] = u32(__builtin_popcountl(w));
    out[i * 8 + 2] = x == 0 ? 32 : u32(__builtin_clz(x));
    out[i * 8 + 3] = w == 0 ? 64 : u32(__builtin_clzl(w));
    out[i * 8 + 4] = x == 0 ? 32 : u32(__builtin_ctz(x));
    out[i * 8 + 5] = w == 0 ? 64 : u32(__builtin_ctzl(w));
    out[i * 8 + 6] = u32(__builtin_parity(x));
    const u32 signs = i32(x) < 0 ? ~x : x;
    out[i * 8 + 7] = signs == 0 ? 31 : u32(__builtin_clz(signs)) - 1;
}

static inline u32 spread(u32 v) {
    v = (v | v << 8) & 0x00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f;
    v = (v | v << 2) & 0x33333333;
    return (v | v << 1) & 0x55555555;
}
static inline u64 swapped(u64 v) {
#if __clang_major__ >= 22 && (defined(__GFX11__) || defined(__GFX12__))
    // At -O0, clang 22 moves the lower halves alone of the registers whose bytes it swaps then.
    return u64(__builtin_bswap32(u32(v))) << 32 | __builtin_bswap32(u32(v >> 32));
#else
    return __builtin_bswap64(v);
#endif
}
KERNEL(bit_orders, u32, u64, u64, .out = 5) {
    const u32 i = global_id(), x = a[i];
    out[i * 5] = reversed(x);
    out[i * 5 + 1] = reversed(b[i]);
    out[i * 5 + 2] = __builtin_bswap32(x) ^ u64(__builtin_bswap16(u16(x))) << 40;
    out[i * 5 + 3] = swapped(b[i]);
    out[i * 5 + 4] = spread(x & 0xffff) | spread(x >> 16) << 1;
}

struct Fields {
    u32 low : 3, middle : 11;
    i32 sign : 7, wide : 11;
};
KERNEL(bit_fields, u32, u32, u32, .out = 3) {
    const u32 i = global_id();
    Fields f = bits_as<Fields>(a[i]);
    out[i * 3] = f.low * 1000 + f.middle;
    out[i * 3 + 1] = u32(f.sign * 5000 + f.wide);
    f.middle = b[i] & 0x7ff;
    f.sign = i32(b[i] << 3) >> 25;
    f.low = f.low + 1;
    out[i * 3 + 2] = bits_as<u32>(f);
}

KERNEL(narrow_16, i16, u16, u16, .out = 5) {
    const u32 i = global_id();
    const i16 x = a[i];
    const u16 y = b[i];
    out[i * 5] = u16(x * y + 3);
    out[i * 5 + 1] = u16(x >> (y & 15));
    out[i * 5 + 2] = u16(smaller(x, i16(y)) + larger(u16(x), y));
    out[i * 5 + 3] = u16(y / (u16(x) | 1) + x % 37);
    out[i * 5 + 4] = u16(u16(y << 3) >> 5 | u16(x - y) << 9);
}

KERNEL(narrow_8, i8, u8, i8, .a = 4, .b = 4, .out = 4) {
    const u32 i = global_id() * 4;
    for (u32 k = 0; k < 4; ++k) {
        const i8 x = a[i + k];
        const u8 y = b[i + k];
        const i32 sum = x + y - 128;
        out[i + k] = i8(k == 0   ? (sum > 127    ? 127
                                    : sum < -128 ? -128
                                                 : sum)
                        : k == 1 ? x * y >> 4
                        : k == 2 ? x ^ y
                                 : (x >> 2) + (y >> 2));
    }
}

KERNEL(saturating, i32, i32, i32, .out = 4) {
    const u32 i = global_id();
    i32 r;
    out[i * 4] = __builtin_add_overflow(a[i], b[i], &r) ? (a[i] < 0 ? -0x7fffffff - 1 : 0x7fffffff) : r;
    out[i * 4 + 1] = __builtin_sub_overflow(a[i], b[i], &r) ? (a[i] < 0 ? -0x7fffffff - 1 : 0x7fffffff) : r;
    u32 u;
    out[i * 4 + 2] = __builtin_add_overflow(u32(a[i]), u32(b[i]), &u) ? -1 : i32(u);
    out[i * 4 + 3] = __builtin_sub_overflow(u32(a[i]), u32(b[i]), &u) ? 0 : i32(u);
}

KERNEL(byte_permutations, u32, u32, u32, .out = 4) {
    const u32 i = global_id();
    out[i * 4] = permuted_bytes(a[i], b[i], (a[i] * 0x01030507 + i * 0x11) & 0x0f0f0f0f);
    out[i * 4 + 1] = permuted_bytes(a[i], b[i], 0x0c0b0d08);
    out[i * 4 + 2] = bytes_difference(a[i], b[i], i);
    out[i * 4 + 3] = aligned_bytes(a[i], b[i], i & 3);
}

KERNEL(greatest_common_divisor, u32, u32, u32) {
    const u32 i = global_id();
    u32 x = a[i], y = b[i];
    while (y != 0) {
        const u32 rest = x % y;
        x = y;
        y = rest;
    }
    out[i] = x;
}

KERNEL(collatz, u32, u32, u32, .a_values = differential::Values::Tame) {
    const u32 i = global_id();
    u64 v = a[i] + 1;
    u32 steps = 0;
    for (; v != 1; ++steps) v = v & 1 ? 3 * v + 1 : v >> 1;
    out[i] = steps;
}

KERNEL(modular_power, u64, u32, u64) {
    const u32 i = global_id();
    const u64 modulus = 0x7fffffff;
    u64 base = a[i] % modulus, result = 1;
    for (u32 e = b[i]; e != 0; e >>= 1) {
        if (e & 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    out[i] = result;
}

KERNEL(decimal_text, i64, u32, u8, .out = 24) {
    const u32 i = global_id();
    u64 v = a[i] < 0 ? 0 - u64(a[i]) : u64(a[i]);
    u32 at = 23;
    do {
        out[i * 24 + at--] = u8('0' + v % 10);
        v /= 10;
    } while (v != 0);
    if (a[i] < 0) out[i * 24 + at] = '-';
}

KERNEL(integer_square_root, u64, u32, u32) {
    const u32 i = global_id();
    u64 rest = a[i], root = 0;
    for (u64 bit = u64{1} << 62; bit != 0; bit >>= 2) {
        const bool fits = rest >= root + bit;
        if (fits) rest -= root + bit;
        root = (root >> 1) + (fits ? bit : 0);
    }
    out[i] = u32(root);
}

#if HAS_CLANG(19)
/// There is no library for it: the compiler divides by itself, since clang 17.
KERNEL(divide_128, u64, u64, u64, .items = 128, .out = 6, .from_clang = 19) {
    const u32 i = global_id();
    const u128 x = u128{a[i]} << 64 | b[i], y = (u128{b[i]} << 64 | a[i]) >> (a[i] & 127);
    const i128 sx = i128(x), sy = i128(~x >> (b[i] & 63)) - 5;
    const u128 quotient = x / (y | 1), rest = x % (y | 1);
    const i128 signed_quotient = sx / (sy | 2);
    u64* o = out + i * 6;
    o[0] = u64(quotient);
    o[1] = u64(quotient >> 64);
    o[2] = u64(rest);
    o[3] = u64(rest >> 64);
    o[4] = u64(signed_quotient);
    o[5] = u64(u128(signed_quotient) >> 64);
}
#endif

#undef UNIT
