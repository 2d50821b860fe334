// Results of vector instructions: a few values of each.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;

TEST_CASE("sums and products of floats", "[isa][values]") {
    check_all("12.7 VOP2 and 12.12 VOP3 instructions",
              {
                  {"v_add_f32", f(1.5f), f(2.25f), 0, f(3.75f)},
                  {"v_add_f32", kInf, kMinusInf, 0, kNan},
                  {"v_add_f32", kSignalling, f(1.0f), 0, 0x7fc00001},
                  {"v_add_f32", f(1.0f), 0xffc00123, 0, 0xffc00123},
                  {"v_add_f32", kMinusZero, 0, 0, 0},
                  {"v_add_f32", kMinusZero, kMinusZero, 0, kMinusZero},
                  {"v_add_f32", kDenormal, kDenormal, 0, 2},
                  {"v_sub_f32", f(1.0f), f(3.0f), 0, f(-2.0f)},
                  {"v_subrev_f32", f(1.0f), f(3.0f), 0, f(2.0f)},
                  {"v_mul_f32", 0, kInf, 0, kNan},
                  {"v_mul_f32", kMinNormal, f(0.5f), 0, 0x00400000},
                  {"v_mul_f32", kMaxFloat, f(2.0f), 0, kInf},
                  {"v_mul_legacy_f32_gfx90a", 0, kInf, 0, 0},
                  {"v_mul_legacy_f32_gfx90a", kMinusZero, kNan, 0, 0},
                  {"v_fma_f32", f(0x1.001p0f), f(0x1.001p0f), f(-1.0f), f(0x1.0008p-11f)},
                  {"v_mad_f32", f(0x1.001p0f), f(0x1.001p0f), f(-1.0f), f(0x1p-11f)},
                  {"v_fma_f32", f(0x1p60f), f(0x1p60f), f(-1.0f), f(0x1p120f)},
                  {"v_fma_f32", f(0x1.000002p0f), f(0x1.8p-24f), f(1.0f), f(0x1.000002p0f)},
                  {"v_mad_f32", kDenormal, f(1.0f), 0, 0},
                  {"v_mad_f32", f(1.0f), 0, 0x80000001, 0},
                  {"v_mac_f32", f(2.0f), f(3.0f), f(4.0f), f(10.0f)},
                  {"v_fmac_f32", f(2.0f), f(3.0f), f(4.0f), f(10.0f)},
                  {"v_fma_f32", kInf, 0, kNan, kNan},
                  {"v_add_f32", f(0.75f), f(0.75f), 0, kOne, kClamp},
                  {"v_add_f32", f(-0.75f), f(-0.75f), 0, 0, kClamp},
                  {"v_add_f64", f(1.5), f(2.25), 0, f(3.75)},
                  {"v_mul_f64", f(1e300), f(1e300), 0, f(__builtin_inf())},
                  {"v_fma_f64", f(0x1.0000000000001p0), f(0x1.0000000000001p0), f(-1.0), f(0x1.00000000000008p-51)},
                  {"v_fmac_f64", f(2.0), f(3.0), f(4.0), f(10.0)},
              });
}

TEST_CASE("least, greatest and middle floats", "[isa][values]") {
    check_all("12.7 VOP2, V_MIN_F32 and V_MAX_F32; 12.12 VOP3, V_MED3_F32",
              {
                  {"v_min_f32", 0, kMinusZero, 0, kMinusZero},
                  {"v_min_f32", kMinusZero, 0, 0, kMinusZero},
                  {"v_max_f32", kMinusZero, 0, 0, 0},
                  {"v_min_f32", kNan, f(2.0f), 0, f(2.0f)},
                  {"v_max_f32", f(2.0f), kNan, 0, f(2.0f)},
                  {"v_min_f32", kSignalling, f(2.0f), 0, 0x7fc00001},
                  {"v_max_f32", f(2.0f), kSignalling, 0, 0x7fc00001},
                  {"v_max_f32", kMinusInf, f(-5.0f), 0, f(-5.0f)},
                  {"v_min3_f32", f(3.0f), f(1.0f), f(2.0f), f(1.0f)},
                  {"v_max3_f32", f(3.0f), f(1.0f), f(2.0f), f(3.0f)},
                  {"v_med3_f32", f(3.0f), f(1.0f), f(2.0f), f(2.0f)},
                  {"v_med3_f32", f(3.0f), kNan, f(2.0f), f(2.0f)},
                  {"v_min_f64", f(-0.0), f(0.0), 0, f(-0.0)},
                  {"v_max_f64", f(-1.0), f(1.0), 0, f(1.0)},
              });
}

TEST_CASE("floats to integers saturate, and NaN is zero", "[isa][values]") {
    check_all("12.8 VOP1 and 12.12 VOP3, V_CVT_*", {
                                                       {"v_cvt_i32_f32", f(-1.9f), 0, 0, 0xffffffff},
                                                       {"v_cvt_i32_f32", f(3e9f), 0, 0, kIntMax},
                                                       {"v_cvt_i32_f32", kMinusInf, 0, 0, kIntMin},
                                                       {"v_cvt_i32_f32", kNan, 0, 0, 0},
                                                       {"v_cvt_u32_f32", f(-1.0f), 0, 0, 0},
                                                       {"v_cvt_u32_f32", f(-0.5f), 0, 0, 0},
                                                       {"v_cvt_u32_f32", f(3e9f), 0, 0, 3000000000},
                                                       {"v_cvt_u32_f32", kInf, 0, 0, 0xffffffff},
                                                       {"v_cvt_u32_f32", kNan, 0, 0, 0},
                                                       {"v_cvt_i32_f64", f(-2147483648.5), 0, 0, kIntMin},
                                                       {"v_cvt_i32_f64", f(1e18), 0, 0, kIntMax},
                                                       {"v_cvt_u32_f64", f(4294967295.5), 0, 0, 0xffffffff},
                                                       {"v_cvt_u32_f64", f(-7.0), 0, 0, 0},
                                                       {"v_cvt_f32_i32", kIntMin, 0, 0, f(-2147483648.0f)},
                                                       {"v_cvt_f32_u32", 0xffffffff, 0, 0, f(4294967296.0f)},
                                                       {"v_cvt_f64_u32", 0xffffffff, 0, 0, f(4294967295.0)},
                                                       {"v_cvt_f64_i32", kIntMin, 0, 0, f(-2147483648.0)},
                                                       {"v_cvt_f32_f64", f(1e-45), 0, 0, kDenormal},
                                                       {"v_cvt_f64_f32", kDenormal, 0, 0, f(0x1p-149)},
                                                       {"v_cvt_f32_ubyte2", 0x00ff0000, 0, 0, f(255.0f)},
                                                       {"v_cvt_rpi_i32_f32", f(2.5f), 0, 0, 3},
                                                       {"v_cvt_flr_i32_f32", f(-2.5f), 0, 0, 0xfffffffd},
                                                       {"v_cvt_off_f32_i4", 8, 0, 0, f(-0.5f)},
                                                       {"v_cvt_f16_f32", f(65504.0f), 0, 0, 0x7bff},
                                                       {"v_cvt_f16_f32", f(65520.0f), 0, 0, 0x7c00},
                                                       {"v_cvt_f16_f32", f(0x1p-25f), 0, 0, 0},
                                                       {"v_cvt_f16_f32", f(0x1.8p-25f), 0, 0, 1},
                                                       {"v_cvt_f16_f32", kNan, 0, 0, 0x7e00},
                                                       {"v_cvt_f32_f16", 0x0001, 0, 0, f(0x1p-24f)},
                                                       {"v_cvt_f32_f16", 0xfc00, 0, 0, kMinusInf},
                                                       {"v_cvt_pkrtz_f16_f32", f(65535.0f), f(-1.0f), 0, 0xbc007bff},
                                                       {"v_cvt_pknorm_i16_f32", f(-1.0f), f(2.0f), 0, 0x7fff8001},
                                                       {"v_cvt_pknorm_u16_f32", f(1.0f), f(-2.0f), 0, 0x0000ffff},
                                                       {"v_cvt_pk_u8_f32", f(300.0f), 2, 0x11223344, 0x11ff3344},
                                                       {"v_cvt_pk_u16_u32", 0x12345, 7, 0, 0x0007ffff},
                                                       {"v_cvt_pk_i16_i32", 0xffff0000, 0x10000, 0, 0x7fff8000},
                                                   });
}

TEST_CASE("rounding to whole numbers, mantissa and exponent", "[isa][values]") {
    check_all("12.8 VOP1, V_RNDNE_F32 to V_FREXP_MANT_F32; 12.12 VOP3, V_LDEXP_F32",
              {
                  {"v_rndne_f32", f(2.5f), 0, 0, f(2.0f)},
                  {"v_rndne_f32", f(3.5f), 0, 0, f(4.0f)},
                  {"v_rndne_f32", f(-0.4f), 0, 0, kMinusZero},
                  {"v_trunc_f32", f(-1.9f), 0, 0, f(-1.0f)},
                  {"v_ceil_f32", f(-0.5f), 0, 0, kMinusZero},
                  {"v_floor_f32", f(-0.5f), 0, 0, f(-1.0f)},
                  {"v_fract_f32", f(-0.25f), 0, 0, f(0.75f)},
                  {"v_fract_f32", f(-0x1p-30f), 0, 0, 0x3f7fffff},
                  {"v_fract_f32", kInf, 0, 0, kNan},
                  {"v_floor_f64", f(-0.5), 0, 0, f(-1.0)},
                  {"v_rndne_f64", f(0.5), 0, 0, f(0.0)},
                  {"v_frexp_exp_i32_f32", f(8.0f), 0, 0, 4},
                  {"v_frexp_exp_i32_f32", kDenormal, 0, 0, static_cast<u32>(-148)},
                  {"v_frexp_exp_i32_f32", kInf, 0, 0, 0},
                  {"v_frexp_mant_f32", f(8.0f), 0, 0, f(0.5f)},
                  {"v_frexp_mant_f32", kDenormal, 0, 0, f(0.5f)},
                  {"v_frexp_mant_f32", f(-3.0f), 0, 0, f(-0.75f)},
                  {"v_frexp_exp_i32_f64", f(0x1p-1074), 0, 0, static_cast<u32>(-1073)},
                  {"v_frexp_mant_f64", f(3.0), 0, 0, f(0.75)},
                  {"v_ldexp_f32", f(1.0f), 10, 0, f(1024.0f)},
                  {"v_ldexp_f32", f(1.5f), static_cast<u32>(-149), 0, 2},
                  {"v_ldexp_f32", f(1.0f), 1000, 0, kInf},
                  {"v_ldexp_f32", kDenormal, 149, 0, kOne},
                  {"v_ldexp_f64", f(0x1p-1074), 1074, 0, f(1.0)},
                  {"v_ldexp_f64", f(0x1.8p0), static_cast<u32>(-1074), 0, 2},
                  {"v_ldexp_f64", f(1.0), 5000, 0, f(__builtin_inf())},
              });
}

TEST_CASE("reciprocals, roots, powers, logarithms, sines", "[isa][values]") {
    check_all("12.8 VOP1, V_EXP_F32 to V_COS_F32; 12.12 VOP3, V_DIV_*",
              {
                  {"v_rcp_f32", f(4.0f), 0, 0, f(0.25f)},
                  {"v_rcp_f32", kMinusZero, 0, 0, kMinusInf},
                  {"v_rsq_f32", f(16.0f), 0, 0, f(0.25f)},
                  {"v_rsq_f32", f(-1.0f), 0, 0, kMinusNan},
                  {"v_sqrt_f32", f(2.0f), 0, 0, f(1.41421356f)},
                  {"v_sqrt_f32", f(-1.0f), 0, 0, kMinusNan},
                  {"v_sqrt_f64", f(2.0), 0, 0, f(1.4142135623730951)},
                  {"v_exp_f32", f(10.0f), 0, 0, f(1024.0f)},
                  {"v_exp_f32", f(0.5f), 0, 0, f(1.41421356f)},
                  {"v_exp_f32", f(-126.0f), 0, 0, kMinNormal},
                  {"v_exp_f32", f(128.0f), 0, 0, kInf},
                  {"v_exp_f32", kMinusInf, 0, 0, 0},
                  {"v_log_f32", f(8.0f), 0, 0, f(3.0f)},
                  {"v_log_f32", f(10.0f), 0, 0, f(3.32192809f)},
                  {"v_log_f32", kMinNormal, 0, 0, f(-126.0f)},
                  {"v_log_f32", 0, 0, 0, kMinusInf},
                  {"v_log_f32", f(-1.0f), 0, 0, kMinusNan},
                  {"v_sin_f32", f(0.25f), 0, 0, kOne},
                  {"v_sin_f32", f(300.0f), 0, 0, 0},
                  {"v_sin_f32", kInf, 0, 0, kMinusNan},
                  {"v_cos_f32", f(0.5f), 0, 0, f(-1.0f)},
                  {"v_cos_f32", f(300.0f), 0, 0, kOne},
                  {"v_div_fixup_f32", f(3.0f), f(2.0f), f(-6.0f), f(-3.0f)},
                  {"v_div_fixup_f32", f(3.0f), 0, f(-6.0f), kMinusInf},
                  {"v_div_fixup_f32", f(3.0f), 0, 0, 0xffc00000},
                  {"v_div_fixup_f32", f(3.0f), kInf, f(2.0f), 0},
                  {"v_div_scale_f32", f(0x1p-100f), f(0x1p-100f), f(0x1p20f), f(0x1p-36f)},
                  {"v_div_scale_f32", f(3.0f), f(3.0f), f(7.0f), f(3.0f)},
                  {"v_div_fmas_f32", f(2.0f), f(3.0f), f(4.0f), f(10.0f)},
              });
}

TEST_CASE("v_trig_preop_f64 gives 53 bits of 2/pi after the other", "[isa][values]") {
    check_all("12.12 VOP3, V_TRIG_PREOP_F64",
              {
                  {"v_trig_preop_f64", f(1.0), 0, 0, f(0x1.45f306dc9c882p-1)},
                  {"v_trig_preop_f64", f(-1.0), 1, 0, f(0x1.4a7f09d5f47d4p-54)},
                  {"v_trig_preop_f64", f(1.0), 34, 0, f(0x1.a6ee06db14accp-107)},  // five bits count
                  {"v_trig_preop_f64", f(0x1p60), 0, 0, f(0x1.7cc1b727220a9p-7)},
                  {"v_trig_preop_f64", f(0x1p60), 3, 0, f(0x1.10e4107f9458ep-166)},
                  {"v_trig_preop_f64", f(0x1p944), 2, 0, f(0x1.7cbe2f67a0e73p-997)},
                  {"v_trig_preop_f64", f(0x1p944), 3, 0, u64{0x1de294a}},             // towards zero
                  {"v_trig_preop_f64", f(0x1p945), 0, 0, f(0x1.74f463f669e5fp-764)},  // from here on times 2^128
                  {"v_trig_preop_f64", f(0x1p1023), 3, 0, f(0x1.1aba10ac06608p-1001)},
                  {"v_trig_preop_f64", f(0x1p1023), 5, 0, 0},  // past the table
              });
}

TEST_CASE("integer arithmetic wraps, or saturates with CLAMP", "[isa][values]") {
    check_all("12.7 VOP2 and 12.12 VOP3 instructions",
              {
                  {"v_add_u32", 0xffffffff, 2, 0, 1},
                  {"v_add_u32", 0xffffffff, 2, 0, 0xffffffff, kClamp},
                  {"v_sub_u32", 1, 2, 0, 0xffffffff},
                  {"v_sub_u32", 1, 2, 0, 0, kClamp},
                  {"v_subrev_u32", 1, 2, 0, 1},
                  {"v_add_i32", kIntMax, 1, 0, kIntMin},
                  {"v_add_i32", kIntMax, 1, 0, kIntMax, kClamp},
                  {"v_sub_i32", kIntMin, 1, 0, kIntMin, kClamp},
                  {"v_min_i32", kIntMin, 1, 0, kIntMin},
                  {"v_max_u32", kIntMin, 1, 0, kIntMin},
                  {"v_med3_i32", 5, 0xffffffff, 3, 3},
                  {"v_med3_u32", 5, 0xffffffff, 3, 5},
                  {"v_mul_lo_u32", 0x10001, 0x10001, 0, 0x20001},
                  {"v_mul_hi_u32", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
                  {"v_mul_hi_i32", kIntMin, kIntMin, 0, 0x40000000},
                  {"v_mul_i32_i24", 0x00ffffff, 0x7fffff, 0, static_cast<u32>(-0x7fffff)},
                  {"v_mul_hi_i32_i24", 0x800000, 0x7fffff, 0, 0xffffc000},
                  {"v_mul_u32_u24", 0xff000002, 3, 0, 6},
                  {"v_mad_i32_i24", 0xffffff, 2, 5, 3},
                  {"v_mad_u32_u24", 2, 3, 4, 10},
                  {"v_mad_u64_u32", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff00000000},
                  {"v_mad_i64_i32", 0xffffffff, 5, 1, static_cast<u64>(-4)},
                  {"v_add3_u32", 1, 2, 3, 6},
                  {"v_lshl_add_u32", 3, 33, 1, 7},
                  {"v_add_lshl_u32", 1, 2, 4, 48},
                  {"v_lshl_or_b32", 1, 4, 1, 17},
                  {"v_and_or_b32", 6, 3, 8, 10},
                  {"v_or3_b32", 1, 2, 4, 7},
                  {"v_xad_u32", 6, 3, 1, 6},
                  {"v_sad_u32", 3, 10, 1, 8},
                  {"v_sad_u8", 0x01020304, 0x04030201, 100, 108},
                  {"v_sad_hi_u8", 0x01020304, 0x04030201, 1, 0x80001},
                  {"v_sad_u16", 0x00010004, 0x00040001, 0, 6},
                  {"v_msad_u8", 0x01020304, 0x00030201, 0, 5},
                  {"v_lerp_u8", 0x01020304, 0x03040506, 0, 0x02030405},
                  {"v_add_u16", 0xffff, 2, 0, 1},
                  {"v_add_u16", 0xffff, 2, 0, 0xffff, kClamp},
                  {"v_mul_lo_u16", 0x101, 0x101, 0, 0x201},
                  {"v_max_i16", 0x8000, 1, 0, 1},
              });
}

TEST_CASE("shifts, bit fields and permutations", "[isa][values]") {
    check_all("12.7 VOP2 and 12.12 VOP3 instructions",
              {
                  {"v_lshlrev_b32", 33, 1, 0, 2},
                  {"v_lshrrev_b32", 31, kIntMin, 0, 1},
                  {"v_ashrrev_i32", 31, kIntMin, 0, 0xffffffff},
                  {"v_lshlrev_b64", 65, 1, 0, 2},
                  {"v_lshlrev_b64", 40, 1, 0, u64{1} << 40},
                  {"v_lshrrev_b64", 63, u64{1} << 63, 0, 1},
                  {"v_ashrrev_i64", 63, u64{1} << 63, 0, kAll},
                  {"v_lshlrev_b16", 17, 0x8001, 0, 2},
                  {"v_ashrrev_i16", 15, 0x8000, 0, 0xffff},
                  {"v_bfe_u32", 0xabcd1234, 8, 8, 0x12},
                  {"v_bfe_u32", 0xabcd1234, 24, 16, 0xab},
                  {"v_bfe_u32", 0xffffffff, 0, 32, 0},
                  {"v_bfe_i32", 0x0000f000, 12, 4, 0xffffffff},
                  {"v_bfe_i32", 0x80000000, 28, 16, 0xfffffff8},
                  {"v_bfe_i32", 0xffffffff, 4, 0, 0},
                  {"v_bfi_b32", 0x0000ffff, 0x12345678, 0xabcdef01, 0xabcd5678},
                  {"v_bfm_b32", 4, 8, 0, 0xf00},
                  {"v_bfrev_b32", 1, 0, 0, kIntMin},
                  {"v_bcnt_u32_b32", 0xff, 3, 0, 11},
                  {"v_ffbh_u32", 0x00ff0000, 0, 0, 8},
                  {"v_ffbh_u32", 0, 0, 0, 0xffffffff},
                  {"v_ffbl_b32", 0x00ff0000, 0, 0, 16},
                  {"v_ffbl_b32", 0, 0, 0, 0xffffffff},
                  {"v_ffbh_i32", 0xffffffff, 0, 0, 0xffffffff},
                  {"v_ffbh_i32", 0xfffffffe, 0, 0, 31},
                  {"v_alignbit_b32", 0x12345678, 0xabcdef01, 8, 0x78abcdef},
                  {"v_alignbyte_b32", 0x12345678, 0xabcdef01, 1, 0x78abcdef},
                  {"v_perm_b32", 0x11223344, 0xaabbccdd, 0x0c0d0004, 0x00ffdd44},
                  {"v_perm_b32", 0x80000000, 0x00008000, 0x0b0a0908, 0xff0000ff},
                  {"v_not_b32", 5, 0, 0, 0xfffffffa},
                  {"v_xnor_b32", 5, 3, 0, 0xfffffff9},
                  {"v_pack_b32_f16", 0x13c00, 0xbc00, 0, 0xbc003c00},
                  {"v_sat_pk_u8_i16", 0x0180ffff, 0, 0, 0xff00},
              });
}

TEST_CASE("half floats round once", "[isa][values]") {
    check_all("12.7 VOP2, 12.8 VOP1 and 12.12 VOP3 instructions",
              {
                  {"v_add_f16", 0x3c00, 0x3c00, 0, 0x4000},
                  {"v_add_f16", 0x7bff, 0x7bff, 0, 0x7c00},
                  {"v_mul_f16", 0x0001, 0x3800, 0, 0},
                  {"v_mul_f16", 0x0003, 0x3800, 0, 2},
                  {"v_fma_f16", 0x3c10, 0x3c10, 0xbc00, 0x22222808, 0},  // the other half is kept
                  {"v_mad_f16", 0x3c10, 0x3c10, 0xbc00, 0x22222800, 0},
                  {"v_rcp_f16", 0x4000, 0, 0, 0x3800},
                  {"v_max_f16", 0x8000, 0x0000, 0, 0},
                  {"v_ldexp_f16", 0x3c00, 4, 0, 0x4c00},
                  {"v_cvt_u16_f16", 0xbc00, 0, 0, 0},
                  {"v_cvt_i16_f16", 0x7c00, 0, 0, 0x7fff},
                  {"v_cvt_f16_i16", 0x8000, 0, 0, 0xf800},
              });
}

TEST_CASE("a quotient of doubles that loses one bit to the denormals is rounded once", "[isa][values]") {
    // 2^-1021 / 3: the remainder, the reciprocal and the quotient that v_div_fmas_f64 gets, scaled by 2^128.
    Machine m;
    m.vgpr64(0, bits(0x1p-947));
    m.vgpr64(2, bits(0x1.5555555555555p-2));
    m.vgpr64(4, bits(0x1.5555555555555p-895));
    m.wave().set_s64(kfdemu::isa::kVcc, kAll);
    m.run(vop3("v_div_fmas_f64", 8, v(0), v(2), v(4)));
    CHECK(m.lane64(8, 17) == 0x000aaaaaaaaaaaab);
}
