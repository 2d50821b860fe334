// Functions of three 64-bit values, compiled for the host and for the device: the results have to be the same, bit for
// bit.
// A row is OPERATION(name, expression of a, b and c). NaNs count as one value, since their bits are each machine's own.
#pragma once

typedef unsigned u32_t;
typedef unsigned long u64_t;
typedef int i32_t;
typedef long i64_t;

static inline u32_t low(u64_t v) { return static_cast<u32_t>(v); }
static inline i32_t ilow(u64_t v) { return static_cast<i32_t>(v); }
static inline float f32(u64_t v) { return __builtin_bit_cast(float, low(v)); }
static inline double f64(u64_t v) { return __builtin_bit_cast(double, v); }
/// Signalling NaNs quieted: whether minimum and maximum see them is the compiler's choice.
static inline float calm(u64_t v) { return f32(v) != f32(v) ? __builtin_nanf("") : f32(v); }
static inline double calm64(u64_t v) { return f64(v) != f64(v) ? __builtin_nan("") : f64(v); }
static inline u64_t bits(float v) { return v != v ? 0x7fc00000u : __builtin_bit_cast(u32_t, v); }
static inline u64_t bits(double v) { return v != v ? 0x7ff8000000000000u : __builtin_bit_cast(u64_t, v); }
static inline u32_t nonzero(u64_t v) { return low(v) | 1; }
/// Small enough for any conversion to an integer.
static inline float tame(u64_t v) { return static_cast<float>(ilow(v)) / 64.0f; }
static inline double tame64(u64_t v) { return static_cast<double>(static_cast<i64_t>(v)) / 1024.0; }

#define OPERATIONS(OPERATION)                                                                                       \
    OPERATION(add32, low(a) + low(b))                                                                               \
    OPERATION(sub32, low(a) - low(b))                                                                               \
    OPERATION(mul32, low(a) * low(b))                                                                               \
    OPERATION(mad32, low(a) * low(b) + low(c))                                                                      \
    OPERATION(mul_high_u, static_cast<u64_t>(low(a)) * low(b) >> 32)                                                \
    OPERATION(mul_high_i, static_cast<u64_t>(static_cast<i64_t>(ilow(a)) * ilow(b)) >> 32)                          \
    OPERATION(mul24, (low(a) & 0xffffff) * (low(b) & 0xffffff) + low(c))                                            \
    OPERATION(mul_i24, static_cast<u32_t>((ilow(a) << 8 >> 8)) * static_cast<u32_t>((ilow(b) << 8 >> 8)))           \
    OPERATION(div_u, low(a) / nonzero(b))                                                                           \
    OPERATION(rem_u, low(a) % nonzero(b))                                                                           \
    OPERATION(div_i, static_cast<u32_t>(ilow(a) / ((ilow(b) & ~1) | 2)))                                            \
    OPERATION(rem_i, static_cast<u32_t>(ilow(a) % ((ilow(b) & ~1) | 2)))                                            \
    OPERATION(shl32, low(a) << (b & 31))                                                                            \
    OPERATION(shr32, low(a) >> (b & 31))                                                                            \
    OPERATION(sar32, static_cast<u32_t>(ilow(a) >> (b & 31)))                                                       \
    OPERATION(rotate32, low(a) << (b & 31) | low(a) >> (-b & 31))                                                   \
    OPERATION(funnel, low((a << 32 | low(b)) >> (c & 31)))                                                          \
    OPERATION(bit_extract, low(a) >> (b & 31) & ((1u << (c & 31)) - 1))                                             \
    OPERATION(bit_insert, (low(a) & low(b)) | (low(c) & ~low(b)))                                                   \
    OPERATION(logic3, (low(a) | low(b)) & ~low(c))                                                                  \
    OPERATION(xor_add, (low(a) ^ low(b)) + low(c))                                                                  \
    OPERATION(or3, low(a) | low(b) | low(c))                                                                        \
    OPERATION(shift_add, (low(a) << 3) + low(b))                                                                    \
    OPERATION(add_shift, (low(a) + low(b)) << 5)                                                                    \
    OPERATION(min_u, low(a) < low(b) ? low(a) : low(b))                                                             \
    OPERATION(max_i, static_cast<u32_t>(ilow(a) > ilow(b) ? ilow(a) : ilow(b)))                                     \
    OPERATION(clamp_i, static_cast<u32_t>(ilow(a) < -1000 ? -1000 : ilow(a) > 77777 ? 77777 : ilow(a)))             \
    OPERATION(leading, low(a) == 0 ? 32u : static_cast<u32_t>(__builtin_clz(low(a))))                               \
    OPERATION(trailing, low(a) == 0 ? 32u : static_cast<u32_t>(__builtin_ctz(low(a))))                              \
    OPERATION(population, static_cast<u32_t>(__builtin_popcount(low(a)) + __builtin_popcountl(b)))                  \
    OPERATION(byte_swap, __builtin_bswap32(low(a)) ^ __builtin_bswap64(b))                                          \
    OPERATION(bytes, (a & 0xff) + (b >> 8 & 0xff) * 3 + (c >> 16 & 0xff) * 5)                                       \
    OPERATION(signed_bytes, static_cast<u32_t>(static_cast<signed char>(a) * static_cast<signed char>(b)))          \
    OPERATION(halves, static_cast<unsigned short>(a * 3 + b) >> (c & 7))                                            \
    OPERATION(signed_halves, static_cast<u32_t>(static_cast<short>(a) * static_cast<short>(b) >> 5))                \
    OPERATION(compare_halves, static_cast<short>(a) < static_cast<short>(b) ? a : b)                                \
    OPERATION(add64, a + b)                                                                                         \
    OPERATION(sub64, a - b)                                                                                         \
    OPERATION(mul64, a* b)                                                                                          \
    OPERATION(div64, a / (b >> (c & 63) | 1))                                                                       \
    OPERATION(rem64, a % (b >> (c & 63) | 1))                                                                       \
    OPERATION(div_i64, static_cast<u64_t>(static_cast<i64_t>(a) / ((static_cast<i64_t>(b) >> (c & 63) & ~1l) | 2))) \
    OPERATION(shl64, a << (b & 63))                                                                                 \
    OPERATION(shr64, a >> (b & 63))                                                                                 \
    OPERATION(sar64, static_cast<u64_t>(static_cast<i64_t>(a) >> (b & 63)))                                         \
    OPERATION(less64, static_cast<i64_t>(a) < static_cast<i64_t>(b) ? c : a)                                        \
    OPERATION(above64, a > b ? c : b)                                                                               \
    OPERATION(leading64, a == 0 ? 64u : static_cast<u32_t>(__builtin_clzl(a)))                                      \
    OPERATION(loop, [&] {                                                                                           \
        u64_t s = 0;                                                                                                \
        for (u32_t i = 0; i < (b & 15); ++i) s = s * 31 + (a >> i);                                                 \
        return s;                                                                                                   \
    }())                                                                                                            \
    OPERATION(branches, (a & 1) ? ((b & 2) ? a * 3 : b + 1) : ((c & 4) ? a - c : a ^ b))                            \
    OPERATION(fadd, bits(f32(a) + f32(b)))                                                                          \
    OPERATION(fsub, bits(f32(a) - f32(b)))                                                                          \
    OPERATION(fmul, bits(f32(a) * f32(b)))                                                                          \
    OPERATION(fdiv, bits(f32(a) / f32(b)))                                                                          \
    OPERATION(fmad, bits(f32(a) * f32(b) + f32(c)))                                                                 \
    OPERATION(ffma, bits(__builtin_fmaf(f32(a), f32(b), f32(c))))                                                   \
    OPERATION(fsqrt, bits(__builtin_sqrtf(f32(a))))                                                                 \
    OPERATION(fneg_abs, bits(-__builtin_fabsf(f32(a)) * f32(b)))                                                    \
    OPERATION(fcopysign, bits(__builtin_copysignf(f32(a), f32(b))))                                                 \
    OPERATION(fmin, f32(a) == f32(b) ? 0 : bits(__builtin_fminf(calm(a), calm(b))))                                 \
    OPERATION(fmax, f32(a) == f32(b) ? 0 : bits(__builtin_fmaxf(calm(a), calm(b))))                                 \
    OPERATION(ffloor, bits(__builtin_floorf(tame(a))))                                                              \
    OPERATION(fceil, bits(__builtin_ceilf(f32(a))))                                                                 \
    OPERATION(ftrunc, bits(__builtin_truncf(f32(a))))                                                               \
    OPERATION(frint, bits(__builtin_rintf(f32(a))))                                                                 \
    OPERATION(fcompare, (f32(a) < f32(b)) | (f32(a) <= f32(b)) << 1 | (f32(a) == f32(b)) << 2 |                     \
                            (f32(a) != f32(b)) << 3 | (f32(a) >= f32(b)) << 4 | !(f32(a) < f32(b)) << 5 |           \
                            __builtin_isunordered(f32(a), f32(b)) << 6)                                             \
    OPERATION(from_i32, bits(static_cast<float>(ilow(a))))                                                          \
    OPERATION(from_u32, bits(static_cast<float>(low(a))))                                                           \
    OPERATION(from_i64, bits(static_cast<float>(static_cast<i64_t>(a))))                                            \
    OPERATION(from_u64, bits(static_cast<float>(a)))                                                                \
    OPERATION(from_byte, bits(static_cast<float>(a & 0xff) + static_cast<float>(a >> 24 & 0xff)))                   \
    OPERATION(to_i32, static_cast<u32_t>(static_cast<i32_t>(tame(a))))                                              \
    OPERATION(to_u32, static_cast<u32_t>(__builtin_fabsf(tame(a))))                                                 \
    OPERATION(to_i64, static_cast<u64_t>(static_cast<i64_t>(tame(a) * 1e6f)))                                       \
    OPERATION(polynomial, bits(((tame(a) * 0.25f + 1.5f) * tame(a) - tame(b)) * tame(c) + 3.0f))                    \
    OPERATION(dadd, bits(f64(a) + f64(b)))                                                                          \
    OPERATION(dmul, bits(f64(a) * f64(b)))                                                                          \
    OPERATION(ddiv, bits(f64(a) / f64(b)))                                                                          \
    OPERATION(dfma, bits(__builtin_fma(f64(a), f64(b), f64(c))))                                                    \
    OPERATION(dsqrt, bits(__builtin_sqrt(f64(a))))                                                                  \
    OPERATION(dfloor, bits(__builtin_floor(f64(a))))                                                                \
    OPERATION(dceil, bits(__builtin_ceil(tame64(a))))                                                               \
    OPERATION(drint, bits(__builtin_rint(tame64(a))))                                                               \
    OPERATION(dmin, f64(a) == f64(b) ? 0 : bits(__builtin_fmin(calm64(a), calm64(b))))                              \
    OPERATION(dcompare, (f64(a) < f64(b)) | (f64(a) >= f64(b)) << 1 | (f64(a) == f64(b)) << 2)                      \
    OPERATION(d_from_i32, bits(static_cast<double>(ilow(a))))                                                       \
    OPERATION(d_from_u32, bits(static_cast<double>(low(a))))                                                        \
    OPERATION(d_from_i64, bits(static_cast<double>(static_cast<i64_t>(a))))                                         \
    OPERATION(d_from_u64, bits(static_cast<double>(a)))                                                             \
    OPERATION(d_to_i32, static_cast<u32_t>(static_cast<i32_t>(tame(a) * 0.5)))                                      \
    OPERATION(d_to_i64, static_cast<u64_t>(static_cast<i64_t>(tame64(a))))                                          \
    OPERATION(d_to_u64, static_cast<u64_t>(__builtin_fabs(tame64(a))))                                              \
    OPERATION(narrow, bits(static_cast<float>(f64(a))))                                                             \
    OPERATION(widen, bits(static_cast<double>(f32(a))))

#define DEFINE(name, expression)                                                                                  \
    static inline u64_t op_##name([[maybe_unused]] u64_t a, [[maybe_unused]] u64_t b, [[maybe_unused]] u64_t c) { \
        return static_cast<u64_t>(expression);                                                                    \
    }
OPERATIONS(DEFINE)
#undef DEFINE
