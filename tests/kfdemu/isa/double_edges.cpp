// 64-bit floats at their edges.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;

namespace {
constexpr u64 kMinusInf64 = kInf64 | kSign64, kMinusNan64 = kNan64 | kSign64, kSignalling64 = kInf64 | 1;
}  // namespace

TEST_CASE("64-bit arithmetic: NaN, infinity, denormals, zeroes", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 3.5 Mode register, IEEE; 12.12 VOP3, V_ADD_F64 to V_MAX_F64, V_FMA_F64",
              {
                  {"v_add_f64", kNan64 | 0x123, f(1.0), 0, kNan64 | 0x123},
                  {"v_add_f64", f(1.0), kMinusInf64 | 5, 0, kMinusNan64 | 5},
                  {"v_mul_f64", kSignalling64, 0, 0, kNan64 | 1},
                  {"v_fma_f64", f(1.0), f(1.0), kSignalling64, kNan64 | 1},
                  {"v_add_f64", kMinusInf64, kMaxDouble, 0, kMinusInf64},
                  {"v_mul_f64", kMinusInf64, 1, 0, kMinusInf64},
                  {"v_fma_f64", kMaxDouble, f(2.0), kMaxDouble | kSign64, kMaxDouble},
                  {"v_add_f64", kSign64, 0, 0, 0},
                  {"v_add_f64", kSign64, kSign64, 0, kSign64},
                  {"v_mul_f64", kSign64, f(1.0), 0, kSign64},
                  {"v_mul_f64", 1, 1, 0, 0},
                  {"v_add_f64", kMinNormal64, kSign64 | 1, 0, 0x000fffffffffffff},
                  {"v_mul_f64", 0x000fffffffffffff, f(2.0), 0, 0x001ffffffffffffe},
                  {"v_fma_f64", 3, f(0.5), 0, 2},
                  {"v_min_f64", 0, kSign64, 0, kSign64},
                  {"v_max_f64", kSign64, 0, 0, 0},
                  {"v_min_f64", kNan64, f(2.0), 0, f(2.0)},
                  {"v_max_f64", kMinusInf64, kNan64, 0, kMinusInf64},
                  {"v_max_f64", kSign64 | 1, kSign64 | 2, 0, kSign64 | 1},
              });
}

TEST_CASE("64-bit floats to whole ones, mantissa and exponent", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_TRUNC_F64 to V_FREXP_MANT_F64; 12.12 V_LDEXP_F64",
              {
                  {"v_rndne_f64", f(0.5), 0, 0, 0},
                  {"v_rndne_f64", f(-0.5), 0, 0, kSign64},
                  {"v_rndne_f64", f(2.5), 0, 0, f(2.0)},
                  {"v_rndne_f64", 0x3fdfffffffffffff, 0, 0, 0},
                  {"v_rndne_f64", f(4503599627370495.5), 0, 0, f(4503599627370496.0)},
                  {"v_rndne_f64", kSignalling64, 0, 0, kNan64 | 1},
                  {"v_trunc_f64", f(-0.75), 0, 0, kSign64},
                  {"v_ceil_f64", f(-0.75), 0, 0, kSign64},
                  {"v_ceil_f64", 1, 0, 0, f(1.0)},
                  {"v_floor_f64", kSign64 | 1, 0, 0, f(-1.0)},
                  {"v_floor_f64", kMinusInf64, 0, 0, kMinusInf64},
                  {"v_fract_f64", f(-1.25), 0, 0, f(0.75)},
                  {"v_fract_f64", kSign64 | 1, 0, 0, 0x3fefffffffffffff},
                  {"v_fract_f64", f(-0x1p-60), 0, 0, 0x3fefffffffffffff},
                  {"v_fract_f64", f(5.0), 0, 0, 0},
                  {"v_frexp_exp_i32_f64", 0, 0, 0, 0},
                  {"v_frexp_exp_i32_f64", kMaxDouble, 0, 0, 1024},
                  {"v_frexp_exp_i32_f64", kMinNormal64, 0, 0, whole(-1021)},
                  {"v_frexp_exp_i32_f64", 1, 0, 0, whole(-1073)},
                  {"v_frexp_exp_i32_f64", kMinusInf64, 0, 0, 0},
                  {"v_frexp_exp_i32_f64", kNan64, 0, 0, 0},
                  {"v_frexp_mant_f64", kSign64, 0, 0, kSign64},
                  {"v_frexp_mant_f64", kMaxDouble, 0, 0, 0x3fefffffffffffff},
                  {"v_frexp_mant_f64", kSign64 | 3, 0, 0, f(-0.75)},
                  {"v_frexp_mant_f64", kMinusInf64, 0, 0, kMinusInf64},
                  {"v_frexp_mant_f64", kNan64 | 5, 0, 0, kNan64 | 5},
                  {"v_ldexp_f64", f(1.0), 1024, 0, kInf64},
                  {"v_ldexp_f64", f(1.0), kIntMax, 0, kInf64},
                  {"v_ldexp_f64", f(-1.0), kIntMin, 0, kSign64},
                  {"v_ldexp_f64", kMaxDouble, whole(-2098), 0, 1},
                  {"v_ldexp_f64", kMaxDouble, whole(-2097), 0, 2},
                  {"v_ldexp_f64", 1, 2097, 0, f(0x1p1023)},
                  {"v_ldexp_f64", 0, kIntMax, 0, 0},
                  {"v_ldexp_f64", kMinusInf64, kIntMin, 0, kMinusInf64},
                  {"v_ldexp_f64", kSignalling64, 1, 0, kNan64 | 1},
              });
}

TEST_CASE("64-bit reciprocals and roots of special values", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_RCP_F64, V_RSQ_F64, V_SQRT_F64",
              {
                  {"v_rcp_f64", 0, 0, 0, kInf64},
                  {"v_rcp_f64", kSign64, 0, 0, kMinusInf64},
                  {"v_rcp_f64", kMinusInf64, 0, 0, kSign64},
                  {"v_rcp_f64", kSignalling64, 0, 0, kNan64 | 1},
                  {"v_rcp_f64", f(-2.0), 0, 0, f(-0.5)},
                  {"v_rsq_f64", 0, 0, 0, kInf64},
                  {"v_rsq_f64", kSign64, 0, 0, kMinusInf64},
                  {"v_rsq_f64", kInf64, 0, 0, 0},
                  {"v_rsq_f64", f(4.0), 0, 0, f(0.5)},
                  {"v_rsq_f64", f(-1.0), 0, 0, kMinusNan64},
                  {"v_sqrt_f64", kSign64, 0, 0, kSign64},
                  {"v_sqrt_f64", kInf64, 0, 0, kInf64},
                  {"v_sqrt_f64", f(-1.0), 0, 0, kMinusNan64},
                  {"v_sqrt_f64", kMinusInf64, 0, 0, kMinusNan64},
                  {"v_sqrt_f64", f(0x1p-1074), 0, 0, f(0x1p-537)},
              });
}
