// Modifiers of sources and results: ABS, NEG, OMOD, CLAMP, OP_SEL, constants.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

constexpr u32 kNegLo0 = 1u << 29, kNegLo1 = 2u << 29, kNegHi0 = 1u << 8, kNegHi1 = 2u << 8;
constexpr u32 kFlush = 0;  // MODE without denormals and IEEE: OMOD works

}  // namespace

TEST_CASE("ABS is applied before NEG, only to float sources, and only to their sign bit", "[isa][modifiers]") {
    check_all("\"Vega\" ISA manual, 6.2.1 Instruction Inputs; 13.3.4 VOP3A, ABS and NEG",
              {
                  {"v_add_f32", f(-3.0f), f(2.0f), 0, f(5.0f), abs_of(0)},
                  {"v_add_f32", f(-3.0f), f(2.0f), 0, f(5.0f), 0, neg_of(0)},
                  {"v_add_f32", f(-3.0f), f(2.0f), 0, f(-1.0f), abs_of(0), neg_of(0)},
                  {"v_add_f32", f(3.0f), f(-2.0f), 0, f(-5.0f), abs_of(1), neg_of(0) | neg_of(1)},
                  {"v_fma_f32", f(-3.0f), f(-2.0f), f(-1.0f), f(5.0f), abs_of(0) | abs_of(1), 0},
                  {"v_fma_f32", f(-3.0f), f(-2.0f), f(-1.0f), f(7.0f), 0, neg_of(2)},
                  {"v_mul_f32", 0, kOne, 0, kMinusZero, 0, neg_of(0)},
                  {"v_mul_f32", kInf, kOne, 0, kMinusInf, 0, neg_of(0)},
                  {"v_max_f32", kMinusZero, kMinusZero, 0, 0, abs_of(0)},
                  {"v_add_f64", f(-3.0), f(2.0), 0, f(-1.0), abs_of(0), neg_of(0)},
                  {"v_fma_f64", f(3.0), f(2.0), f(1.0), f(-7.0), 0, neg_of(0) | neg_of(2)},
                  {"v_add_f16", 0xc200, 0x4000, 0, 0x4500, abs_of(0)},
                  {"v_add_f16", 0x4200, 0x4000, 0, 0xbc00, 0, neg_of(0)},
                  {"v_fma_f16", 0x4200, 0x4000, 0x3c00, 0x22224500, 0, neg_of(2)},
                  {"v_cvt_i32_f32", f(5.0f), 0, 0, whole(-5), 0, neg_of(0)},
                  {"v_cvt_f16_f32", f(-2.0f), 0, 0, 0x4000, abs_of(0)},
                  {"v_cvt_f64_f32", f(2.0f), 0, 0, f(-2.0), 0, neg_of(0)},
                  {"v_frexp_exp_i32_f32", f(-8.0f), 0, 0, 4, abs_of(0)},
                  {"v_sqrt_f32", f(-4.0f), 0, 0, f(2.0f), abs_of(0)},
                  {"v_ldexp_f32", kOne, 3, 0, f(-8.0f), 0, neg_of(0)},
                  {"v_ldexp_f32", kOne, 3, 0, f(8.0f), abs_of(1), neg_of(1)},  // the exponent is an integer
                  {"v_div_fixup_f32", f(3.0f), f(2.0f), f(6.0f), f(-3.0f), 0, neg_of(2)},
                  {"v_add_u32", 5, 3, 0, 8, 0, neg_of(0) | neg_of(1)},
                  {"v_min_i32", 5, 0x80000001, 0, 0x80000001, abs_of(1)},
                  {"v_cvt_f32_i32", 5, 0, 0, f(5.0f), 0, neg_of(0)},
              });
}

TEST_CASE("v_cndmask_b32 and comparisons take ABS and NEG as well", "[isa][modifiers]") {
    // "Vega" ISA manual, 12.7 VOP2, V_CNDMASK_B32; 12.9 VOPC.
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        m.vgpr(1, f(3.0f));
        m.vgpr(2, f(-5.0f));
        m.wave().set_s64(20, 2);
        m.run(vop3("v_cndmask_b32", 0, v(1), v(2), 20, abs_of(1), neg_of(0)));
        CHECK(m.lane(0, 0) == f(-3.0f));
        CHECK(m.lane(0, 1) == f(5.0f));
        m.run(vop3("v_cmp_lt_f32", 22, v(1), v(2)));
        CHECK(m.wave().s64(22) == 0);
        m.run(vop3("v_cmp_lt_f32", 22, v(1), v(2), 0, abs_of(1)));
        CHECK(m.wave().s64(22) == kAll);
        m.vgpr(3, 1u << 3);  // normal and negative
        m.run(vop3("v_cmp_class_f32", 22, v(1), v(3), 0, 0, neg_of(0)));
        CHECK(m.wave().s64(22) == kAll);
        m.vgpr(1, 0x4200);
        m.run(vop3("v_cmp_class_f16", 22, v(1), v(3), 0, 0, neg_of(0)));
        CHECK(m.wave().s64(22) == kAll);
    }
}

TEST_CASE("OMOD multiplies float results by 2, 4 or a half, before CLAMP", "[isa][modifiers]") {
    check_all("\"Vega\" ISA manual, 6.2.2 Instruction Outputs",
              {
                  {"v_add_f32", f(1.0f), f(2.0f), 0, f(6.0f), 0, kTimes2, kFlush},
                  {"v_add_f32", f(1.0f), f(2.0f), 0, f(12.0f), 0, kTimes4, kFlush},
                  {"v_add_f32", f(1.0f), f(2.0f), 0, f(1.5f), 0, kHalved, kFlush},
                  {"v_add_f32", f(0.25f), f(0.125f), 0, f(0.75f), kClamp, kTimes2, kFlush},
                  {"v_add_f32", f(0.25f), f(0.125f), 0, kOne, kClamp, kTimes4, kFlush},
                  {"v_mul_f32", kMaxFloat, kOne, 0, kInf, 0, kTimes2, kFlush},
                  {"v_mul_f32", kMinusInf, kOne, 0, kMinusInf, 0, kHalved, kFlush},
                  {"v_mul_f32", kNan | 5, kOne, 0, kNan | 5, 0, kTimes4, kFlush},
                  {"v_mul_f32", kMinNormal, kOne, 0, 0, 0, kHalved, kFlush},
                  {"v_mul_f32", kMinNormal, kMinusOne, 0, 0, 0, kHalved, kFlush},  // +0, not -0
                  {"v_mul_f32", 0, kMinusOne, 0, 0, 0, kTimes2, kFlush},
                  {"v_fma_f32", f(3.0f), f(2.0f), f(1.0f), f(14.0f), 0, kTimes2, kFlush},
                  {"v_max_f32", f(3.0f), f(2.0f), 0, f(6.0f), 0, kTimes2, kFlush},
                  {"v_cvt_f32_i32", 3, 0, 0, f(6.0f), 0, kTimes2, kFlush},
                  {"v_rcp_f32", f(4.0f), 0, 0, f(0.5f), 0, kTimes2, kFlush},
                  {"v_add_f64", f(1.0), f(2.0), 0, f(12.0), 0, kTimes4, kFlush},
                  {"v_mul_f64", kMinNormal64, f(1.0), 0, 0, 0, kHalved, kFlush},
                  {"v_mul_f64", f(-1.0), 0, 0, 0, 0, kTimes2, kFlush},
                  {"v_fma_f64", f(1.0), f(2.0), f(0.5), f(1.25), 0, kHalved, kFlush},
                  {"v_add_f16", 0x3c00, 0x4000, 0, 0x4600, 0, kTimes2, kFlush},
                  {"v_mul_f16", 0x0400, 0x3c00, 0, 0, 0, kHalved, kFlush},
                  {"v_mul_f16", 0x7bff, 0x3c00, 0, 0x7c00, 0, kTimes2, kFlush},
              });
    check_all("\"Vega\" ISA manual, 6.2.2 Instruction Outputs: not of integers and bits",
              {
                  {"v_add_u32", 1, 2, 0, 3, 0, kTimes2, kFlush},
                  {"v_mul_lo_u32", 3, 5, 0, 15, 0, kTimes4, kFlush},
                  {"v_cvt_i32_f32", f(3.0f), 0, 0, 3, 0, kTimes2, kFlush},
                  {"v_frexp_exp_i32_f32", f(8.0f), 0, 0, 4, 0, kTimes2, kFlush},
                  {"v_cvt_pkrtz_f16_f32", kOne, kOne, 0, 0x3c003c00, 0, kTimes2, kFlush},
              });
}

TEST_CASE("IEEE and denormal results of the size switch OMOD off", "[isa][modifiers]") {
    std::vector<Case> cases;
    const auto add = [&](const char* name, u64 a, u64 plain, u64 doubled, u32 denormals_out, u32 others) {
        for (const u32 mode : {0x200u, denormals_out, others | denormals_out, 0x200u | denormals_out})
            cases.push_back({name, a, a, 0, plain, 0, kTimes2, mode});
        for (const u32 mode : {0u, 0x100u, others, denormals_out >> 1})
            cases.push_back({name, a, a, 0, doubled, 0, kTimes2, mode});
    };
    add("v_add_f32", kOne, f(2.0f), f(4.0f), 0x20, 0xc0);
    add("v_add_f64", f(1.0), f(2.0), f(4.0), 0x80, 0x30);
    add("v_add_f16", 0x3c00, 0x4000, 0x4400, 0x80, 0x30);
    check_all("\"Vega\" ISA manual, 6.2.2 Instruction Outputs", cases);
}

TEST_CASE("CLAMP bounds floats by 0 and 1", "[isa][modifiers]") {
    std::vector<Case> cases;
    const double values[] = {-2.0, -0.5, 0.0, 0.25, 1.0, 3.0, __builtin_inf(), -__builtin_inf()};
    const double bounded[] = {0.0, 0.0, 0.0, 0.25, 1.0, 1.0, 1.0, 0.0};
    const u32 halves[] = {0xc000, 0xb800, 0, 0x3400, 0x3c00, 0x4200, 0x7c00, 0xfc00};
    const u32 bounded_halves[] = {0, 0, 0, 0x3400, 0x3c00, 0x3c00, 0x3c00, 0};
    for (unsigned n = 0; n < 8; ++n) {
        const u32 single = f(static_cast<float>(values[n])), single_bounded = f(static_cast<float>(bounded[n]));
        const u32 half = halves[n], half_bounded = bounded_halves[n];
        cases.push_back({"v_add_f32", single, 0, 0, single_bounded, kClamp});
        cases.push_back({"v_max_f32", single, single, 0, single_bounded, kClamp});
        cases.push_back({"v_fma_f32", single, kOne, 0, single_bounded, kClamp});
        cases.push_back({"v_cvt_f32_f16", half, 0, 0, single_bounded, kClamp});
        cases.push_back({"v_add_f64", f(values[n]), 0, 0, f(bounded[n]), kClamp});
        cases.push_back({"v_add_f16", half, 0, 0, half_bounded, kClamp});
        cases.push_back({"v_fma_f16", half, 0x3c00, 0, 0x22220000 | half_bounded, kClamp});
        cases.push_back({"v_pk_add_f16", half << 16 | 0x3400, 0, 0, half_bounded << 16 | 0x3400, kClamp, kOpSelHi});
        cases.push_back({"v_pk_mul_f32", pair(single, f(0.5f)), pair(kOne, kOne), 0, pair(single_bounded, f(0.5f)),
                         kClamp, kOpSelHi});
        cases.push_back({"v_fma_mix_f32", single, kOne, 0, single_bounded, kClamp});
        cases.push_back({"v_fma_mixlo_f16", single, kOne, 0, 0x22220000 | half_bounded, kClamp});
    }
    check_all("\"Vega\" ISA manual, 6.2.2 Instruction Outputs; 13.3.4 VOP3A, CLMP", cases);
}

TEST_CASE("CLAMP saturates integers", "[isa][modifiers]") {
    check_all("\"Vega\" ISA manual, 13.3.4 VOP3A, CLMP; 12.7 VOP2, 12.10 VOP3P and 12.12 VOP3 instructions",
              {
                  {"v_add_u32", 0xffffffff, 1, 0, 0xffffffff, kClamp},
                  {"v_add_u32", 0x7fffffff, 1, 0, 0x80000000, kClamp},
                  {"v_subrev_u32", 2, 1, 0, 0, kClamp},
                  {"v_add_i32", kIntMin, 0xffffffff, 0, kIntMin, kClamp},
                  {"v_sub_i32", kIntMax, 0xffffffff, 0, kIntMax, kClamp},
                  {"v_sub_i32", 0, kIntMin, 0, kIntMax, kClamp},
                  {"v_add_u16", 0xffff, 1, 0, 0xffff, kClamp},
                  {"v_sub_u16", 1, 2, 0, 0, kClamp},
                  {"v_subrev_u16", 2, 1, 0, 0, kClamp},
                  {"v_add_i16", 0x7fff, 1, 0, 0x22227fff, kClamp},
                  {"v_add_i16", 0x7fff, 1, 0, 0x22228000},
                  {"v_sub_i16", 0x8000, 1, 0, 0x22228000, kClamp},
                  {"v_mul_u32_u24", 0xffffff, 0xffffff, 0, 0xfe000001},
                  {"v_mad_u32_u24", 0xffffff, 0xffffff, 0, 0xffffffff, kClamp},
                  {"v_mad_i32_i24", 0x7fffff, 0x7fffff, 0, kIntMax, kClamp},
                  {"v_mad_i32_i24", 0x7fffff, 0x800000, 0, kIntMin, kClamp},
                  {"v_mad_u16", 0xffff, 0xffff, 0, 0x22220001},
                  {"v_mad_u16", 0xffff, 0xffff, 0, 0x2222ffff, kClamp},
                  {"v_mad_i16", 0x8000, 0x8000, 0, 0x22227fff, kClamp},
                  {"v_mad_i16", 0x8000, 0x7fff, 0, 0x22228000, kClamp},
                  {"v_mad_u32_u16", 0xffff, 0xffff, 0xffffffff, 0xffffffff, kClamp},
                  {"v_mad_i32_i16", 0x8000, 0x8000, kIntMax, kIntMax, kClamp},
                  {"v_sad_u32", 0, 0xffffffff, 2, 0xffffffff, kClamp},
                  {"v_sad_u8", 0xffffffff, 0, 0xffffffff, 0xffffffff, kClamp},
                  {"v_mad_u64_u32", 0xffffffff, 0xffffffff, kAll, kAll, kClamp | 20u << 8},
                  {"v_pk_add_u16", 0xffff0001, 0x00010001, 0, 0xffff0002, kClamp, kOpSelHi},
                  {"v_pk_sub_u16", 0x00010001, 0x00020001, 0, 0x00000000, kClamp, kOpSelHi},
                  {"v_pk_add_i16", 0x7fff8000, 0x0001ffff, 0, 0x7fff8000, kClamp, kOpSelHi},
                  {"v_pk_sub_i16", 0x80007fff, 0x0001ffff, 0, 0x80007fff, kClamp, kOpSelHi},
                  {"v_pk_mad_u16", 0xffff0002, 0xffff0003, 0x00010004, 0xffff000a, kClamp | kOpSelHi2, kOpSelHi},
                  {"v_pk_mad_i16", 0x80007fff, 0x80008000, 0, 0x7fff8000, kClamp | kOpSelHi2, kOpSelHi},
              });
}

TEST_CASE("OP_SEL takes the high half of a source and writes one half", "[isa][modifiers]") {
    check_all("\"Vega\" ISA manual, 13.3.4 VOP3A, OP_SEL",
              {
                  {"v_add_i16", 0x00010002, 0x00030004, 0, 0x22220006},
                  {"v_add_i16", 0x00010002, 0x00030004, 0, 0x22220005, op_sel(1)},
                  {"v_add_i16", 0x00010002, 0x00030004, 0, 0x00052222, op_sel(2 | 8)},
                  {"v_add_i16", 0x00010002, 0x00030004, 0, 0x00042222, op_sel(1 | 2 | 8)},
                  {"v_max3_i16", 0x00058000, 0x00067fff, 0x00070001, 0x22220007, op_sel(7)},
                  {"v_med3_u16", 0x0005ffff, 0x00060001, 0x00070002, 0x00022222, op_sel(8)},
                  {"v_mad_u16", 0x00020009, 0x00030009, 0x00040009, 0x2222000a, op_sel(7)},
                  {"v_fma_f16", 0x40003c00, 0x42003c00, 0x3c003c00, 0x22224700, op_sel(7)},
                  {"v_fma_f16", 0x40003c00, 0x42003c00, 0x3c003c00, 0xc5002222, op_sel(7 | 8), neg_of(0)},
                  {"v_min3_f16", 0xbc007c00, 0x3c004000, 0x3c004200, 0x2222bc00, op_sel(1)},
                  {"v_div_fixup_f16", 0x42000000, 0x40000000, 0xc6000000, 0x2222c200, op_sel(7)},
                  {"v_mad_u32_u16", 0x00020009, 0x00030009, 1, 7, op_sel(3)},
                  {"v_mad_i32_i16", 0xffff0009, 0x00030009, 1, whole(-2), op_sel(3)},
                  {"v_pack_b32_f16", 0x3c000000, 0xbc000001, 0, 0xbc003c00, op_sel(3)},
                  {"v_pack_b32_f16", 0x3c000000, 0xbc000001, 0, 0x00013c00, op_sel(1)},
                  {"v_pack_b32_f16", 0x3c00, 0xbc00, 0, 0x3c00bc00, 0, neg_of(0) | neg_of(1)},
                  {"v_cvt_pknorm_i16_f16", 0x3c000000, 0x0000bc00, 0, 0x80017fff, op_sel(1)},
              });
}

TEST_CASE("packed sources choose and negate halves for each half", "[isa][modifiers]") {
    const u32 a = 0x40003c00, b = 0x44004200;  // {2, 1} and {4, 3}
    check_all(
        "\"Vega\" ISA manual, 13.3.6 VOP3P, OP_SEL, OP_SEL_HI, NEG and NEG_HI",
        {
            {"v_pk_add_f16", a, b, 0, 0x46004400, 0, kOpSelHi},            // 2+4, 1+3
            {"v_pk_add_f16", a, b, 0, 0x44004400, 0, 0},                   // 1+3, 1+3
            {"v_pk_add_f16", a, b, 0, 0x45004500, op_sel(1), 2u << 27},    // 1+4, 2+3
            {"v_pk_add_f16", a, b, 0, 0x46004600, op_sel(3), kOpSelHi},    // 2+4, 2+4
            {"v_pk_add_f16", a, b, 0, 0x46004000, 0, kOpSelHi | kNegLo0},  // 2+4, -1+3
            {"v_pk_add_f16", a, b, 0, 0x40004400, kNegHi0, kOpSelHi},      // -2+4, 1+3
            {"v_pk_add_f16", a, b, 0, 0xc600c400, kNegHi0 | kNegHi1, kOpSelHi | kNegLo0 | kNegLo1},
            {"v_pk_fma_f16", a, b, a, 0x49004400, kOpSelHi2, kOpSelHi},              // 8+2, 3+1
            {"v_pk_fma_f16", a, b, a, 0x48804400, 0, kOpSelHi},                      // 8+1, 3+1
            {"v_pk_fma_f16", a, b, a, 0x49004000, kOpSelHi2, kOpSelHi | neg_of(2)},  // 8+2, 3-1
            {"v_pk_min_f16", a, b, 0, 0xc400bc00, kNegHi1, kOpSelHi | kNegLo0},
            {"v_pk_add_u16", 0x00020001, 0x00040003, 0, 0x00050005, op_sel(1), 2u << 27},
            {"v_pk_lshlrev_b16", 0x00010011, 0x00018001, 0, 0x00020002, 0, kOpSelHi},
            {"v_pk_add_f32", pair(f(1.0f), f(2.0f)), pair(f(3.0f), f(4.0f)), 0, pair(f(4.0f), f(6.0f)), 0, kOpSelHi},
            {"v_pk_add_f32", pair(f(1.0f), f(2.0f)), pair(f(3.0f), f(4.0f)), 0, pair(f(5.0f), f(5.0f)), op_sel(1),
             2u << 27},
            {"v_pk_add_f32", pair(f(1.0f), f(2.0f)), pair(f(3.0f), f(4.0f)), 0, pair(f(2.0f), f(-2.0f)), kNegHi1,
             kOpSelHi | kNegLo0},
            {"v_fma_mix_f32", f(-3.0f), f(2.0f), f(1.0f), f(7.0f), kNegHi0},  // NEG_HI is ABS here
            {"v_fma_mix_f32", f(-3.0f), f(2.0f), f(1.0f), f(-5.0f), kNegHi0, kNegLo0},
            {"v_fma_mix_f32", 0xc0003c00, f(2.0f), f(1.0f), f(5.0f), kNegHi0 | op_sel(1), 1u << 27},
        });
}

TEST_CASE("inline constants and literals are floats and integers of the operand's size", "[isa][modifiers]") {
    // "Vega" ISA manual, 6.2.1 and table "Instruction Operands"; for packed and for 16-bit integer operands LLVM's
    // AMDGPUBaseInfo, getInlineEncodingV2I16 and getInlineEncodingV2F16.
    const u32 singles[] = {f(0.5f), f(-0.5f), f(1.0f), f(-1.0f), f(2.0f), f(-2.0f), f(4.0f), f(-4.0f), 0x3e22f983};
    const u32 halves[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
    const u64 doubles[] = {f(0.5), f(-0.5), f(1.0), f(-1.0), f(2.0), f(-2.0), f(4.0), f(-4.0), 0x3fc45f306dc9c882};
    struct Constant {
        const char* name;
        u32 encoding;
        u64 b, expected;
        u32 high = 0;
    };
    std::vector<Constant> rows = {
        {"v_add_u32", 128, 7, 7},
        {"v_add_u32", 192, 0, 64},
        {"v_add_u32", 193, 0, 0xffffffff},
        {"v_add_u32", 208, 0, 0xfffffff0},
        {"v_add_u32", 242, 0, kOne},
        {"v_add_f32", 129, 0, 1},                     // the bits of an integer: a denormal
        {"v_add_f32", 193, 0, 0xffffffff},            // and of -1: NaN
        {"v_mul_f64", 129, f(0x1p1000), f(0x1p-74)},  // sign-extended to 64 bits
        {"v_add_f64", 193, 0, kAll},
        {"v_ashrrev_i64", 196, u64{1} << 63, 0xfffffffffffffff8},  // by -4, that is 60
        {"v_add_f16", 129, 0, 1},
        {"v_add_f16", 193, 0, 0xffff},
        {"v_add_u16", 193, 0, 0xffff},
        {"v_add_u16", 242, 5, 5},  // the low half of a 32-bit float
        {"v_pk_add_f16", 242, 0, 0x00003c00, kOpSelHi},
        {"v_pk_add_f16", 242, 0, 0x3c003c00, 2u << 27},
        {"v_pk_add_f16", 248, 0, 0x31183118, 2u << 27},
        {"v_pk_add_u16", 133, 0, 0x00000005, kOpSelHi},
        {"v_pk_add_u16", 133, 0, 0x00050005, 2u << 27},
        {"v_pk_add_u16", 193, 0, 0xffffffff, kOpSelHi},
        {"v_pk_add_u16", 242, 0, kOne, kOpSelHi},
    };
    for (u32 n = 0; n < 9; ++n) {
        rows.push_back({"v_mul_f32", 240 + n, kOne, singles[n]});
        rows.push_back({"v_mul_f16", 240 + n, 0x3c00, halves[n]});
        rows.push_back({"v_mul_f64", 240 + n, f(1.0), doubles[n]});
    }
    for (const Level level : levels()) {
        for (const Constant& row : rows) {
            INFO(row.name << " on " << name(level) << ", constant " << row.encoding);
            Machine m{Target::gfx90a, level};
            m.vgpr64(30, row.b);
            REQUIRE(m.run(vop3(row.name, 10, row.encoding, v(30), 0, 0, row.high)) == Stop::End);
            CHECK(m.lane64(10, 33) == row.expected);
        }
        Machine m{Target::gfx90a, level};  // literals of 32 bits are the upper half of 64-bit floats
        m.vgpr64(2, f(1.0));
        m.run({vop1("v_floor_f64", 0, 255)[0], 0x40091eb8});
        CHECK(m.lane64(0, 5) == f(3.0));
        m.vgpr(2, 0x3c00);
        m.run({vop2("v_mul_f16", 0, 255, 2)[0], 0x12344200});
        CHECK(m.lane(0, 5) == 0x4200);
    }
}
