// Conversions at their edges: out of range, NaN, denormals, halfway.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;

TEST_CASE("floats to 32-bit integers: towards zero, saturating, NaN is zero", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_CVT_I32_F32, V_CVT_U32_F32, V_CVT_I32_F64, V_CVT_U32_F64",
              {
                  {"v_cvt_i32_f32", f(-0.99f), 0, 0, 0},
                  {"v_cvt_i32_f32", 0x4effffff, 0, 0, 0x7fffff80},
                  {"v_cvt_i32_f32", f(0x1p31f), 0, 0, kIntMax},
                  {"v_cvt_i32_f32", f(-0x1p31f), 0, 0, kIntMin},
                  {"v_cvt_i32_f32", 0xcf000001, 0, 0, kIntMin},
                  {"v_cvt_i32_f32", kInf, 0, 0, kIntMax},
                  {"v_cvt_i32_f32", kMinusNan, 0, 0, 0},
                  {"v_cvt_i32_f32", kSignalling, 0, 0, 0},
                  {"v_cvt_i32_f32", kMaxFloat, 0, 0, kIntMax},
                  {"v_cvt_i32_f32", kMinusZero, 0, 0, 0},
                  {"v_cvt_i32_f32", 0x807fffff, 0, 0, 0},
                  {"v_cvt_u32_f32", f(-0.99f), 0, 0, 0},
                  {"v_cvt_u32_f32", kMinusInf, 0, 0, 0},
                  {"v_cvt_u32_f32", f(0x1p31f), 0, 0, 0x80000000},
                  {"v_cvt_u32_f32", 0x4f7fffff, 0, 0, 0xffffff00},
                  {"v_cvt_u32_f32", f(0x1p32f), 0, 0, 0xffffffff},
                  {"v_cvt_u32_f32", kMinusNan, 0, 0, 0},
                  {"v_cvt_i32_f64", f(2147483647.9), 0, 0, kIntMax},
                  {"v_cvt_i32_f64", f(-2147483648.9), 0, 0, kIntMin},
                  {"v_cvt_i32_f64", f(-2147483649.0), 0, 0, kIntMin},
                  {"v_cvt_i32_f64", kInf64 | kSign64, 0, 0, kIntMin},
                  {"v_cvt_i32_f64", kNan64, 0, 0, 0},
                  {"v_cvt_i32_f64", 1, 0, 0, 0},
                  {"v_cvt_u32_f64", f(-0.99), 0, 0, 0},
                  {"v_cvt_u32_f64", f(4294967295.99), 0, 0, 0xffffffff},
                  {"v_cvt_u32_f64", f(4294967296.0), 0, 0, 0xffffffff},
                  {"v_cvt_u32_f64", kInf64, 0, 0, 0xffffffff},
                  {"v_cvt_u32_f64", kNan64 | kSign64, 0, 0, 0},
              });
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_CVT_RPI_I32_F32, V_CVT_FLR_I32_F32",
              {
                  {"v_cvt_rpi_i32_f32", f(0.5f), 0, 0, 1},
                  {"v_cvt_rpi_i32_f32", f(-0.5f), 0, 0, 0},
                  {"v_cvt_rpi_i32_f32", f(-1.5f), 0, 0, whole(-1)},
                  {"v_cvt_rpi_i32_f32", f(-1.75f), 0, 0, whole(-2)},
                  {"v_cvt_rpi_i32_f32", kInf, 0, 0, kIntMax},
                  {"v_cvt_rpi_i32_f32", kNan, 0, 0, 0},
                  {"v_cvt_flr_i32_f32", f(-0.25f), 0, 0, whole(-1)},
                  {"v_cvt_flr_i32_f32", f(0.99f), 0, 0, 0},
                  {"v_cvt_flr_i32_f32", kMinusInf, 0, 0, kIntMin},
                  {"v_cvt_flr_i32_f32", f(0x1p31f), 0, 0, kIntMax},
                  {"v_cvt_flr_i32_f32", kNan, 0, 0, 0},
              });
}

TEST_CASE("16-bit floats to and from integers", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_CVT_F16_U16 to V_CVT_I16_F16, V_CVT_NORM_*_F16, V_SAT_PK_U8_I16",
              {
                  {"v_cvt_i16_f16", 0xbbff, 0, 0, 0},
                  {"v_cvt_i16_f16", 0x7800, 0, 0, 0x7fff},  // 32768
                  {"v_cvt_i16_f16", 0xf800, 0, 0, 0x8000},
                  {"v_cvt_i16_f16", 0xfbff, 0, 0, 0x8000},
                  {"v_cvt_i16_f16", 0xfc00, 0, 0, 0x8000},
                  {"v_cvt_i16_f16", 0x7e00, 0, 0, 0},
                  {"v_cvt_i16_f16", 0x03ff, 0, 0, 0},
                  {"v_cvt_u16_f16", 0x7bff, 0, 0, 0xffe0},
                  {"v_cvt_u16_f16", 0x7c00, 0, 0, 0xffff},
                  {"v_cvt_u16_f16", 0xfc00, 0, 0, 0},
                  {"v_cvt_u16_f16", 0xfe00, 0, 0, 0},
                  {"v_cvt_f16_u16", 0xffff, 0, 0, 0x7c00},
                  {"v_cvt_f16_u16", 0xffef, 0, 0, 0x7bff},
                  {"v_cvt_f16_u16", 0x12340001, 0, 0, 0x3c00},
                  {"v_cvt_f16_i16", 0xffff, 0, 0, 0xbc00},
                  {"v_cvt_f16_i16", 0x7fff, 0, 0, 0x7800},
                  {"v_cvt_norm_i16_f16", 0x3c00, 0, 0, 0x7fff},
                  {"v_cvt_norm_i16_f16", 0xbc00, 0, 0, 0x8001},
                  {"v_cvt_norm_i16_f16", 0xfc00, 0, 0, 0x8001},
                  {"v_cvt_norm_i16_f16", 0x7e00, 0, 0, 0},
                  {"v_cvt_norm_u16_f16", 0x4000, 0, 0, 0xffff},
                  {"v_cvt_norm_u16_f16", 0xbc00, 0, 0, 0},
                  {"v_cvt_norm_u16_f16", 0x7e00, 0, 0, 0},
                  {"v_sat_pk_u8_i16", 0x00ff00fe, 0, 0, 0xfffe},
                  {"v_sat_pk_u8_i16", 0x80007fff, 0, 0, 0x00ff},
                  {"v_sat_pk_u8_i16", 0x01008000, 0, 0, 0xff00},
              });
}

TEST_CASE("conversions of integers to floats round", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_CVT_F32_I32 to V_CVT_F32_UBYTE3, V_CVT_OFF_F32_I4, V_CVT_F64_*",
              {
                  {"v_cvt_f32_i32", kIntMax, 0, 0, f(0x1p31f)},
                  {"v_cvt_f32_i32", 0xffffffff, 0, 0, kMinusOne},
                  {"v_cvt_f32_i32", 0x01000003, 0, 0, 0x4b800002},
                  {"v_cvt_f32_u32", 0x80000000, 0, 0, f(0x1p31f)},
                  {"v_cvt_f32_u32", 0x80000080, 0, 0, f(0x1p31f)},  // a tie
                  {"v_cvt_f32_u32", 0x80000081, 0, 0, 0x4f000001},
                  {"v_cvt_f32_u32", 0x80000180, 0, 0, 0x4f000002},
                  {"v_cvt_f64_i32", 0xffffffff, 0, 0, f(-1.0)},
                  {"v_cvt_f64_i32", kIntMax, 0, 0, f(2147483647.0)},
                  {"v_cvt_f64_u32", 0x80000001, 0, 0, f(2147483649.0)},
                  {"v_cvt_f32_ubyte0", 0xffffff80, 0, 0, f(128.0f)},
                  {"v_cvt_f32_ubyte1", 0xffff00ff, 0, 0, 0},
                  {"v_cvt_f32_ubyte3", 0xff000000, 0, 0, f(255.0f)},
                  {"v_cvt_off_f32_i4", 7, 0, 0, f(0.4375f)},
                  {"v_cvt_off_f32_i4", 0xf, 0, 0, f(-0.0625f)},
                  {"v_cvt_off_f32_i4", 0xfffffff0, 0, 0, 0},
              });
}

TEST_CASE("floats to floats of another size", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_CVT_F16_F32, V_CVT_F32_F16, V_CVT_F32_F64, V_CVT_F64_F32",
              {
                  {"v_cvt_f16_f32", f(65519.99f), 0, 0, 0x7bff},
                  {"v_cvt_f16_f32", f(0x1.ffep-15f), 0, 0, 0x0400},
                  {"v_cvt_f16_f32", f(0x1.ff8p-15f), 0, 0, 0x03ff},
                  {"v_cvt_f16_f32", f(-0x1p-26f), 0, 0, 0x8000},
                  {"v_cvt_f16_f32", kDenormal, 0, 0, 0},
                  {"v_cvt_f16_f32", kMinusZero, 0, 0, 0x8000},
                  {"v_cvt_f16_f32", kMinusInf, 0, 0, 0xfc00},
                  {"v_cvt_f16_f32", kMaxFloat, 0, 0, 0x7c00},
                  {"v_cvt_f16_f32", 0xffc02000, 0, 0, 0xfe01},
                  {"v_cvt_f16_f32", kSignalling, 0, 0, 0x7e00},
                  {"v_cvt_f32_f16", 0x7c01, 0, 0, 0x7fc02000},
                  {"v_cvt_f32_f16", 0xfe05, 0, 0, 0xffc0a000},
                  {"v_cvt_f32_f16", 0x83ff, 0, 0, f(-0x1.ff8p-15f)},
                  {"v_cvt_f32_f16", 0x7bff, 0, 0, f(65504.0f)},
                  {"v_cvt_f32_f16", 0xabcd8000, 0, 0, kMinusZero},
                  {"v_cvt_f32_f64", f(0x1.fffffefp127), 0, 0, kMaxFloat},
                  {"v_cvt_f32_f64", f(0x1.ffffffp127), 0, 0, kInf},
                  {"v_cvt_f32_f64", f(0x1.fffffe8p-127), 0, 0, kMinNormal},
                  {"v_cvt_f32_f64", f(-0x1p-150), 0, 0, kMinusZero},
                  {"v_cvt_f32_f64", f(0x1.8p-150), 0, 0, 1},
                  {"v_cvt_f32_f64", 1, 0, 0, 0},
                  {"v_cvt_f32_f64", kInf64 | kSign64, 0, 0, kMinusInf},
                  {"v_cvt_f32_f64", 0x7ff0000020000000, 0, 0, kNan | 1},
                  {"v_cvt_f32_f64", 0xfff8000000000000, 0, 0, kMinusNan},
                  {"v_cvt_f64_f32", 0x80000001, 0, 0, f(-0x1p-149)},
                  {"v_cvt_f64_f32", kMinusZero, 0, 0, kSign64},
                  {"v_cvt_f64_f32", kInf, 0, 0, kInf64},
                  {"v_cvt_f64_f32", kSignalling, 0, 0, 0x7ff8000020000000},
                  {"v_cvt_f64_f32", kMaxFloat, 0, 0, f(0x1.fffffep127)},
              });
}

TEST_CASE("conversions that pack two results or insert one", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.12 VOP3, V_CVT_PK*",
              {
                  {"v_cvt_pkrtz_f16_f32", f(65536.0f), f(-70000.0f), 0, 0xfbff7bff},
                  {"v_cvt_pkrtz_f16_f32", kInf, kMinusInf, 0, 0xfc007c00},
                  {"v_cvt_pkrtz_f16_f32", f(0x1.ffcp-1f), 0x3f7fffff, 0, 0x3bff3bff},
                  {"v_cvt_pkrtz_f16_f32", f(0x1.8p-24f), f(-0x1.fp-25f), 0, 0x80000001},
                  {"v_cvt_pkrtz_f16_f32", kNan, kMinusZero, 0, 0x80007e00},
                  {"v_cvt_pknorm_i16_f32", f(2.0f), kMinusInf, 0, 0x80017fff},
                  {"v_cvt_pknorm_i16_f32", kNan, kMinusZero, 0, 0},
                  {"v_cvt_pknorm_u16_f32", kInf, kNan, 0, 0x0000ffff},
                  {"v_cvt_pknorm_u16_f32", f(-1.0f), kDenormal, 0, 0},
                  {"v_cvt_pknorm_i16_f16", 0x4000, 0xfc00, 0, 0x80017fff},
                  {"v_cvt_pknorm_u16_f16", 0x3c00, 0x7e00, 0, 0x0000ffff},
                  {"v_cvt_pk_u16_u32", 0xffffffff, 0x10000, 0, 0xffffffff},
                  {"v_cvt_pk_u16_u32", 0xffff, 0, 0, 0x0000ffff},
                  {"v_cvt_pk_i16_i32", kIntMax, kIntMin, 0, 0x80007fff},
                  {"v_cvt_pk_i16_i32", whole(-32768), 32767, 0, 0x7fff8000},
                  {"v_cvt_pk_i16_i32", whole(-32769), 32768, 0, 0x7fff8000},
                  {"v_cvt_pk_u8_f32", f(255.0f), 0, 0xaabbccdd, 0xaabbccff},
                  {"v_cvt_pk_u8_f32", f(-3.0f), 1, 0xaabbccdd, 0xaabb00dd},
                  {"v_cvt_pk_u8_f32", kNan, 3, 0xaabbccdd, 0x00bbccdd},
                  {"v_cvt_pk_u8_f32", kInf, 6, 0xaabbccdd, 0xaaffccdd},  // two bits count
                  {"v_cvt_pk_u8_f32", f(254.5f), 0, 0, 254},
                  {"v_cvt_pkaccum_u8_f32", f(17.0f), 2, 0xaabbccdd, 0xaa11ccdd},
              });
}
