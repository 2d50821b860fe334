// FP_ROUND of the MODE register: instructions that follow it, by size, and instructions with their own rounding.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;

namespace {

constexpr u32 kKept = 0x2f0;  // IEEE, all denormals

/// FP_ROUND of 32 bits is the column; that of 64 and 16 bits is another.
u32 round_single(u32 column) { return kKept | column | ((column + 1) & 3) << 2; }
u32 round_double(u32 column) { return kKept | column << 2 | ((column + 1) & 3); }

}  // namespace

TEST_CASE("FP_ROUND[1:0] rounds results of 32 bits: to nearest even, up, down, towards zero", "[isa][mode]") {
    check_columns(
        std::string{kModeRegister} + "FP_ROUND[1:0]",
        {
            {"v_add_f32", kOne, f(0x1p-30f), 0, {kOne, kUlp, kOne, kOne}},
            {"v_add_f32", kMinusOne, f(-0x1p-30f), 0, {kMinusOne, kMinusOne, kUlp | kMinusZero, kMinusOne}},
            {"v_sub_f32", kOne, f(0x1p-30f), 0, {kOne, kOne, kBelow, kBelow}},
            {"v_subrev_f32", f(0x1p-30f), kOne, 0, {kOne, kOne, kBelow, kBelow}},
            {"v_add_f32", kOne, kMinusOne, 0, {0, 0, kMinusZero, 0}},
            {"v_mul_f32", kUlp, kUlp, 0, {0x3f800002, 0x3f800003, 0x3f800002, 0x3f800002}},
            {"v_mul_f32", 1, f(0.5f), 0, {0, 1, 0, 0}},
            {"v_mul_f32", 3, f(0.5f), 0, {2, 2, 1, 1}},
            {"v_mul_f32", 0x80000001, f(0.5f), 0, {kMinusZero, kMinusZero, 0x80000001, kMinusZero}},
            {"v_mul_f32", kMaxFloat, f(2.0f), 0, {kInf, kInf, kMaxFloat, kMaxFloat}},
            {"v_mul_f32", kMaxFloat, f(-2.0f), 0, {kMinusInf, 0xff7fffff, kMinusInf, 0xff7fffff}},
            {"v_mul_legacy_f32_gfx90a", kUlp, kUlp, 0, {0x3f800002, 0x3f800003, 0x3f800002, 0x3f800002}},
            {"v_fma_f32", kUlp, kUlp, 0, {0x3f800002, 0x3f800003, 0x3f800002, 0x3f800002}},
            {"v_fma_f32", kOne, kOne, f(0x1p-30f), {kOne, kUlp, kOne, kOne}},
            {"v_fma_f32", f(3.0f), 0x3eaaaaab, kMinusOne, {f(0x1p-25f), f(0x1p-25f), f(0x1p-25f), f(0x1p-25f)}},
            {"v_fmac_f32", kMinusOne, kOne, f(-0x1p-30f), {kMinusOne, kMinusOne, kUlp | kMinusZero, kMinusOne}},
            {"v_mad_f32", kOne, kOne, f(0x1p-30f), {kOne, kUlp, kOne, kOne}},
            {"v_mad_f32", kUlp, kUlp, f(-0x1.000004p0f), {0, f(0x1p-23f), kMinusZero, 0}},  // twice rounded
            {"v_mac_f32", kUlp, kUlp, 0, {0x3f800002, 0x3f800003, 0x3f800002, 0x3f800002}},
            {"v_ldexp_f32", f(1.5f), whole(-149), 0, {2, 2, 1, 1}},
            {"v_ldexp_f32", f(-1.5f), whole(-149), 0, {0x80000002, 0x80000001, 0x80000002, 0x80000001}},
            {"v_ldexp_f32", kOne, 1000, 0, {kInf, kInf, kMaxFloat, kMaxFloat}},
            {"v_cvt_f32_i32", 0x01000001, 0, 0, {0x4b800000, 0x4b800001, 0x4b800000, 0x4b800000}},
            {"v_cvt_f32_i32", whole(-0x01000001), 0, 0, {0xcb800000, 0xcb800000, 0xcb800001, 0xcb800000}},
            {"v_cvt_f32_i32", 0, 0, 0, {0, 0, 0, 0}},
            {"v_cvt_f32_u32", 0xffffffff, 0, 0, {0x4f800000, 0x4f800000, 0x4f7fffff, 0x4f7fffff}},
            {"v_cvt_f32_u32", 0, 0, 0, {0, 0, 0, 0}},
            {"v_cvt_f32_f64", f(1.0 + 0x1p-30), 0, 0, {kOne, kUlp, kOne, kOne}},
            {"v_cvt_f32_f64", f(-1.0 - 0x1p-30), 0, 0, {kMinusOne, kMinusOne, kUlp | kMinusZero, kMinusOne}},
            {"v_cvt_f32_f64", f(1e300), 0, 0, {kInf, kInf, kMaxFloat, kMaxFloat}},
            {"v_cvt_f32_f64", f(0x1p-150), 0, 0, {0, 1, 0, 0}},
            {"v_cvt_pk_u8_f32", f(2.5f), 0, 0, {2, 3, 2, 2}},
            {"v_cvt_pk_u8_f32", f(3.5f), 1, 0, {0x400, 0x400, 0x300, 0x300}},
            {"v_fract_f32", f(-0x1p-30f), 0, 0, {kBelow, kBelow, kBelow, kBelow}},  // never 1
            {"v_fma_mix_f32", kOne, kOne, f(0x1p-30f), {kOne, kUlp, kOne, kOne}},
            {"v_pk_add_f32",
             pair(kOne, kMinusOne),
             pair(f(0x1p-30f), f(-0x1p-30f)),
             0,
             {pair(kOne, kMinusOne), pair(kUlp, kMinusOne), pair(kOne, kUlp | kMinusZero), pair(kOne, kMinusOne)},
             0,
             kOpSelHi},
            {"v_pk_mul_f32",
             pair(1, kMaxFloat),
             pair(f(0.5f), f(2.0f)),
             0,
             {pair(0, kInf), pair(1, kInf), pair(0, kMaxFloat), pair(0, kMaxFloat)},
             0,
             kOpSelHi},
            {"v_pk_fma_f32",
             pair(kOne, kOne),
             pair(kOne, kMinusOne),
             pair(f(0x1p-30f), f(-0x1p-30f)),
             {pair(kOne, kMinusOne), pair(kUlp, kMinusOne), pair(kOne, kUlp | kMinusZero), pair(kOne, kMinusOne)},
             kOpSelHi2,
             kOpSelHi},
        },
        round_single);
}

TEST_CASE("FP_ROUND[3:2] rounds results of 64 and of 16 bits", "[isa][mode]") {
    const u64 one = f(1.0), minus_one = f(-1.0), ulp = one + 1, minus_ulp = minus_one + 1;
    check_columns(
        std::string{kModeRegister} + "FP_ROUND[3:2]",
        {
            {"v_add_f64", one, f(0x1p-60), 0, {one, ulp, one, one}},
            {"v_add_f64", minus_one, f(-0x1p-60), 0, {minus_one, minus_one, minus_ulp, minus_one}},
            {"v_add_f64", one, minus_one, 0, {0, 0, kSign64, 0}},
            {"v_mul_f64", 1, f(0.5), 0, {0, 1, 0, 0}},
            {"v_mul_f64", kMaxDouble, f(2.0), 0, {kInf64, kInf64, kMaxDouble, kMaxDouble}},
            {"v_fma_f64", one, one, f(0x1p-60), {one, ulp, one, one}},
            {"v_fmac_f64", minus_one, one, f(-0x1p-60), {minus_one, minus_one, minus_ulp, minus_one}},
            {"v_ldexp_f64", f(1.5), whole(-1074), 0, {2, 2, 1, 1}},
            {"v_ldexp_f64", one, 5000, 0, {kInf64, kInf64, kMaxDouble, kMaxDouble}},
            {"v_cvt_f64_u32", 0, 0, 0, {0, 0, 0, 0}},
            {"v_cvt_f64_u32", 0x80000000, 0, 0, {f(0x1p31), f(0x1p31), f(0x1p31), f(0x1p31)}},
            {"v_cvt_f64_i32", 0, 0, 0, {0, 0, 0, 0}},
            {"v_add_f16", 0x3c00, 0x1000, 0, {0x3c00, 0x3c01, 0x3c00, 0x3c00}},
            {"v_sub_f16", 0x3c00, 0x3c00, 0, {0, 0, 0x8000, 0}},
            {"v_mul_f16", 0x7bff, 0x4000, 0, {0x7c00, 0x7c00, 0x7bff, 0x7bff}},
            {"v_mul_f16", 0xfbff, 0x4000, 0, {0xfc00, 0xfbff, 0xfc00, 0xfbff}},
            {"v_mul_f16", 1, 0x3800, 0, {0, 1, 0, 0}},
            {"v_fma_f16", 0x3c00, 0x3c00, 0x1000, {0x22223c00, 0x22223c01, 0x22223c00, 0x22223c00}},
            {"v_mad_f16", 0x3c00, 0x3c00, 0x1000, {0x22223c00, 0x22223c01, 0x22223c00, 0x22223c00}},
            {"v_ldexp_f16", 0x3e00, 0xffe8, 0, {2, 2, 1, 1}},
            {"v_ldexp_f16", 0x3c00, 0x8000, 0, {0, 1, 0, 0}},
            {"v_cvt_f16_f32", f(1.0f + 0x1p-11f), 0, 0, {0x3c00, 0x3c01, 0x3c00, 0x3c00}},
            {"v_cvt_f16_f32", f(65519.0f), 0, 0, {0x7bff, 0x7c00, 0x7bff, 0x7bff}},
            {"v_cvt_f16_f32", f(-0x1p-30f), 0, 0, {0x8000, 0x8000, 0x8001, 0x8000}},
            {"v_cvt_f16_u16", 2049, 0, 0, {0x6800, 0x6801, 0x6800, 0x6800}},
            {"v_cvt_f16_i16", 0xf7ff, 0, 0, {0xe800, 0xe800, 0xe801, 0xe800}},
            {"v_pk_add_f16", 0x3c00bc00, 0x10009000, 0, {0x3c00bc00, 0x3c01bc00, 0x3c00bc01, 0x3c00bc00}, 0, kOpSelHi},
            {"v_pk_mul_f16", 0x7bff0001, 0x40003800, 0, {0x7c000000, 0x7c000001, 0x7bff0000, 0x7bff0000}, 0, kOpSelHi},
            {"v_pk_fma_f16",
             0x3c00bc00,
             0x3c003c00,
             0x10009000,
             {0x3c00bc00, 0x3c01bc00, 0x3c00bc01, 0x3c00bc00},
             kOpSelHi2,
             kOpSelHi},
            {"v_fma_mixlo_f16", f(1.0f + 0x1p-11f), kOne, 0, {0x22223c00, 0x22223c01, 0x22223c00, 0x22223c00}},
            {"v_fma_mixhi_f16",
             f(-1.0f - 0x1p-11f),
             kOne,
             kMinusZero,
             {0xbc002222, 0xbc002222, 0xbc012222, 0xbc002222}},
        },
        round_double);
}

TEST_CASE("conversions to integers, approximations and others round in their own way", "[isa][mode]") {
    // 12.8 VOP1, the entries of each; V_CVT_PKRTZ_F16_F32 in 12.12 VOP3A and VOP3B. That approximations ignore FP_ROUND
    // is LLVM's reading: none of its patterns for them depends on it.
    const struct {
        const char* name;
        u64 a, b, expected;
    } rows[] = {
        {"v_cvt_i32_f32", f(1.9f), 0, 1},
        {"v_cvt_i32_f32", f(-1.9f), 0, 0xffffffff},
        {"v_cvt_u32_f32", f(1.9f), 0, 1},
        {"v_cvt_i32_f64", f(-1.9), 0, 0xffffffff},
        {"v_cvt_u32_f64", f(1.9), 0, 1},
        {"v_cvt_i16_f16", 0xbf00, 0, 0xffff},
        {"v_cvt_rpi_i32_f32", f(2.5f), 0, 3},
        {"v_cvt_rpi_i32_f32", f(-2.5f), 0, whole(-2)},
        {"v_cvt_rpi_i32_f32", f(-0x1p-30f), 0, 0},
        {"v_cvt_flr_i32_f32", f(-2.5f), 0, whole(-3)},
        {"v_cvt_f32_ubyte0", 255, 0, f(255.0f)},
        {"v_cvt_f32_ubyte3", 0, 0, 0},
        {"v_cvt_off_f32_i4", 0, 0, 0},
        {"v_cvt_pkrtz_f16_f32", f(65535.0f), f(-1.0f - 0x1p-11f), 0xbc007bff},
        {"v_rndne_f32", f(2.5f), 0, f(2.0f)},
        {"v_rndne_f32", f(-3.0f), 0, f(-3.0f)},
        {"v_rndne_f64", f(-3.5), 0, f(-4.0)},
        {"v_rndne_f16", 0x4100, 0, 0x4000},
        {"v_floor_f32", f(-0x1p-30f), 0, kMinusOne},
        {"v_ceil_f64", f(0x1p-60), 0, f(1.0)},
        {"v_trunc_f16", 0xbfff, 0, 0xbc00},
        {"v_rcp_f32", f(3.0f), 0, 0x3eaaaaab},
        {"v_rcp_iflag_f32", f(-3.0f), 0, 0xbeaaaaab},
        {"v_sqrt_f32", f(2.0f), 0, 0x3fb504f3},
        {"v_rsq_f32", f(0.5f), 0, 0x3fb504f3},
        {"v_exp_f32", f(0.5f), 0, 0x3fb504f3},
        {"v_log_f32", f(10.0f), 0, f(3.32192809f)},
        {"v_sin_f32", f(0.25f), 0, kOne},
        {"v_cos_f32", f(0.5f), 0, kMinusOne},
        {"v_rcp_f16", 0x4200, 0, 0x3555},
        {"v_sqrt_f16", 0x4000, 0, 0x3da8},
        {"v_exp_f16", 0x3800, 0, 0x3da8},
        {"v_sin_f16", 0x3400, 0, 0x3c00},
        {"v_rcp_f64", f(3.0), 0, 0x3fd5555555555555},
        {"v_sqrt_f64", f(2.0), 0, f(1.4142135623730951)},
        {"v_trig_preop_f64", f(0x1p944), 3, 0x1de294a},
    };
    for (const auto& row : rows) {
        const ByMode same{row.name, row.a, row.b, 0, {row.expected, row.expected, row.expected, row.expected}};
        check_columns(std::string{kModeRegister} + "FP_ROUND", {same}, round_single);
        check_columns(std::string{kModeRegister} + "FP_ROUND", {same}, round_double);
    }
}
