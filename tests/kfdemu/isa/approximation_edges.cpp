// Reciprocals, roots, powers, logarithms, sines and the helpers of division, for special values.
#include <cmath>

#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using kfdemu::isa::kVcc;
using kfdemu::isa::set_mode;

TEST_CASE("32-bit approximations have exact results for zero, infinity, NaN and powers of two", "[isa][edges]") {
    check_all("CDNA ISA manuals, 12.8 VOP1, V_EXP_F32 to V_COS_F32, functional examples",
              {
                  {"v_exp_f32", kMinusInf, 0, 0, 0},
                  {"v_exp_f32", kMinusZero, 0, 0, kOne},
                  {"v_exp_f32", kInf, 0, 0, kInf},
                  {"v_exp_f32", f(127.0f), 0, 0, f(0x1p127f)},
                  {"v_exp_f32", kMaxFloat, 0, 0, kInf},
                  {"v_exp_f32", f(-1e30f), 0, 0, 0},
                  {"v_exp_f32", kSignalling, 0, 0, kSignalling | 0x400000},
                  {"v_log_f32", kMinusInf, 0, 0, kMinusNan},
                  {"v_log_f32", kMinusOne, 0, 0, kMinusNan},
                  {"v_log_f32", kMinusZero, 0, 0, kMinusInf},
                  {"v_log_f32", kOne, 0, 0, 0},
                  {"v_log_f32", kInf, 0, 0, kInf},
                  {"v_log_f32", f(0x1p127f), 0, 0, f(127.0f)},
                  {"v_log_f32", kNan | 9, 0, 0, kNan | 9},
                  {"v_rcp_f32", kMinusInf, 0, 0, kMinusZero},
                  {"v_rcp_f32", f(-2.0f), 0, 0, f(-0.5f)},
                  {"v_rcp_f32", kMinusZero, 0, 0, kMinusInf},
                  {"v_rcp_f32", 0, 0, 0, kInf},
                  {"v_rcp_f32", kInf, 0, 0, 0},
                  {"v_rcp_f32", f(0x1p126f), 0, 0, kMinNormal},
                  {"v_rcp_f32", kMinNormal, 0, 0, f(0x1p126f)},
                  {"v_rcp_f32", kMinusInf | 1, 0, 0, kMinusNan | 1},
                  {"v_rcp_iflag_f32", 0, 0, 0, kInf},
                  {"v_rsq_f32", kMinusInf, 0, 0, kMinusNan},
                  {"v_rsq_f32", kMinusZero, 0, 0, kMinusInf},
                  {"v_rsq_f32", 0, 0, 0, kInf},
                  {"v_rsq_f32", f(4.0f), 0, 0, f(0.5f)},
                  {"v_rsq_f32", kInf, 0, 0, 0},
                  {"v_rsq_f32", kMinNormal, 0, 0, f(0x1p63f)},
                  {"v_sqrt_f32", kMinusInf, 0, 0, kMinusNan},
                  {"v_sqrt_f32", kMinusZero, 0, 0, kMinusZero},
                  {"v_sqrt_f32", 0, 0, 0, 0},
                  {"v_sqrt_f32", f(4.0f), 0, 0, f(2.0f)},
                  {"v_sqrt_f32", kInf, 0, 0, kInf},
                  {"v_sqrt_f32", kNan | 9, 0, 0, kNan | 9},
                  {"v_sin_f32", kMinusInf, 0, 0, kMinusNan},
                  {"v_sin_f32", 0xff7fffff, 0, 0, 0},
                  {"v_sin_f32", kMinusZero, 0, 0, kMinusZero},
                  {"v_sin_f32", f(-0.25f), 0, 0, kMinusOne},
                  {"v_sin_f32", f(0.5f), 0, 0, 0},
                  {"v_sin_f32", f(255.75f), 0, 0, kMinusOne},
                  {"v_sin_f32", kNan | 9, 0, 0, kNan | 9},
                  {"v_cos_f32", kMinusInf, 0, 0, kMinusNan},
                  {"v_cos_f32", 0xff7fffff, 0, 0, kOne},
                  {"v_cos_f32", kMinusZero, 0, 0, kOne},
                  {"v_cos_f32", f(0.25f), 0, 0, 0},
                  {"v_cos_f32", f(-256.0f), 0, 0, kOne},
                  {"v_cos_f32", kInf, 0, 0, kMinusNan},
                  {"v_log_legacy_f32", kMinusOne, 0, 0, kMinusNan},
                  {"v_exp_legacy_f32", kMinusInf, 0, 0, 0},
              });
}

TEST_CASE("32-bit approximations have the accuracy of docs/instructions.md", "[isa][edges]") {
    // Within 0.501 ulp; v_sin and v_cos within 2^-24 of the value.
    const struct {
        const char* name;
        double (*exact)(double);
        bool absolute;
    } rows[] = {
        {"v_rcp_f32", [](double x) { return 1 / x; }, false},
        {"v_rsq_f32", [](double x) { return 1 / std::sqrt(x); }, false},
        {"v_sqrt_f32", [](double x) { return std::sqrt(x); }, false},
        {"v_exp_f32", [](double x) { return std::exp2(x); }, false},
        {"v_log_f32", [](double x) { return std::log2(x); }, false},
        {"v_sin_f32", [](double x) { return std::sin(x * 6.283185307179586); }, true},
        {"v_cos_f32", [](double x) { return std::cos(x * 6.283185307179586); }, true},
    };
    for (const Level level : levels()) {
        for (const auto& row : rows) {
            for (u32 mode = 0; mode < 4; ++mode) {  // the rounding mode does not matter
                Machine m{Target::gfx90a, level};
                set_mode(m.wave(), 0x2f0 | mode);
                for (u32 lane = 0; lane < 64; ++lane)
                    m.lane(1, lane) =
                        f(0.013f + 0.37f * static_cast<float>(lane) + 0x1p-20f * static_cast<float>(lane));
                m.run(vop1(row.name, 0, v(1)));
                for (u32 lane = 0; lane < 64; ++lane) {
                    const double exact = row.exact(as_float(m.lane(1, lane))), got = as_float(m.lane(0, lane));
                    const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
                    INFO(row.name << " on " << name(level) << " of " << as_float(m.lane(1, lane)) << ", MODE " << mode);
                    CHECK(std::fabs(got - exact) <= (row.absolute ? 0x1p-24 : 0.501 * ulp));
                }
            }
        }
    }
}

TEST_CASE("v_div_scale leaves ordinary operands and scales those near the limits", "[isa][edges]") {
    // "Vega" ISA manual, 12.12 VOP3, V_DIV_SCALE_F32 and V_DIV_SCALE_F64: source 0 is the denominator or the numerator.
    const struct {
        const char* name;
        u64 denominator, numerator;
        u64 scaled_denominator, scaled_numerator;
        bool scale_back;
    } rows[] = {
        {"v_div_scale_f32", f(3.0f), f(7.0f), f(3.0f), f(7.0f), false},
        {"v_div_scale_f32", f(-3.0f), f(7.0f), f(-3.0f), f(7.0f), false},
        {"v_div_scale_f32", f(0x1p-60f), f(0x1p40f), f(0x1p4f), f(0x1p40f), true},  // 96 powers or more apart
        {"v_div_scale_f32", f(0x1p-60f), f(0x1p35f), f(0x1p-60f), f(0x1p35f), false},
        {"v_div_scale_f32", f(0x1p-130f), f(0x1p-100f), f(0x1p-66f), f(0x1p-36f), false},  // a denormal denominator
        {"v_div_scale_f32", f(0x1p127f), f(0x1p100f), f(0x1p63f), f(0x1p36f), false},      // a denormal reciprocal
        {"v_div_scale_f32", f(0x1p100f), f(0x1p-40f), f(0x1p100f), f(0x1p24f), true},      // a denormal quotient
        {"v_div_scale_f32", f(0x1p-110f), f(0x1p-110f), f(0x1p-46f), f(0x1p-46f), false},  // a tiny numerator
        {"v_div_scale_f32", kInf, f(1.0f), kInf, f(1.0f), false},
        {"v_div_scale_f32", f(1.0f), kMinusInf, f(1.0f), kMinusInf, false},
        {"v_div_scale_f64", f(3.0), f(7.0), f(3.0), f(7.0), false},
        {"v_div_scale_f64", f(0x1p-400), f(0x1p368), f(0x1p-272), f(0x1p368), true},
        {"v_div_scale_f64", f(0x1p-1030), f(0x1p-900), f(0x1p-902), f(0x1p-772), false},
        {"v_div_scale_f64", f(0x1p1023), f(0x1p900), f(0x1p895), f(0x1p772), false},
        {"v_div_scale_f64", f(0x1p800), f(0x1p-300), f(0x1p800), f(0x1p-172), true},
        {"v_div_scale_f64", f(0x1p-1000), f(0x1p-1000), f(0x1p-872), f(0x1p-872), false},
    };
    for (const Level level : levels()) {
        for (const auto& row : rows) {
            INFO(row.name << " on " << name(level) << std::hex << " " << row.numerator << " / " << row.denominator);
            Machine m{Target::gfx90a, level};
            m.vgpr64(2, row.denominator);
            m.vgpr64(4, row.numerator);
            m.run(vop3(row.name, 6, v(2), v(2), v(4), 20u << 8) + vop3(row.name, 8, v(4), v(2), v(4), 22u << 8));
            CHECK(m.lane64(6, 11) == row.scaled_denominator);
            CHECK(m.lane64(8, 11) == row.scaled_numerator);
            CHECK(m.wave().s64(22) == (row.scale_back ? kAll : 0));
        }
        for (const char* name : {"v_div_scale_f32", "v_div_scale_f64"}) {  // zero: NaN
            const bool wide = name[13] == '6';
            for (const bool zero_denominator : {false, true}) {
                Machine m{Target::gfx90a, level};
                m.vgpr64(2, zero_denominator ? 0 : wide ? f(1.0) : u64{kOne});
                m.vgpr64(4, zero_denominator ? wide ? f(1.0) : u64{kOne} : 0);
                m.run(vop3(name, 6, v(2), v(2), v(4), 20u << 8));
                CHECK((wide ? std::isnan(as_double(m.lane64(6, 1))) : std::isnan(as_float(m.lane(6, 1)))));
                CHECK(m.wave().s64(20) == 0);
            }
        }
    }
}

TEST_CASE("v_div_fixup inserts the results that earlier steps cannot produce", "[isa][edges]") {
    const u64 inf = kInf64, minus = kSign64;
    check_all("\"Vega\" ISA manual, 12.12 VOP3, V_DIV_FIXUP_F32, V_DIV_FIXUP_F64, V_DIV_FIXUP_F16",
              {
                  {"v_div_fixup_f32", f(9.0f), kNan | 1, kNan | 2, kNan | 2},
                  {"v_div_fixup_f32", f(9.0f), kSignalling, kOne, kSignalling | 0x400000},
                  {"v_div_fixup_f32", f(9.0f), 0, kMinusZero, kMinusNan},
                  {"v_div_fixup_f32", f(9.0f), kMinusInf, kInf, kMinusNan},
                  {"v_div_fixup_f32", f(9.0f), kMinusZero, kOne, kMinusInf},
                  {"v_div_fixup_f32", f(9.0f), kMinusZero, kMinusOne, kInf},
                  {"v_div_fixup_f32", f(9.0f), f(-2.0f), kInf, kMinusInf},
                  {"v_div_fixup_f32", f(9.0f), kMinusInf, f(2.0f), kMinusZero},
                  {"v_div_fixup_f32", f(9.0f), f(-2.0f), 0, kMinusZero},
                  {"v_div_fixup_f32", kNan, f(0x1p127f), kDenormal, 0},  // far below the least denormal
                  {"v_div_fixup_f32", f(-3.0f), f(2.0f), f(6.0f), f(3.0f)},
                  {"v_div_fixup_f32", f(3.0f), f(-2.0f), f(6.0f), f(-3.0f)},
                  {"v_div_fixup_f64", f(9.0), 0, 0, kNan64 | minus},
                  {"v_div_fixup_f64", f(9.0), inf, inf | minus, kNan64 | minus},
                  {"v_div_fixup_f64", f(9.0), inf | 1, f(1.0), kNan64 | 1},
                  {"v_div_fixup_f64", f(9.0), minus, f(1.0), inf | minus},
                  {"v_div_fixup_f64", f(9.0), inf, f(-1.0), minus},
                  {"v_div_fixup_f64", f(3.0), f(-2.0), f(6.0), f(-3.0)},
                  {"v_div_fixup_f16", 0x4200, 0, 0, 0x2222fe00},
                  {"v_div_fixup_f16", 0x4200, 0x7c00, 0xfc00, 0x2222fe00},
                  {"v_div_fixup_f16", 0x4200, 0x7c01, 0x3c00, 0x22227e01},
                  {"v_div_fixup_f16", 0x4200, 0x8000, 0x3c00, 0x2222fc00},
                  {"v_div_fixup_f16", 0x4200, 0xfc00, 0x3c00, 0x22228000},
                  {"v_div_fixup_f16", 0x4200, 0x4000, 0xc600, 0x2222c200},
                  {"v_div_fixup_legacy_f16", 0x4200, 0x4000, 0xc600, 0x0000c200},
              });
}

TEST_CASE("v_div_fmas scales by VCC, lane by lane", "[isa][edges]") {
    // "Vega" ISA manual, 12.12 VOP3, V_DIV_FMAS_F32 and V_DIV_FMAS_F64; by how much: the "Instinct MI300" ISA manual.
    for (const Level level : levels()) {
        INFO(name(level));
        Machine m{Target::gfx90a, level};
        m.wave().set_s64(kVcc, 0xf0);
        m.vgpr(1, f(2.0f));
        m.vgpr(2, f(3.0f));
        m.vgpr(3, f(4.0f));
        m.vgpr(4, f(0x1p100f));
        m.vgpr(5, kNan | 5);
        m.run(vop3("v_div_fmas_f32", 10, v(1), v(2), v(3)) + vop3("v_div_fmas_f32", 11, v(1), v(5), v(3)));
        CHECK(m.lane(10, 0) == f(10.0f));
        CHECK(m.lane(10, 5) == f(0x1.4p67f));
        CHECK(m.lane(11, 0) == (kNan | 5));
        CHECK(m.lane(11, 5) == (kNan | 5));
        m.run(vop3("v_div_fmas_f32", 10, v(1), v(2), 240));  // down where the addend is below 1
        CHECK(m.lane(10, 0) == f(6.5f));
        CHECK(m.lane(10, 5) == f(0x1.ap-62f));
        m.run(vop3("v_div_fmas_f32", 10, 128, v(2), v(4)));
        CHECK(m.lane(10, 0) == f(0x1p100f));
        CHECK(m.lane(10, 5) == kInf);
        m.vgpr64(2, f(3.0));
        m.vgpr64(4, f(4.0));
        m.run(vop3("v_div_fmas_f64", 10, 244, v(2), v(4)));
        CHECK(m.lane64(10, 3) == f(10.0));
        CHECK(m.lane64(10, 4) == f(0x1.4p131));
    }
}
