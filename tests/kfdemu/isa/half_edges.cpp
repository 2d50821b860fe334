// 16-bit floats at their edges, single and packed.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;

TEST_CASE("16-bit arithmetic: NaN, infinity, denormals, zeroes", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.7 VOP2, V_ADD_F16 to V_MUL_F16; 12.12 VOP3, V_FMA_F16, V_MAD_F16",
              {
                  {"v_add_f16", 0x7e12, 0x3c00, 0, 0x7e12},
                  {"v_add_f16", 0x3c00, 0xfc01, 0, 0xfe01},
                  {"v_mul_f16", 0x7c05, 0x0000, 0, 0x7e05},
                  {"v_sub_f16", 0x7c00, 0xfc00, 0, 0x7c00},
                  {"v_subrev_f16", 0x4200, 0x3c00, 0, 0xc000},
                  {"v_add_f16", 0x8000, 0x0000, 0, 0x0000},
                  {"v_add_f16", 0x8000, 0x8000, 0, 0x8000},
                  {"v_mul_f16", 0x8000, 0x3c00, 0, 0x8000},
                  {"v_add_f16", 0x0001, 0x83ff, 0, 0x83fe},
                  {"v_sub_f16", 0x0400, 0x0001, 0, 0x03ff},
                  {"v_mul_f16", 0x0001, 0x0001, 0, 0x0000},
                  {"v_mul_f16", 0x03ff, 0x4000, 0, 0x07fe},
                  {"v_add_f16", 0x7bff, 0x4c00, 0, 0x7c00},  // 65504 + 16: half a last place, to even
                  {"v_add_f16", 0x7bff, 0x4bff, 0, 0x7bff},
                  {"v_add_f16", 0x6800, 0x3c00, 0, 0x6800},      // 2048 + 1
                  {"v_add_f16", 0x6801, 0x3c00, 0, 0x6802},      // 2050 + 1
                  {"v_add_f16", 0x3c00, 0xaaaa1400, 0, 0x3c01},  // the other half does not count
                  {"v_fma_f16", 0x7bff, 0x4000, 0xfbff, 0x22227bff},
                  {"v_mad_f16", 0x7bff, 0x4000, 0xfbff, 0x22227c00},  // the product overflows first
                  {"v_fma_f16", 0x3c01, 0x3c01, 0xbc02, 0x22220010},  // 2^-20
                  {"v_mad_f16", 0x3c01, 0x3c01, 0xbc02, 0x22220000},
                  {"v_fma_f16", 0x0001, 0x0001, 0x3c00, 0x22223c00},
                  {"v_fma_f16", 0x3c00, 0x7c01, 0x3c00, 0x22227e01},
                  {"v_mac_f16", 0x4000, 0x4200, 0x3c00, 0x00004700},
                  {"v_mad_legacy_f16", 0x4000, 0x4200, 0x3c00, 0x00004700},  // clears the upper half
                  {"v_fma_legacy_f16", 0x4000, 0x4200, 0x3c00, 0x00004700},
                  {"v_min_f16", 0x0000, 0x8000, 0, 0x8000},
                  {"v_max_f16", 0x8000, 0x0000, 0, 0x0000},
                  {"v_min_f16", 0x7e00, 0xc000, 0, 0xc000},
                  {"v_max_f16", 0xfc00, 0x7e00, 0, 0xfc00},
                  {"v_min3_f16", 0x7e00, 0x4000, 0x3c00, 0x22223c00},
                  {"v_max3_f16", 0xfc00, 0x8000, 0x0000, 0x22220000},
                  {"v_med3_f16", 0x4200, 0x3c00, 0x4000, 0x22224000},
                  {"v_med3_f16", 0x4200, 0x7e00, 0x4000, 0x22224000},
                  {"v_med3_f16", 0x8000, 0x0000, 0xbc00, 0x22220000},
              });
}

TEST_CASE("16-bit floats to whole ones, mantissa and exponent", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_FREXP_MANT_F16 to V_FRACT_F16; 12.7 VOP2, V_LDEXP_F16",
              {
                  {"v_rndne_f16", 0x3800, 0, 0, 0x0000},         {"v_rndne_f16", 0xb800, 0, 0, 0x8000},
                  {"v_rndne_f16", 0x3e00, 0, 0, 0x4000},         {"v_rndne_f16", 0x4100, 0, 0, 0x4000},
                  {"v_rndne_f16", 0x7bff, 0, 0, 0x7bff},         {"v_rndne_f16", 0x7c01, 0, 0, 0x7e01},
                  {"v_trunc_f16", 0xbbff, 0, 0, 0x8000},         {"v_ceil_f16", 0x0001, 0, 0, 0x3c00},
                  {"v_ceil_f16", 0xb800, 0, 0, 0x8000},          {"v_floor_f16", 0x8001, 0, 0, 0xbc00},
                  {"v_floor_f16", 0xfc00, 0, 0, 0xfc00},         {"v_fract_f16", 0xbd00, 0, 0, 0x3a00},
                  {"v_fract_f16", 0x8001, 0, 0, 0x3bff},  // never 1
                  {"v_fract_f16", 0x0001, 0, 0, 0x0001},         {"v_fract_f16", 0x4200, 0, 0, 0x0000},
                  {"v_frexp_exp_i16_f16", 0x0000, 0, 0, 0},      {"v_frexp_exp_i16_f16", 0x7bff, 0, 0, 16},
                  {"v_frexp_exp_i16_f16", 0x0400, 0, 0, 0xfff3}, {"v_frexp_exp_i16_f16", 0x8001, 0, 0, 0xffe9},
                  {"v_frexp_exp_i16_f16", 0xfc00, 0, 0, 0},      {"v_frexp_exp_i16_f16", 0x7e00, 0, 0, 0},
                  {"v_frexp_mant_f16", 0x8000, 0, 0, 0x8000},    {"v_frexp_mant_f16", 0x7bff, 0, 0, 0x3bff},
                  {"v_frexp_mant_f16", 0x8003, 0, 0, 0xba00},    {"v_frexp_mant_f16", 0xfc00, 0, 0, 0xfc00},
                  {"v_frexp_mant_f16", 0x7e05, 0, 0, 0x7e05},    {"v_ldexp_f16", 0x3c00, 15, 0, 0x7800},
                  {"v_ldexp_f16", 0x3c00, 16, 0, 0x7c00},        {"v_ldexp_f16", 0xbc00, 0x7fff, 0, 0xfc00},
                  {"v_ldexp_f16", 0xbc00, 0x8000, 0, 0x8000},    {"v_ldexp_f16", 0x0001, 39, 0, 0x7800},
                  {"v_ldexp_f16", 0x7bff, 0xffd7, 0, 0x0000},  // -41: below half of the least
                  {"v_ldexp_f16", 0x7bff, 0xffd8, 0, 0x0001},    {"v_ldexp_f16", 0x7c01, 1, 0, 0x7e01},
              });
}

TEST_CASE("16-bit approximations of special values", "[isa][edges]") {
    check_all("CDNA ISA manuals, 12.8 VOP1, V_RCP_F16 to V_EXP_F16, V_SIN_F16, V_COS_F16, functional examples",
              {
                  {"v_rcp_f16", 0xfc00, 0, 0, 0x8000},  {"v_rcp_f16", 0xc000, 0, 0, 0xb800},
                  {"v_rcp_f16", 0x8000, 0, 0, 0xfc00},  {"v_rcp_f16", 0x0000, 0, 0, 0x7c00},
                  {"v_rcp_f16", 0x7c00, 0, 0, 0x0000},  {"v_rcp_f16", 0x7800, 0, 0, 0x0200},
                  {"v_sqrt_f16", 0xfc00, 0, 0, 0xfe00}, {"v_sqrt_f16", 0x8000, 0, 0, 0x8000},
                  {"v_sqrt_f16", 0x0000, 0, 0, 0x0000}, {"v_sqrt_f16", 0x4400, 0, 0, 0x4000},
                  {"v_sqrt_f16", 0x7c00, 0, 0, 0x7c00}, {"v_sqrt_f16", 0x0001, 0, 0, 0x0c00},
                  {"v_rsq_f16", 0xfc00, 0, 0, 0xfe00},  {"v_rsq_f16", 0x8000, 0, 0, 0xfc00},
                  {"v_rsq_f16", 0x0000, 0, 0, 0x7c00},  {"v_rsq_f16", 0x4400, 0, 0, 0x3800},
                  {"v_rsq_f16", 0x7c00, 0, 0, 0x0000},  {"v_rsq_f16", 0x0001, 0, 0, 0x6c00},
                  {"v_log_f16", 0xfc00, 0, 0, 0xfe00},  {"v_log_f16", 0xbc00, 0, 0, 0xfe00},
                  {"v_log_f16", 0x8000, 0, 0, 0xfc00},  {"v_log_f16", 0x0000, 0, 0, 0xfc00},
                  {"v_log_f16", 0x3c00, 0, 0, 0x0000},  {"v_log_f16", 0x7c00, 0, 0, 0x7c00},
                  {"v_log_f16", 0x0001, 0, 0, 0xce00},  {"v_exp_f16", 0xfc00, 0, 0, 0x0000},
                  {"v_exp_f16", 0x8000, 0, 0, 0x3c00},  {"v_exp_f16", 0x7c00, 0, 0, 0x7c00},
                  {"v_exp_f16", 0xce00, 0, 0, 0x0001},  {"v_exp_f16", 0x4c00, 0, 0, 0x7c00},
                  {"v_sin_f16", 0xfc00, 0, 0, 0xfe00},  {"v_sin_f16", 0xfbff, 0, 0, 0x0000},
                  {"v_sin_f16", 0x8000, 0, 0, 0x8000},  {"v_sin_f16", 0x3400, 0, 0, 0x3c00},
                  {"v_sin_f16", 0x7bff, 0, 0, 0x0000},  {"v_sin_f16", 0x7c00, 0, 0, 0xfe00},
                  {"v_cos_f16", 0xfc00, 0, 0, 0xfe00},  {"v_cos_f16", 0xfbff, 0, 0, 0x3c00},
                  {"v_cos_f16", 0x8000, 0, 0, 0x3c00},  {"v_cos_f16", 0x3400, 0, 0, 0x0000},
                  {"v_cos_f16", 0x7bff, 0, 0, 0x3c00},  {"v_cos_f16", 0x7c00, 0, 0, 0xfe00},
                  {"v_rcp_f16", 0x7c01, 0, 0, 0x7e01},  {"v_log_f16", 0x7e05, 0, 0, 0x7e05},
                  {"v_exp_f16", 0x7c01, 0, 0, 0x7e01},  {"v_sin_f16", 0x7e05, 0, 0, 0x7e05},
              });
}

TEST_CASE("packed halves have the edges of single ones", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.10 VOP3P instructions",
              {
                  {"v_pk_add_f16", 0x7e128000, 0x3c000000, 0, 0x7e120000, 0, kOpSelHi},
                  {"v_pk_mul_f16", 0x7bff8000, 0x40003c00, 0, 0x7c008000, 0, kOpSelHi},
                  {"v_pk_mul_f16", 0x00010003, 0x38003800, 0, 0x00000002, 0, kOpSelHi},
                  {"v_pk_min_f16", 0x00007e00, 0x80003c00, 0, 0x80003c00, 0, kOpSelHi},
                  {"v_pk_max_f16", 0x8000fc00, 0x00007e00, 0, 0x0000fc00, 0, kOpSelHi},
                  {"v_pk_fma_f16", 0x3c017bff, 0x3c014000, 0xbc02fbff, 0x00107bff, kOpSelHi2, kOpSelHi},
                  {"v_pk_add_u16", 0xffff8000, 0x00018000, 0, 0x00000000, 0, kOpSelHi},
                  {"v_pk_sub_i16", 0x80000000, 0x00010001, 0, 0x7fffffff, 0, kOpSelHi},
                  {"v_pk_mul_lo_u16", 0xffff0101, 0xffff0101, 0, 0x00010201, 0, kOpSelHi},
                  {"v_pk_mad_u16", 0xffff0002, 0xffff0003, 0xffff0004, 0x0000000a, kOpSelHi2, kOpSelHi},
                  {"v_pk_min_i16", 0x80007fff, 0x7fff8000, 0, 0x80008000, 0, kOpSelHi},
                  {"v_pk_max_u16", 0x80007fff, 0x7fff8000, 0, 0x80008000, 0, kOpSelHi},
                  {"v_pk_lshlrev_b16", 0x0010000f, 0x80010001, 0, 0x80018000, 0, kOpSelHi},
                  {"v_pk_lshrrev_b16", 0x001fffff, 0x8000ffff, 0, 0x00010001, 0, kOpSelHi},
                  {"v_pk_ashrrev_i16", 0x000f0010, 0x80008001, 0, 0xffff8001, 0, kOpSelHi},
              });
}
