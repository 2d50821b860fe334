// 32-bit floats at their edges: NaN, infinity, denormals, -0, ties, least and greatest.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;

TEST_CASE("32-bit arithmetic propagates NaN, quieted, and makes NaN for invalid operations", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 3.5 Mode register, IEEE; 12.7 VOP2 and 12.12 VOP3 instructions",
              {
                  {"v_add_f32", kNan | 0x123, kOne, 0, kNan | 0x123},
                  {"v_add_f32", kOne, kMinusNan | 0x123, 0, kMinusNan | 0x123},
                  {"v_add_f32", kMinusInf | 0x123, kOne, 0, kMinusNan | 0x123},
                  {"v_sub_f32", kOne, kSignalling, 0, kSignalling | 0x400000},
                  {"v_subrev_f32", kOne, kNan | 7, 0, kNan | 7},
                  {"v_mul_f32", kNan | 7, 0, 0, kNan | 7},
                  {"v_mul_f32", kInf, kSignalling | 6, 0, kNan | 7},
                  {"v_fma_f32", kOne, kOne, kInf | 7, kNan | 7},
                  {"v_fma_f32", kOne, kNan | 9, kOne, kNan | 9},
                  {"v_mad_f32", kNan | 9, kOne, kOne, kNan | 9},
                  {"v_mac_f32", kOne, kOne, kNan | 9, kNan | 9},
                  {"v_fmac_f32", kOne, kInf | 9, kOne, kNan | 9},
                  {"v_add_f32", kInf, kInf, 0, kInf},
                  {"v_add_f32", kMinusInf, kMaxFloat, 0, kMinusInf},
                  {"v_sub_f32", kInf, kMinusInf, 0, kInf},
                  {"v_mul_f32", kMinusInf, kMinusInf, 0, kInf},
                  {"v_mul_f32", kMinusInf, kDenormal, 0, kMinusInf},
                  {"v_fma_f32", kMaxFloat, kMaxFloat, kMinusInf, kMinusInf},
                  {"v_fma_f32", kMaxFloat, f(2.0f), f(-0x1.fffffep127f), kMaxFloat},
                  {"v_mad_f32", kMaxFloat, f(2.0f), f(-0x1.fffffep127f), kInf},  // the product overflows first
                  {"v_fma_f32", kMinusZero, kOne, 0, 0},
                  {"v_fma_f32", kMinusZero, kOne, kMinusZero, kMinusZero},
                  {"v_fma_f32", kOne, kMinusOne, kOne, 0},
                  {"v_sub_f32", 0, 0, 0, 0},
                  {"v_sub_f32", kMinusZero, 0, 0, kMinusZero},
                  {"v_mul_f32", kMinusZero, kMinusZero, 0, 0},
                  {"v_mul_f32", 0, kMinusOne, 0, kMinusZero},
                  {"v_mul_f32", 1, 1, 0, 0},
                  {"v_mul_f32", 0x80000001, 1, 0, kMinusZero},
                  {"v_mul_f32", 0x007fffff, f(2.0f), 0, 0x00fffffe},
                  {"v_sub_f32", kMinNormal, 1, 0, 0x007fffff},
                  {"v_add_f32", kMaxFloat, f(0x1p103f), 0, kInf},  // half a last place: to even, which is beyond
                  {"v_add_f32", kMaxFloat, f(0x1.fffffep102f), 0, kMaxFloat},
                  {"v_mul_legacy_f32_gfx90a", kInf, kMinusZero, 0, 0},
                  {"v_mul_legacy_f32_gfx90a", kNan | 3, 0, 0, 0},
                  {"v_mul_legacy_f32_gfx90a", kNan | 3, kOne, 0, kNan | 3},
                  {"v_mad_legacy_f32", kInf, 0, f(3.0f), f(3.0f)},
                  {"v_mad_legacy_f32", kMinusZero, kNan, f(-3.0f), f(-3.0f)},
                  {"v_mad_legacy_f32", f(2.0f), f(3.0f), f(4.0f), f(10.0f)},
              });
}

TEST_CASE("infinity minus infinity and zero times infinity are NaN", "[isa][edges]") {
    // The manual leaves the sign and payload of a NaN that an instruction makes of numbers open.
    const struct {
        const char* name;
        u32 a, b, c;
    } rows[] = {{"v_add_f32", kInf, kMinusInf, 0},
                {"v_sub_f32", kInf, kInf, 0},
                {"v_mul_f32", 0, kMinusInf, 0},
                {"v_mul_f32", kInf, kMinusZero, 0},
                {"v_fma_f32", kInf, 0, kOne},
                {"v_fma_f32", kInf, kOne, kMinusInf},
                {"v_mad_f32", kInf, kDenormal, 0},
                {"v_mac_f32", kOne, kInf, kMinusInf},
                {"v_mad_legacy_f32", kInf, kOne, kMinusInf}};
    for (const Level level : levels()) {
        for (const auto& row : rows) {
            INFO(row.name << " on " << name(level));
            Machine m{Target::gfx90a, level};
            m.vgpr(1, row.a);
            m.vgpr(2, row.b);
            m.vgpr(3, row.c);
            m.vgpr(0, row.c);
            m.run(vop3(row.name, 0, v(1), v(2), v(3)));
            CHECK((m.lane(0, 9) & kNan) == kNan);
        }
    }
}

TEST_CASE("least, greatest and middle of three: -0 is below +0, NaN does not count", "[isa][edges]") {
    check_all(
        "\"Vega\" ISA manual, 12.7 VOP2, V_MIN_F32, V_MAX_F32; 12.12 VOP3, V_MIN3_F32, V_MAX3_F32, "
        "V_MED3_F32",
        {
            {"v_min_f32", 0, kMinusZero, 0, kMinusZero},
            {"v_max_f32", 0, kMinusZero, 0, 0},
            {"v_max_f32", kMinusZero, kMinusZero, 0, kMinusZero},
            {"v_min_f32", kMinusInf, kNan, 0, kMinusInf},
            {"v_max_f32", kMinusInf, kNan, 0, kMinusInf},
            {"v_min_f32", 1, 2, 0, 1},
            {"v_max_f32", 0x80000001, 0x80000002, 0, 0x80000001},
            {"v_min3_f32", kNan, kNan, f(3.0f), f(3.0f)},
            {"v_min3_f32", f(3.0f), kNan, f(-3.0f), f(-3.0f)},
            {"v_min3_f32", 0, kOne, kMinusZero, kMinusZero},
            {"v_max3_f32", kNan, f(3.0f), kNan, f(3.0f)},
            {"v_max3_f32", kMinusInf, kMinusZero, 0, 0},
            {"v_max3_f32", kNan | 1, kNan | 2, kNan | 3, kNan | 3},
            {"v_med3_f32", f(1.0f), f(2.0f), f(3.0f), f(2.0f)},
            {"v_med3_f32", f(3.0f), f(1.0f), f(2.0f), f(2.0f)},
            {"v_med3_f32", f(2.0f), f(2.0f), f(1.0f), f(2.0f)},
            {"v_med3_f32", kMinusInf, kInf, f(7.0f), f(7.0f)},
            {"v_med3_f32", f(5.0f), kNan, f(3.0f), f(3.0f)},  // the least of the others
            {"v_med3_f32", kNan, f(5.0f), f(3.0f), f(3.0f)},
            {"v_med3_f32", f(3.0f), f(5.0f), kNan, f(3.0f)},
            {"v_med3_f32", kNan, kNan, f(3.0f), f(3.0f)},
            {"v_med3_f32", kMinusZero, 0, kOne, 0},
            {"v_med3_f32", kMinusZero, 0, kMinusOne, 0},  // the greatest equals the first, -0
            {"v_med3_f32", 0, kMinusZero, kMinusOne, kMinusZero},
        });
}

TEST_CASE("rounding to whole 32-bit floats: ties, signs, whole numbers", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_FRACT_F32, V_TRUNC_F32, V_CEIL_F32, V_RNDNE_F32, V_FLOOR_F32",
              {
                  {"v_rndne_f32", f(0.5f), 0, 0, 0},
                  {"v_rndne_f32", f(-0.5f), 0, 0, kMinusZero},
                  {"v_rndne_f32", f(1.5f), 0, 0, f(2.0f)},
                  {"v_rndne_f32", f(-2.5f), 0, 0, f(-2.0f)},
                  {"v_rndne_f32", 0x3effffff, 0, 0, 0},  // just below a half
                  {"v_rndne_f32", 0x3f000001, 0, 0, kOne},
                  {"v_rndne_f32", f(8388607.5f), 0, 0, f(8388608.0f)},
                  {"v_rndne_f32", f(8388609.0f), 0, 0, f(8388609.0f)},
                  {"v_rndne_f32", kMinusInf, 0, 0, kMinusInf},
                  {"v_rndne_f32", kSignalling, 0, 0, kSignalling | 0x400000},
                  {"v_rndne_f32", 0x80000001, 0, 0, kMinusZero},
                  {"v_trunc_f32", f(-0.75f), 0, 0, kMinusZero},
                  {"v_trunc_f32", f(0x1.fffffep22f), 0, 0, f(8388607.0f)},
                  {"v_trunc_f32", kMaxFloat, 0, 0, kMaxFloat},
                  {"v_trunc_f32", kNan | 5, 0, 0, kNan | 5},
                  {"v_ceil_f32", f(-0.75f), 0, 0, kMinusZero},
                  {"v_ceil_f32", 1, 0, 0, kOne},
                  {"v_ceil_f32", 0x80000001, 0, 0, kMinusZero},
                  {"v_ceil_f32", kMinusZero, 0, 0, kMinusZero},
                  {"v_floor_f32", 0x80000001, 0, 0, kMinusOne},
                  {"v_floor_f32", kMinusZero, 0, 0, kMinusZero},
                  {"v_floor_f32", f(0.75f), 0, 0, 0},
                  {"v_floor_f32", kInf, 0, 0, kInf},
                  {"v_fract_f32", f(2.75f), 0, 0, f(0.75f)},
                  {"v_fract_f32", f(-1.25f), 0, 0, f(0.75f)},
                  {"v_fract_f32", f(3.0f), 0, 0, 0},
                  {"v_fract_f32", f(-3.0f), 0, 0, 0},
                  {"v_fract_f32", 0x80000001, 0, 0, 0x3f7fffff},  // never 1
                  {"v_fract_f32", kDenormal, 0, 0, kDenormal},
                  {"v_fract_f32", kMaxFloat, 0, 0, 0},
                  {"v_fract_f32", kNan | 5, 0, 0, kNan | 5},
              });
}

TEST_CASE("mantissa and exponent of 32-bit floats", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.8 VOP1, V_FREXP_EXP_I32_F32, V_FREXP_MANT_F32; 12.12 VOP3, V_LDEXP_F32",
              {
                  {"v_frexp_exp_i32_f32", 0, 0, 0, 0},
                  {"v_frexp_exp_i32_f32", kMinusZero, 0, 0, 0},
                  {"v_frexp_exp_i32_f32", kOne, 0, 0, 1},
                  {"v_frexp_exp_i32_f32", kMaxFloat, 0, 0, 128},
                  {"v_frexp_exp_i32_f32", kMinNormal, 0, 0, whole(-125)},
                  {"v_frexp_exp_i32_f32", 0x007fffff, 0, 0, whole(-126)},
                  {"v_frexp_exp_i32_f32", 0x80000001, 0, 0, whole(-148)},
                  {"v_frexp_exp_i32_f32", kMinusInf, 0, 0, 0},
                  {"v_frexp_exp_i32_f32", kNan, 0, 0, 0},
                  {"v_frexp_mant_f32", 0, 0, 0, 0},
                  {"v_frexp_mant_f32", kMinusZero, 0, 0, kMinusZero},
                  {"v_frexp_mant_f32", kMaxFloat, 0, 0, 0x3f7fffff},
                  {"v_frexp_mant_f32", 0x007fffff, 0, 0, 0x3f7ffffe},
                  {"v_frexp_mant_f32", 0x80000003, 0, 0, f(-0.75f)},
                  {"v_frexp_mant_f32", kMinusInf, 0, 0, kMinusInf},
                  {"v_frexp_mant_f32", kNan | 5, 0, 0, kNan | 5},
                  {"v_ldexp_f32", kOne, 128, 0, kInf},
                  {"v_ldexp_f32", kOne, 127, 0, f(0x1p127f)},
                  {"v_ldexp_f32", kMaxFloat, whole(-278), 0, 0},
                  {"v_ldexp_f32", kMaxFloat, whole(-277), 0, 1},
                  {"v_ldexp_f32", kOne, kIntMin, 0, 0},
                  {"v_ldexp_f32", kMinusOne, kIntMin, 0, kMinusZero},
                  {"v_ldexp_f32", kDenormal, kIntMax, 0, kInf},
                  {"v_ldexp_f32", kDenormal, 276, 0, f(0x1p127f)},
                  {"v_ldexp_f32", 0, kIntMax, 0, 0},
                  {"v_ldexp_f32", kMinusInf, kIntMin, 0, kMinusInf},
                  {"v_ldexp_f32", kSignalling, 1, 0, kSignalling | 0x400000},
              });
}

TEST_CASE("cube maps: the greatest axis, z before y before x where they tie", "[isa][edges]") {
    const u32 one = kOne, two = f(2.0f), m1 = kMinusOne, m2 = f(-2.0f);
    check_all("\"Vega\" ISA manual, 12.12 VOP3, V_CUBEID_F32, V_CUBESC_F32, V_CUBETC_F32, V_CUBEMA_F32",
              {
                  {"v_cubeid_f32", two, one, one, f(0.0f)}, {"v_cubeid_f32", m2, one, one, f(1.0f)},
                  {"v_cubeid_f32", one, two, one, f(2.0f)}, {"v_cubeid_f32", one, m2, one, f(3.0f)},
                  {"v_cubeid_f32", one, one, two, f(4.0f)}, {"v_cubeid_f32", one, one, m2, f(5.0f)},
                  {"v_cubeid_f32", one, one, one, f(4.0f)}, {"v_cubeid_f32", m1, m1, m1, f(5.0f)},
                  {"v_cubeid_f32", one, m1, 0, f(3.0f)},    {"v_cubeid_f32", one, 0, m1, f(5.0f)},
                  {"v_cubeid_f32", 0, 0, 0, f(4.0f)},       {"v_cubeid_f32", 0, 0, kMinusZero, f(4.0f)},
                  {"v_cubeid_f32", m1, kNan, one, f(1.0f)},  // no comparison with NaN holds
                  {"v_cubesc_f32", two, one, m1, one},      {"v_cubesc_f32", m2, one, m1, m1},
                  {"v_cubesc_f32", m1, two, one, m1},       {"v_cubesc_f32", m1, m2, one, m1},
                  {"v_cubesc_f32", m1, one, two, m1},       {"v_cubesc_f32", m1, one, m2, one},
                  {"v_cubetc_f32", two, m1, one, one},      {"v_cubetc_f32", m2, one, one, m1},
                  {"v_cubetc_f32", one, two, m1, m1},       {"v_cubetc_f32", one, m2, m1, one},
                  {"v_cubetc_f32", one, m1, two, one},      {"v_cubetc_f32", one, m1, m2, one},
                  {"v_cubema_f32", two, one, one, f(4.0f)}, {"v_cubema_f32", one, m2, one, f(-4.0f)},
                  {"v_cubema_f32", one, one, m2, f(-4.0f)}, {"v_cubema_f32", one, one, m1, f(-2.0f)},
              });
}
