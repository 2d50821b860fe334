// Matrix multiply-add and dot products. Factors are bytes, whatever type they are widened to, so that every sum is
// exact in whichever order it is made.
#define UNIT "matrices"
#include "twin.hpp"

// How the factors that a lane holds are handed over.
enum class Factor { Single, Half, Brain, Byte, Double, Byte8, Byte16, Float8, BFloat8, Float8x32 };

/// The integers that the factor's type has: as in the argument, or few.
template <Factor kFactor>
static inline i32 narrowed(i8 x) {
    return kFactor == Factor::Float8 || kFactor == Factor::Float8x32 ? (x & 31) - 16
           : kFactor == Factor::BFloat8                              ? (x & 15) - 8
                                                                     : i32(x);
}

#if defined(__AMDGCN__)

template <class T, u32 kCount>
struct VectorOf {
    typedef T type __attribute__((ext_vector_type(kCount)));
};
template <class T>
struct VectorOf<T, 1> {
    typedef T type;
};

struct Yes {
    static constexpr bool value = true;
};
struct No {
    static constexpr bool value = false;
};

template <Factor kFactor, u32 kCount>
static inline auto packed(const i8* from) {
    if constexpr (kFactor == Factor::Single && kCount == 1) {
        return f32(from[0]);
    } else if constexpr (kFactor == Factor::Double) {
        return f64(from[0]);
    } else if constexpr (kFactor == Factor::Byte) {
        u32 word = 0;
        for (u32 k = 0; k < 4; ++k) word |= u32(u8(from[k])) << 8 * k;
        return i32(word);
    } else if constexpr (kFactor == Factor::Byte8) {
        i64 word;
        __builtin_memcpy(&word, from, sizeof word);
        return word;
    } else if constexpr (kFactor == Factor::Byte16) {
        typename VectorOf<i32, 4>::type words;
        __builtin_memcpy(&words, from, sizeof words);
        return words;
#if HAS_GFX(950)
    } else if constexpr (kFactor == Factor::Float8x32) {
        typename VectorOf<i32, 8>::type words;
        for (u32 k = 0; k < 8; k += 2) {
            const i64 two = packed<Factor::Float8, 8>(from + 4 * k);
            words[k] = i32(two), words[k + 1] = i32(two >> 32);
        }
        return words;
#endif
#if HAS_GFX(942)
    } else if constexpr (kFactor == Factor::Float8 || kFactor == Factor::BFloat8) {
        const auto pair = [&](u32 k, i32 old, auto high) {
            const f32 low = f32(narrowed<kFactor>(from[k])), next = f32(narrowed<kFactor>(from[k + 1]));
            if constexpr (kFactor == Factor::Float8)
                return __builtin_amdgcn_cvt_pk_fp8_f32(low, next, old, decltype(high)::value);
            else
                return __builtin_amdgcn_cvt_pk_bf8_f32(low, next, old, decltype(high)::value);
        };
        const i32 words[2] = {pair(2, pair(0, 0, No{}), Yes{}), pair(6, pair(4, 0, No{}), Yes{})};
        i64 all;
        __builtin_memcpy(&all, words, sizeof all);
        return all;
#endif
    } else if constexpr (kFactor == Factor::Single) {
        return typename VectorOf<f32, 2>::type{f32(from[0]), f32(from[1])};
    } else if constexpr (kFactor == Factor::Half) {
        typename VectorOf<f16, kCount>::type halves;
        for (u32 k = 0; k < kCount; ++k) halves[k] = f16(from[k]);
        return halves;
    } else {
        typename VectorOf<i16, kCount>::type upper;
        for (u32 k = 0; k < kCount; ++k) upper[k] = i16(bits_as<u32>(f32(from[k])) >> 16);
#if HAS_GFX(950)
        typedef typename VectorOf<__bf16, kCount>::type Brains;
        if constexpr (kCount == 8)
            return __builtin_bit_cast(Brains, upper);
        else
#endif
            return upper;
    }
}

#define MULTIPLY(factor, instruction)                                                                        \
    typename VectorOf<Sum, kResults>::type c;                                                                \
    __builtin_memcpy(&c, sums, sizeof c);                                                                    \
    c = __builtin_amdgcn_mfma_##instruction(packed<Factor::factor, kFactors>(a + i * kFactors),              \
                                            packed<Factor::factor, kFactors>(b + i * kFactors), c, 0, 0, 0); \
    __builtin_memcpy(sums, &c, sizeof c);

// Scales of 4 and of a quarter. Whichever depth an element has, that of the other factor has the same.
#define MULTIPLY_FORMATS(shape)                                                                                 \
    typename VectorOf<Sum, kResults>::type c;                                                                   \
    __builtin_memcpy(&c, sums, sizeof c);                                                                       \
    c = __builtin_amdgcn_mfma_scale_f32_##shape##_f8f6f4(packed<Factor::Float8x32, 32>(a + i * 32),             \
                                                         packed<Factor::Float8x32, 32>(b + i * 32), c, 0, 0, 0, \
                                                         0x81818181, 0, 0x7d7d7d7d);                            \
    __builtin_memcpy(sums, &c, sizeof c);

#else

/// Where the elements of A, B, C and D lie: the MI200 ISA manual, "Matrix Arithmetic Instructions". Lanes of one depth
/// group stand together, in it block after block, row after row. What a lane has of C and D is one column; its rows
/// come in fours, and those of doubles one by one.
template <Factor kFactor, u32 kRows, u32 kDepth, u32 kBlocks, class Sum>
static void multiply_in_wave(const i8* a, const i8* b, Sum* sums) {
    constexpr u32 factors = kRows * kDepth * kBlocks / 64, results = kRows * kRows * kBlocks / 64;
    constexpr u32 height = sizeof(Sum) == 8 ? 1 : 4;
    differential::Lanes left[32], right[32];
    for (u32 k = 0; k < factors; ++k) {
        left[k] = all_lanes(u32(narrowed<kFactor>(a[k])));
        right[k] = all_lanes(u32(narrowed<kFactor>(b[k])));
    }
    for (u32 r = 0; r < results; ++r) {
        u32 block, row, column = lane() % kRows;
        if constexpr (kRows == 4) {
            block = lane() / 4 % 16 % kBlocks;
            row = sizeof(Sum) == 8 ? lane() / 16 : r;
        } else {
            block = r / (kRows * kRows / 64);
            row = r % (kRows * kRows / 64) / height * height * (64 / kRows) + lane() / kRows * height + r % height;
        }
        for (u32 k = 0; k < kDepth; ++k) {
            const u32 first = k / factors * kRows * kBlocks + block * kRows;
            sums[r] += Sum(i32(left[k % factors][first + row]) * i32(right[k % factors][first + column]));
        }
    }
}
#define MULTIPLY(factor, instruction) \
    multiply_in_wave<Factor::factor, kRows, kDepth, kBlocks, Sum>(a + i * kFactors, b + i * kFactors, sums);

#define MULTIPLY_FORMATS(shape) MULTIPLY(Float8x32, )

#endif

#define MATRIX(name, rows, depth, blocks, Sum_, multiply, ...)                                                      \
    KERNEL(name, i8, i8, Sum_, .items = 256, .group = 128, .a = rows * depth * blocks / 64,                         \
           .b = rows * depth * blocks / 64, .out = rows * rows * blocks / 64, __VA_ARGS__) {                        \
        [[maybe_unused]] constexpr u32 kRows = rows, kDepth = depth, kBlocks = blocks,                              \
                                       kFactors = rows * depth * blocks / 64, kResults = rows * rows * blocks / 64; \
        typedef Sum_ Sum;                                                                                           \
        const u32 i = global_id();                                                                                  \
        Sum sums[kResults];                                                                                         \
        for (u32 k = 0; k < kResults; ++k) sums[k] = Sum(i32(k * 3) - i32(lane()));                                 \
        multiply;                                                                                                   \
        for (u32 k = 0; k < kResults; ++k) out[i * kResults + k] = sums[k];                                         \
    }
#define MFMA(name, factor, rows, depth, blocks, Sum, instruction, first_gfx, ...) \
    MATRIX(name, rows, depth, blocks, Sum, MULTIPLY(factor, instruction),         \
           .from_gfx = first_gfx __VA_OPT__(, .before_gfx =) __VA_ARGS__)
#define MFMA_FORMATS(name, rows, depth, shape) \
    MATRIX(name, rows, depth, 1, f32, MULTIPLY_FORMATS(shape), .from_gfx = 0x950)

#if HAS_GFX(908)
MFMA(mfma_f32_32x32x1, Single, 32, 1, 2, f32, f32_32x32x1f32, 0x908)
MFMA(mfma_f32_16x16x1, Single, 16, 1, 4, f32, f32_16x16x1f32, 0x908)
MFMA(mfma_f32_4x4x1, Single, 4, 1, 16, f32, f32_4x4x1f32, 0x908)
MFMA(mfma_f32_32x32x2, Single, 32, 2, 1, f32, f32_32x32x2f32, 0x908)
MFMA(mfma_f32_16x16x4, Single, 16, 4, 1, f32, f32_16x16x4f32, 0x908)
MFMA(mfma_f16_32x32x4, Half, 32, 4, 2, f32, f32_32x32x4f16, 0x908)
MFMA(mfma_f16_16x16x4, Half, 16, 4, 4, f32, f32_16x16x4f16, 0x908)
MFMA(mfma_f16_4x4x4, Half, 4, 4, 16, f32, f32_4x4x4f16, 0x908)
MFMA(mfma_f16_32x32x8, Half, 32, 8, 1, f32, f32_32x32x8f16, 0x908)
MFMA(mfma_f16_16x16x16, Half, 16, 16, 1, f32, f32_16x16x16f16, 0x908)
MFMA(mfma_i8_32x32x4, Byte, 32, 4, 2, i32, i32_32x32x4i8, 0x908)
MFMA(mfma_i8_16x16x4, Byte, 16, 4, 4, i32, i32_16x16x4i8, 0x908)
MFMA(mfma_i8_4x4x4, Byte, 4, 4, 16, i32, i32_4x4x4i8, 0x908)
#endif
#if HAS_GFX(90a)
MFMA(mfma_bf16_1k_32x32x4, Brain, 32, 4, 2, f32, f32_32x32x4bf16_1k, 0x90a)
MFMA(mfma_bf16_1k_16x16x4, Brain, 16, 4, 4, f32, f32_16x16x4bf16_1k, 0x90a)
MFMA(mfma_bf16_1k_4x4x4, Brain, 4, 4, 16, f32, f32_4x4x4bf16_1k, 0x90a)
MFMA(mfma_bf16_1k_32x32x8, Brain, 32, 8, 1, f32, f32_32x32x8bf16_1k, 0x90a)
MFMA(mfma_bf16_1k_16x16x16, Brain, 16, 16, 1, f32, f32_16x16x16bf16_1k, 0x90a)
MFMA(mfma_f64_16x16x4, Double, 16, 4, 1, f64, f64_16x16x4f64, 0x90a)
MFMA(mfma_f64_4x4x4, Double, 4, 4, 4, f64, f64_4x4x4f64, 0x90a)
#endif
#if HAS_GFX(908) && (!HAS_GFX(942) || defined(EVERY_GFX))
MFMA(mfma_bf16_32x32x2, Brain, 32, 2, 2, f32, f32_32x32x2bf16, 0x908, 0x942)
MFMA(mfma_bf16_16x16x2, Brain, 16, 2, 4, f32, f32_16x16x2bf16, 0x908, 0x942)
MFMA(mfma_bf16_4x4x2, Brain, 4, 2, 16, f32, f32_4x4x2bf16, 0x908, 0x942)
MFMA(mfma_bf16_32x32x4, Brain, 32, 4, 1, f32, f32_32x32x4bf16, 0x908, 0x942)
MFMA(mfma_bf16_16x16x8, Brain, 16, 8, 1, f32, f32_16x16x8bf16, 0x908, 0x942)
MFMA(mfma_i8_32x32x8, Byte, 32, 8, 1, i32, i32_32x32x8i8, 0x908, 0x942)
MFMA(mfma_i8_16x16x16, Byte, 16, 16, 1, i32, i32_16x16x16i8, 0x908, 0x942)
#endif
#if HAS_GFX(942)
MFMA(mfma_i8_16x16x32, Byte8, 16, 32, 1, i32, i32_16x16x32_i8, 0x942)
MFMA(mfma_i8_32x32x16, Byte8, 32, 16, 1, i32, i32_32x32x16_i8, 0x942)
MFMA(mfma_fp8_16x16x32, Float8, 16, 32, 1, f32, f32_16x16x32_fp8_fp8, 0x942)
MFMA(mfma_fp8_32x32x16, Float8, 32, 16, 1, f32, f32_32x32x16_fp8_fp8, 0x942)
MFMA(mfma_bf8_16x16x32, BFloat8, 16, 32, 1, f32, f32_16x16x32_bf8_bf8, 0x942)
MFMA(mfma_bf8_32x32x16, BFloat8, 32, 16, 1, f32, f32_32x32x16_bf8_bf8, 0x942)
#endif
#if HAS_GFX(942) && (!HAS_GFX(950) || defined(EVERY_GFX))
MFMA(mfma_xf32_16x16x8, Single, 16, 8, 1, f32, f32_16x16x8_xf32, 0x942, 0x950)
MFMA(mfma_xf32_32x32x4, Single, 32, 4, 1, f32, f32_32x32x4_xf32, 0x942, 0x950)
#endif
#if HAS_GFX(950)
MFMA(mfma_f16_16x16x32, Half, 16, 32, 1, f32, f32_16x16x32_f16, 0x950)
MFMA(mfma_f16_32x32x16, Half, 32, 16, 1, f32, f32_32x32x16_f16, 0x950)
MFMA(mfma_bf16_16x16x32, Brain, 16, 32, 1, f32, f32_16x16x32_bf16, 0x950)
MFMA(mfma_bf16_32x32x16, Brain, 32, 16, 1, f32, f32_32x32x16_bf16, 0x950)
MFMA(mfma_i8_16x16x64, Byte16, 16, 64, 1, i32, i32_16x16x64_i8, 0x950)
MFMA(mfma_i8_32x32x32, Byte16, 32, 32, 1, i32, i32_32x32x32_i8, 0x950)
MFMA_FORMATS(mfma_fp8_16x16x128, 16, 128, 16x16x128)
MFMA_FORMATS(mfma_fp8_32x32x64, 32, 64, 32x32x64)
#endif

/// Two tiles of 16 rows times two of 16 columns, over a depth of 64: what a matrix library's inner loop is.
#if HAS_GFX(908)
KERNEL(mfma_tiles, i8, i8, f32, .items = 64, .a = 32, .b = 32, .out = 16, .from_gfx = 0x908) {
    const u32 l = lane(), row = l % 16, part = l / 16;
#if defined(__AMDGCN__)
    typedef f32 Four __attribute__((ext_vector_type(4)));
    Four sums[2][2] = {};
    for (u32 k = 0; k < 64; k += 4)
        for (u32 y = 0; y < 2; ++y)
            for (u32 x = 0; x < 2; ++x)
                sums[y][x] =
                    __builtin_amdgcn_mfma_f32_16x16x4f32(f32(a[(y * 16 + row) * 64 + k + part]),
                                                         f32(b[(k + part) * 32 + x * 16 + row]), sums[y][x], 0, 0, 0);
#else
    f32 sums[2][2][4] = {};
    for (u32 y = 0; y < 2; ++y)
        for (u32 x = 0; x < 2; ++x)
            for (u32 r = 0; r < 4; ++r)
                for (u32 k = 0; k < 64; ++k)
                    sums[y][x][r] += f32(a[(y * 16 + part * 4 + r) * 64 + k] * b[k * 32 + x * 16 + row]);
#endif
    for (u32 y = 0; y < 2; ++y)
        for (u32 x = 0; x < 2; ++x)
            for (u32 r = 0; r < 4; ++r) out[(y * 16 + part * 4 + r) * 32 + x * 16 + row] = sums[y][x][int(r)];
}
#endif

#if HAS_GFX(906)

#if defined(__AMDGCN__)
#define DOT(name, Word, C) \
    template <bool kClamp> \
    static inline C name(u32 x, u32 y, C sum)
DOT(dot2_signed, i16x2, i32) { return __builtin_amdgcn_sdot2(bits_as<i16x2>(x), bits_as<i16x2>(y), sum, kClamp); }
DOT(dot2_unsigned, u16x2, u32) { return __builtin_amdgcn_udot2(bits_as<u16x2>(x), bits_as<u16x2>(y), sum, kClamp); }
DOT(dot4_signed, u32, i32) { return __builtin_amdgcn_sdot4(i32(x), i32(y), sum, kClamp); }
DOT(dot4_unsigned, u32, u32) { return __builtin_amdgcn_udot4(x, y, sum, kClamp); }
DOT(dot8_signed, u32, i32) { return __builtin_amdgcn_sdot8(i32(x), i32(y), sum, kClamp); }
DOT(dot8_unsigned, u32, u32) { return __builtin_amdgcn_udot8(x, y, sum, kClamp); }
static inline f32 dot2_halves(u32 x, u32 y, f32 sum) {
    return __builtin_amdgcn_fdot2(bits_as<f16x2>(x), bits_as<f16x2>(y), sum, false);
}
#else
/// The sum of the products of both words' parts, wrapped or clamped once.
template <class C, u32 kParts, bool kClamp>
static C dot(u32 x, u32 y, C sum) {
    constexpr u32 width = 32 / kParts;
    const auto part = [](u32 word, u32 k) {
        const u32 at_top = word << (32 - width * (k + 1));
        return C(-1) < C(0) ? i64(i32(at_top) >> (32 - width)) : i64(at_top >> (32 - width));
    };
    i64 all = i64(sum);
    for (u32 k = 0; k < kParts; ++k) all += part(x, k) * part(y, k);
    const i64 least = C(-1) < C(0) ? -0x80000000l : 0, most = C(-1) < C(0) ? 0x7fffffffl : 0xffffffffl;
    return C(kClamp ? smaller(larger(all, least), most) : all);
}
template <bool kClamp>
static i32 dot2_signed(u32 x, u32 y, i32 sum) {
    return dot<i32, 2, kClamp>(x, y, sum);
}
template <bool kClamp>
static u32 dot2_unsigned(u32 x, u32 y, u32 sum) {
    return dot<u32, 2, kClamp>(x, y, sum);
}
template <bool kClamp>
static i32 dot4_signed(u32 x, u32 y, i32 sum) {
    return dot<i32, 4, kClamp>(x, y, sum);
}
template <bool kClamp>
static u32 dot4_unsigned(u32 x, u32 y, u32 sum) {
    return dot<u32, 4, kClamp>(x, y, sum);
}
template <bool kClamp>
static i32 dot8_signed(u32 x, u32 y, i32 sum) {
    return dot<i32, 8, kClamp>(x, y, sum);
}
template <bool kClamp>
static u32 dot8_unsigned(u32 x, u32 y, u32 sum) {
    return dot<u32, 8, kClamp>(x, y, sum);
}
static f32 dot2_halves(u32 x, u32 y, f32 sum) {
    for (u32 k = 0; k < 32; k += 16) sum += f32(bits_as<f16>(u16(x >> k))) * f32(bits_as<f16>(u16(y >> k)));
    return sum;
}
#endif

KERNEL(dots, u32, u32, u32, .out = 12, .from_gfx = 0x906) {
    const u32 i = global_id(), x = a[i], y = b[i], sum = x * y;
    u32* o = out + i * 12;
    o[0] = u32(dot2_signed<false>(x, y, i32(sum)));
    o[1] = u32(dot2_signed<true>(x, y, i32(sum)));
    o[2] = dot2_unsigned<false>(x, y, sum);
    o[3] = dot2_unsigned<true>(x, y, sum);
    o[4] = u32(dot4_signed<false>(x, y, i32(sum)));
    o[5] = u32(dot4_signed<true>(x, y, i32(sum)));
    o[6] = dot4_unsigned<false>(x, y, sum);
    o[7] = dot4_unsigned<true>(x, y, sum);
    o[8] = u32(dot8_signed<false>(x, y, i32(sum)));
    o[9] = u32(dot8_signed<true>(x, y, i32(sum)));
    o[10] = dot8_unsigned<false>(x, y, sum);
    o[11] = dot8_unsigned<true>(x, y, sum);
}

KERNEL(dot_of_halves, i8, i8, f32, .a = 8, .b = 8, .from_gfx = 0x906) {
    const u32 i = global_id();
    f32 sum = f32(a[i * 8]) * 0.25f;
    for (u32 k = 0; k < 8; k += 2) {
        const auto pair = [k, i](const i8* from) {
            return u32(bits_as<u16>(f16(f32(from[i * 8 + k])))) | u32(bits_as<u16>(f16(f32(from[i * 8 + k + 1]))))
                                                                      << 16;
        };
        sum = dot2_halves(pair(a), pair(b), sum);
    }
    out[i] = sum;
}

/// Bytes against weights, a layer of a network that was quantised.
KERNEL(quantised_layer, u32, u32, i8, .a = 16, .b = 16, .out = 4, .from_gfx = 0x906) {
    const u32 i = global_id();
    for (u32 r = 0; r < 4; ++r) {
        i32 sum = 0;
        for (u32 k = 0; k < 16; ++k) sum = dot4_signed<false>(a[i * 16 + k], b[(i + r) % n * 16 + k], sum);
        sum = (sum + 512) >> 10;
        out[i * 4 + r] = i8(smaller(larger(sum, -128), 127));
    }
}
#endif

#undef UNIT
