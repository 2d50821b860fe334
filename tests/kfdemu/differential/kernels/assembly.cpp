// Inline assembly, and hardware builtins.
#define UNIT "assembly"
#include "twin.hpp"

#if defined(__AMDGCN__)

#define ASM(text, type, ...)                                                                                 \
    ({                                                                                                       \
        type result_;                                                                                        \
        asm volatile(text : "=&v"(result_) : __VA_ARGS__ : "vcc", "s40", "s41", "s42", "s43", "v40", "v41"); \
        result_;                                                                                             \
    })
#define ONE(name, text) \
    static inline u32 name(u32 x) { return ASM(text, u32, "v"(x)); }
#define TWO(name, text) \
    static inline u32 name(u32 x, u32 y) { return ASM(text, u32, "v"(x), "v"(y)); }
#define THREE(name, text) \
    static inline u32 name(u32 x, u32 y, u32 z) { return ASM(text, u32, "v"(x), "v"(y), "v"(z)); }
#define FLOATS(name, text) \
    static inline f32 name(f32 x, f32 y) { return ASM(text, f32, "v"(x), "v"(y)); }
#define ROUNDED(name, mode)                                                                             \
    static inline f32 name(f32 x, f32 y) {                                                              \
        return ASM("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), " mode                                 \
                   "\n\ts_nop 1\n\tv_mul_f32 %0, %1, %2\n\t"                                            \
                   "v_add_f32 %0, %0, %1\n\ts_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\n\ts_nop 1", \
                   f32, "v"(x), "v"(y));                                                                \
    }

THREE(bit_fields_of, "v_bfe_u32 %0, %1, %2, %3")
THREE(signed_field_of, "v_bfe_i32 %0, %1, %2, %3")
THREE(inserted, "v_bfi_b32 %0, %1, %2, %3")
THREE(sum_of_three, "v_add3_u32 %0, %1, %2, %3")
THREE(shifted_sum, "v_lshl_add_u32 %0, %1, 3, %2\n\tv_xor_b32 %0, %0, %3")
THREE(or_of_three, "v_or3_b32 %0, %1, %2, %3")
THREE(middle, "v_med3_u32 %0, %1, %2, %3")
THREE(signed_most, "v_max3_i32 %0, %1, %2, %3")
THREE(differences, "v_sad_u16 %0, %1, %2, %3")
TWO(words_and_bytes, "v_add_u32_sdwa %0, %1, %2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_2")
TWO(sign_extended,
    "v_add_u32_sdwa %0, sext(%1), sext(%2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 "
    "src1_sel:WORD_0")
TWO(into_a_byte,
    "v_mov_b32 %0, %2\n\tv_mul_u32_u24_sdwa %0, %1, %2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
    "src0_sel:BYTE_0 src1_sel:BYTE_1")
TWO(carried,
    "v_add_co_u32 %0, vcc, %1, %2\n\tv_addc_co_u32 %0, vcc, %0, %1, vcc\n\tv_subbrev_co_u32 %0, vcc, 0, %0, "
    "vcc")
TWO(chosen,
    "v_cmp_ge_i32 vcc, %1, %2\n\tv_cndmask_b32 %0, 45, %1, vcc\n\tv_cmp_gt_u32 s[40:41], %1, 64\n\t"
    "v_cndmask_b32 %0, %0, %2, s[40:41]")
TWO(low_products, "v_mad_u64_u32 v[40:41], vcc, %1, %2, 61\n\tv_xor_b32 %0, v40, v41")
ONE(first_bits, "v_ffbh_u32 %0, %1\n\tv_ffbl_b32 v40, %1\n\tv_lshl_or_b32 %0, v40, 8, %0")
ONE(neighbours,
    "s_nop 1\n\tv_mov_b32_dpp %0, %1 row_ror:3 row_mask:0xf bank_mask:0xf\n\ts_nop 1\n\t"
    "v_add_u32_dpp %0, %1, %1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf")
ONE(counted,
    "v_readfirstlane_b32 s40, %1\n\ts_bcnt1_i32_b32 s41, s40\n\ts_ff1_i32_b32 s42, s40\n\ts_brev_b32 s43, "
    "s40\n\t"
    "s_bfe_u32 s40, s40, 0x80010\n\ts_mul_i32 s41, s41, s42\n\ts_lshl2_add_u32 s41, s41, s40\n\t"
    "s_xor_b32 s41, s41, s43\n\tv_mov_b32 %0, s41")
#if HAS_GFX(942)
FLOATS(modified, "v_mul_f32 %0, -%1, |%2|\n\tv_add_f32 %0, %0, %1\n\tv_max_f32 %0, %0, %2 clamp")
#else
FLOATS(modified, "v_mad_f32 %0, -%1, |%2|, %1\n\tv_max_f32 %0, %0, %2 clamp")
#endif
FLOATS(doubled, "v_add_f32 %0, %1, %2 mul:2\n\tv_mul_f32 %0, %0, 0.5 div:2")
FLOATS(middle_of, "v_med3_f32 %0, %1, %2, 1.0\n\tv_min3_f32 %0, %0, %1, 4.0")
ROUNDED(rounded_even, "0")
ROUNDED(rounded_up, "1")
ROUNDED(rounded_down, "2")
ROUNDED(rounded_to_zero, "3")
static inline u64 core_time() { return __builtin_amdgcn_s_memtime(); }
static inline u64 real_time() { return __builtin_amdgcn_s_memrealtime(); }
static inline void rest() { __builtin_amdgcn_s_sleep(1); }

static inline u32 byte_means(u32 x, u32 y, u32 z) { return __builtin_amdgcn_lerp(x, y, z); }
static inline u32 masked_difference(u32 x, u32 y, u32 z) { return __builtin_amdgcn_msad_u8(x, y, z); }
static inline u32 high_difference(u32 x, u32 y, u32 z) { return __builtin_amdgcn_sad_hi_u8(x, y, z); }
static inline u64 four_differences(u64 x, u32 y, u64 z) { return __builtin_amdgcn_qsad_pk_u16_u8(x, y, z); }
static inline u64 four_masked_differences(u64 x, u32 y, u64 z) { return __builtin_amdgcn_mqsad_pk_u16_u8(x, y, z); }
static inline bool is_of(f32 v) { return __builtin_amdgcn_classf(v, 0x1b8); }
static inline f32 fraction(f32 v) { return __builtin_amdgcn_fractf(v); }
/// The number of the group's items that came here before this item's wave; only they are counted.
static inline u32 appended(u32* to) {
    return u32(__builtin_amdgcn_ds_append((__attribute__((address_space(3))) int*)to));
}

#else

#include <cfenv>

static u32 bit_fields_of(u32 x, u32 y, u32 z) { return z % 32 == 0 ? 0 : x >> y % 32 & ((1u << z % 32) - 1); }
static u32 signed_field_of(u32 x, u32 y, u32 z) {
    const u32 width = z % 32;
    if (width == 0) return 0;
    const i64 field = i64(u64(i64(i32(x)) >> y % 32) << (64 - width)) >> (64 - width);
    return u32(field);
}
static u32 inserted(u32 x, u32 y, u32 z) { return (x & y) | (~x & z); }
static u32 sum_of_three(u32 x, u32 y, u32 z) { return x + y + z; }
static u32 shifted_sum(u32 x, u32 y, u32 z) { return ((x << 3) + y) ^ z; }
static u32 or_of_three(u32 x, u32 y, u32 z) { return x | y | z; }
static u32 middle(u32 x, u32 y, u32 z) { return larger(smaller(x, y), smaller(larger(x, y), z)); }
static u32 signed_most(u32 x, u32 y, u32 z) { return u32(larger(larger(i32(x), i32(y)), i32(z))); }
static u32 differences(u32 x, u32 y, u32 z) {
    for (u32 k = 0; k < 32; k += 16) z += u32(std::abs(i32(x >> k & 0xffff) - i32(y >> k & 0xffff)));
    return z;
}
static u32 words_and_bytes(u32 x, u32 y) { return (x >> 16) + (y >> 16 & 0xff); }
static u32 sign_extended(u32 x, u32 y) { return u32(i32(i8(x >> 24)) + i32(i16(y))); }
static u32 into_a_byte(u32 x, u32 y) { return (y & 0xffff00ff) | ((x & 0xff) * (y >> 8 & 0xff) & 0xff) << 8; }
static u32 carried(u32 x, u32 y) {
    const u64 sum = u64{x} + y, more = u64{u32(sum)} + x + (sum >> 32);
    return u32(more) - u32(more >> 32);
}
static u32 chosen(u32 x, u32 y) { return x > 64 ? y : i32(x) < i32(y) ? 45 : x; }
static u32 low_products(u32 x, u32 y) {
    const u64 product = u64{x} * y + 61;
    return u32(product) ^ u32(product >> 32);
}
static u32 first_bits(u32 x) { return x == 0 ? ~0u : u32(__builtin_clz(x)) | u32(__builtin_ctz(x)) << 8; }
static u32 neighbours(u32 x) { return x + dpp<0xb1, 15, 15, false>(0, x); }
static u32 counted(u32 x) {
    x = read_first_lane(x);
    const u32 first = x == 0 ? ~0u : u32(__builtin_ctz(x));
    return ((u32(__builtin_popcount(x)) * first * 4) + (x >> 16 & 0xff)) ^ reversed(x);
}
static f32 modified(f32 x, f32 y) {
    const f32 sum = -x * std::fabs(y) + x, most = sum > y ? sum : y;
    return smaller(larger(most, 0.0f), 1.0f);
}
static f32 doubled(f32 x, f32 y) { return (x + y) * 2 * 0.5f / 2; }
static f32 middle_of(f32 x, f32 y) {
    const f32 m = larger(smaller(x, y), smaller(larger(x, y), 1.0f));
    return smaller(smaller(m, x), 4.0f);
}
static f32 rounded(f32 x, f32 y, int mode) {
    std::fesetround(mode);
    volatile f32 product = x;
    product = product * y;
    volatile f32 sum = product + x;
    std::fesetround(FE_TONEAREST);
    return sum;
}
static f32 rounded_even(f32 x, f32 y) { return rounded(x, y, FE_TONEAREST); }
static f32 rounded_up(f32 x, f32 y) { return rounded(x, y, FE_UPWARD); }
static f32 rounded_down(f32 x, f32 y) { return rounded(x, y, FE_DOWNWARD); }
static f32 rounded_to_zero(f32 x, f32 y) { return rounded(x, y, FE_TOWARDZERO); }
static u64 ticks = 0;
static u64 core_time() { return ++ticks; }
static u64 real_time() { return ++ticks; }
static void rest() { ++ticks; }

/// The Vega ISA manual's V_LERP_U8, V_MSAD_U8, V_SAD_HI_U8, V_QSAD_PK_U16_U8 and V_MQSAD_PK_U16_U8.
static u32 byte_of(u64 v, u32 k) { return u32(v >> 8 * k & 0xff); }
static u32 byte_means(u32 x, u32 y, u32 z) {
    u32 result = 0;
    for (u32 k = 0; k < 4; ++k) result |= ((byte_of(x, k) + byte_of(y, k) + (byte_of(z, k) & 1)) >> 1) << 8 * k;
    return result;
}
static u32 masked_difference(u32 x, u32 y, u32 z) {
    for (u32 k = 0; k < 4; ++k)
        if (byte_of(y, k) != 0) z += u32(std::abs(i32(byte_of(x, k)) - i32(byte_of(y, k))));
    return z;
}
static u32 high_difference(u32 x, u32 y, u32 z) { return (bytes_difference(x, y, 0) << 16) + z; }
static u64 four_differences(u64 x, u32 y, u64 z) {
    u64 result = 0;
    for (u32 k = 0; k < 4; ++k) result |= u64{u16(bytes_difference(u32(x >> 8 * k), y, u32(z >> 16 * k)))} << 16 * k;
    return result;
}
static u64 four_masked_differences(u64 x, u32 y, u64 z) {
    u64 result = 0;
    for (u32 k = 0; k < 4; ++k) result |= u64{u16(masked_difference(u32(x >> 8 * k), y, u32(z >> 16 * k)))} << 16 * k;
    return result;
}
/// Everything but NaN, infinity and +0.
static bool is_of(f32 v) { return std::isfinite(v) && !(v == 0 && !std::signbit(v)); }
static f32 fraction(f32 v) { return smaller(v - std::floor(v), 0x1.fffffep-1f); }
static u32 appended(u32* to) {
    const u32 before = to[0];
    // The last lane of a wave adds them all.
    if (all_lanes(1)[63] != 0 && lane() == 63) to[0] += 64;
    return before;
}

#endif

KERNEL(assembly_of_integers, u32, u32, u32, .out = 18) {
    const u32 i = global_id(), x = a[i], y = b[i], z = i * 2654435761u;
    u32* o = out + i * 18;
    o[0] = bit_fields_of(x, y, z >> 9);
    o[1] = signed_field_of(x, y & 15, z >> 9 & 15);
    o[2] = inserted(x, y, z);
    o[3] = sum_of_three(x, y, z);
    o[4] = shifted_sum(x, y, z);
    o[5] = or_of_three(x, y, z);
    o[6] = middle(x, y, z);
    o[7] = signed_most(x, y, z);
    o[8] = differences(x, y, z);
    o[9] = words_and_bytes(x, y);
    o[10] = sign_extended(x, y);
    o[11] = into_a_byte(x, y);
    o[12] = carried(x, y);
    o[13] = chosen(x, y);
    o[14] = low_products(x, y);
    o[15] = first_bits(x);
    o[16] = neighbours(x);
    o[17] = counted(y);
}

KERNEL(assembly_of_floats, f32, f32, f32, .out = 3, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    const u32 i = global_id();
    out[i * 3] = modified(a[i], b[i]);
    out[i * 3 + 1] = doubled(a[i], b[i]);
    out[i * 3 + 2] = middle_of(a[i], b[i]);
}

KERNEL(rounding_modes, f32, f32, f32, .items = 1024, .out = 4) {
    const u32 i = global_id();
    out[i * 4] = rounded_even(a[i], b[i]);
    out[i * 4 + 1] = rounded_up(a[i], b[i]);
    out[i * 4 + 2] = rounded_down(a[i], b[i]);
    out[i * 4 + 3] = rounded_to_zero(a[i], b[i]);
}

/// Clocks are monotonic.
KERNEL(clocks, u32, u32, u32) {
    const u32 i = global_id();
    u64 last = core_time(), last_real = real_time();
    const u64 first = last;
    u32 rising = 0;
    for (u32 k = 0; k < 8; ++k) {
        rest();
        const u64 now = core_time(), now_real = real_time();
        rising += now > last && now_real >= last_real;
        last = now;
        last_real = now_real;
    }
    out[i] = rising + (last - first > 8 ? 100 : 0) + a[i] % 2;
}

LDS(u32, count_lds, 1);
KERNEL(named_instructions, u32, u32, u32, .group = 64, .out = 9) {
    const u32 i = global_id(), x = a[i], y = b[i], z = i * 2654435761u;
    u32* o = out + i * 9;
    const u64 four = four_differences(u64{x} << 32 | z, y, u64{z} << 32 | x);
    const u64 masked = four_masked_differences(u64{x} << 32 | z, y & 0xff00ffff, u64{z} << 32 | x);
    o[0] = byte_means(x, y, z);
    o[1] = masked_difference(x, y & 0xff00ff, z);
    o[2] = high_difference(x, y, z);
    o[3] = u32(four);
    o[4] = u32(four >> 32);
    o[5] = u32(masked) ^ u32(masked >> 32);
    o[6] = is_of(bits_as<f32>(x));
    o[7] = bits_as<u32>(fraction(f32(i32(y)) * 0.0625f));
    if (local_id() == 0) *GENERIC(u32, count_lds) = group_id();
    barrier();
    o[8] = appended(GENERIC(u32, count_lds));
}

#undef UNIT
