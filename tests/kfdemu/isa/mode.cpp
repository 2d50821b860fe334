// The effects of the MODE register besides rounding, and instructions without them: denormals by size, CLAMP of NaN,
// IEEE, overflow of 16 bits.
#include <immintrin.h>

#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using kfdemu::isa::set_mode;

namespace {

constexpr u32 kDx10 = 0x100, kIeee = 0x200, kDenormals = 0xf0, kOverflow = 1u << 23;

/// FP_DENORM of a size is the column, that of the other sizes the opposite: 0 flushes sources and results, 1 results,
/// 2 sources, 3 neither.
u32 denormals_single(u32 column) { return kIeee | column << 4 | (3 - column) << 6; }
u32 denormals_double(u32 column) { return kIeee | column << 6 | (3 - column) << 4; }

}  // namespace

TEST_CASE("FP_DENORM[1:0] flushes sources and results of 32 bits", "[isa][mode]") {
    check_columns(std::string{kModeRegister} + "FP_DENORM[1:0]",
                  {
                      {"v_add_f32", 1, 1, 0, {0, 0, 0, 2}},
                      {"v_mul_f32", 1, f(0x1p100f), 0, {0, f(0x1p-49f), 0, f(0x1p-49f)}},
                      {"v_mul_f32", 0x80000001, f(0x1p100f), 0, {kMinusZero, f(-0x1p-49f), kMinusZero, f(-0x1p-49f)}},
                      {"v_mul_f32", kMinNormal, f(0.5f), 0, {0, 0, 0x00400000, 0x00400000}},
                      {"v_mul_f32", kMinNormal, f(-0.5f), 0, {kMinusZero, kMinusZero, 0x80400000, 0x80400000}},
                      {"v_fma_f32", 1, f(0x1p100f), 0, {0, f(0x1p-49f), 0, f(0x1p-49f)}},
                      {"v_fma_f32", kMinNormal, f(0.5f), 0, {0, 0, 0x00400000, 0x00400000}},
                      {"v_mul_legacy_f32_gfx90a", 1, kInf, 0, {0, kInf, 0, kInf}},
                      {"v_max_f32", 1, 0, 0, {0, 0, 0, 1}},
                      {"v_min_f32", 0x80000001, 0, 0, {kMinusZero, kMinusZero, kMinusZero, 0x80000001}},
                      {"v_med3_f32", 2, 0, 1, {0, 0, 0, 1}},
                      {"v_max3_f32", 2, 0, 1, {0, 0, 0, 2}},
                      {"v_ldexp_f32", 1, 149, 0, {0, kOne, 0, kOne}},
                      {"v_ldexp_f32", kOne, whole(-149), 0, {0, 0, 1, 1}},
                      {"v_cvt_f32_f64", f(0x1p-149), 0, 0, {0, 0, 1, 1}},
                      {"v_cvt_f64_f32", 1, 0, 0, {0, f(0x1p-149), 0, f(0x1p-149)}},
                      {"v_floor_f32", 0x80000001, 0, 0, {kMinusZero, kMinusOne, kMinusZero, kMinusOne}},
                      {"v_ceil_f32", 1, 0, 0, {0, kOne, 0, kOne}},
                      {"v_fract_f32", 1, 0, 0, {0, 0, 0, 1}},
                      {"v_fma_mix_f32", 1, f(0x1p100f), 0, {0, f(0x1p-49f), 0, f(0x1p-49f)}},
                      {"v_pk_mul_f32",
                       pair(1, kMinNormal),
                       pair(f(0x1p100f), f(0.5f)),
                       0,
                       {0, f(0x1p-49f), pair(0, 0x00400000), pair(f(0x1p-49f), 0x00400000)},
                       0,
                       kOpSelHi},
                  },
                  denormals_single);
}

TEST_CASE("FP_DENORM[3:2] flushes sources and results of 64 and of 16 bits", "[isa][mode]") {
    // 12.8 VOP1, V_CVT_F16_F32 and V_CVT_F32_F16: theirs are the denormals of 16 bits.
    check_columns(
        std::string{kModeRegister} + "FP_DENORM[3:2]",
        {
            {"v_add_f64", 1, 1, 0, {0, 0, 0, 2}},
            {"v_mul_f64", 1, f(0x1p100), 0, {0, f(0x1p-974), 0, f(0x1p-974)}},
            {"v_mul_f64", kMinNormal64, f(-0.5), 0, {kSign64, kSign64, 0x8008000000000000, 0x8008000000000000}},
            {"v_fma_f64", 1, f(0x1p100), 0, {0, f(0x1p-974), 0, f(0x1p-974)}},
            {"v_max_f64", 1, 0, 0, {0, 0, 0, 1}},
            {"v_min_f64", kSign64 | 1, 0, 0, {kSign64, kSign64, kSign64, kSign64 | 1}},
            {"v_ldexp_f64", 1, 1074, 0, {0, f(1.0), 0, f(1.0)}},
            {"v_ldexp_f64", kSign64 | 1, 2000, 0, {kSign64, f(-0x1p926), kSign64, f(-0x1p926)}},
            {"v_ldexp_f64", f(1.0), whole(-1074), 0, {0, 0, 1, 1}},
            {"v_rcp_f64", f(0x1p1023), 0, 0, {0, 0, 0x0008000000000000, 0x0008000000000000}},
            {"v_floor_f64", kSign64 | 1, 0, 0, {kSign64, f(-1.0), kSign64, f(-1.0)}},
            {"v_add_f16", 1, 1, 0, {0, 0, 0, 2}},
            {"v_mul_f16", 1, 0x6400, 0, {0, 0x0400, 0, 0x0400}},
            {"v_mul_f16", 0x0400, 0xb800, 0, {0x8000, 0x8000, 0x8200, 0x8200}},
            {"v_fma_f16", 1, 0x6400, 0, {0x22220000, 0x22220400, 0x22220000, 0x22220400}},
            {"v_max_f16", 1, 0, 0, {0, 0, 0, 1}},
            {"v_ldexp_f16", 1, 24, 0, {0, 0x3c00, 0, 0x3c00}},
            {"v_cvt_f16_f32", f(-0x1p-24f), 0, 0, {0x8000, 0x8000, 0x8001, 0x8001}},
            {"v_cvt_f32_f16", 0x8001, 0, 0, {kMinusZero, f(-0x1p-24f), kMinusZero, f(-0x1p-24f)}},
            {"v_pk_add_f16", 0x00010400, 0x00018001, 0, {0x00000400, 0x00000000, 0x00000400, 0x000203ff}, 0, kOpSelHi},
            {"v_pk_mul_f16", 0x04000001, 0x38006400, 0, {0, 0x00000400, 0x02000000, 0x02000400}, 0, kOpSelHi},
            {"v_pk_max_f16", 0x00018001, 0, 0, {0, 0, 0, 0x00010000}, 0, kOpSelHi},
            {"v_fma_mix_f32", 1, kOne, 0, {0, f(0x1p-24f), 0, f(0x1p-24f)}, 0, 1u << 27},
            {"v_fma_mixlo_f16", f(0x1p-24f), kOne, 0, {0x22220000, 0x22220000, 0x22220001, 0x22220001}},
        },
        denormals_double);
}

TEST_CASE("some instructions always flush denormals, some never", "[isa][mode]") {
    // 12.7 VOP2, V_MAC_F32; 12.12 VOP3, V_MAD_F32 (LLVM, SIISelLowering: used only where denormals are flushed anyway);
    // 12.8 VOP1, V_EXP_F32, V_LOG_F32, V_RCP_F32, V_RSQ_F32, V_SQRT_F32 ("denormals are flushed").
    const struct {
        const char* name;
        u64 a, b, c, expected;
    } rows[] = {
        {"v_mad_f32", 1, f(0x1p100f), 0, 0},
        {"v_mad_f32", kMinNormal, f(0.5f), 0, 0},
        {"v_mad_f32", kMinusOne, 0, 0x80000001, kMinusZero},
        {"v_mac_f32", kOne, 0, 1, 0},
        {"v_mad_legacy_f32", 1, kInf, 0, 0},
        {"v_rcp_f32", 1, 0, 0, kInf},
        {"v_rcp_f32", f(-0x1p127f), 0, 0, kMinusZero},
        {"v_rcp_iflag_f32", 0x80000001, 0, 0, kMinusInf},
        {"v_rsq_f32", 1, 0, 0, kInf},
        {"v_sqrt_f32", 0x80000001, 0, 0, kMinusZero},
        {"v_exp_f32", f(-127.0f), 0, 0, 0},
        {"v_exp_f32", 1, 0, 0, kOne},
        {"v_log_f32", 1, 0, 0, kMinusInf},
        {"v_exp_legacy_f32", f(-140.0f), 0, 0, 0},
        {"v_log_legacy_f32", 1, 0, 0, kMinusInf},
        {"v_dot2_f32_f16", 0, 0, 1, 0},
        {"v_mov_b32", 1, 0, 0, 1},
    };
    for (const auto& row : rows) {
        const ByMode same{row.name, row.a, row.b, row.c, {row.expected, row.expected, row.expected, row.expected}};
        check_columns(std::string{kModeRegister} + "FP_DENORM", {same}, denormals_single);
        check_columns(std::string{kModeRegister} + "FP_DENORM", {same}, denormals_double);
    }
}

TEST_CASE("DX10_CLAMP makes CLAMP turn NaN into zero", "[isa][mode]") {
    const struct {
        const char* name;
        u64 a, b, c, passed, zeroed;
        u32 low, high;
    } rows[] = {
        {"v_add_f32", kNan, kOne, 0, kNan, 0, 0, 0},
        {"v_max_f32", kNan, kMinusNan, 0, kMinusNan, 0, 0, 0},
        {"v_add_f64", kNan64, f(1.0), 0, kNan64, 0, 0, 0},
        {"v_add_f16", 0x7e00, 0x3c00, 0, 0x7e00, 0, 0, 0},
        {"v_fma_f16", 0x7e00, 0x3c00, 0, 0x22227e00, 0x22220000, 0, 0},
        {"v_cvt_f32_f16", 0x7e00, 0, 0, kNan, 0, 0, 0},
        {"v_pk_add_f16", 0x7e003c00, 0x3c003c00, 0, 0x7e003c00, 0x00003c00, 0, kOpSelHi},
        {"v_pk_max_f16", 0x7e00bc00, 0x7e00bc00, 0, 0x7e000000, 0, 0, kOpSelHi},
        {"v_pk_fma_f16", 0x3c007e00, 0x3c003c00, 0, 0x3c007e00, 0x3c000000, kOpSelHi2, kOpSelHi},
        {"v_pk_mul_f32", pair(kNan, f(3.0f)), pair(kOne, kOne), 0, pair(kNan, kOne), pair(0, kOne), 0, kOpSelHi},
        {"v_fma_mix_f32", kNan, kOne, 0, kNan, 0, 0, 0},
        {"v_fma_mixlo_f16", kNan, kOne, 0, 0x22227e00, 0x22220000, 0, 0},
        {"v_dot2_f32_f16", 0x7e00, 0x3c00, 0, kNan, 0, 0, kOpSelHi},
    };
    for (const auto& row : rows) {
        const u32 low = row.low | kClamp;
        check_all(std::string{kModeRegister} + "DX10_CLAMP",
                  {{row.name, row.a, row.b, row.c, row.passed, low, row.high, kIeee | kDenormals},
                   {row.name, row.a, row.b, row.c, row.zeroed, low, row.high, kIeee | kDenormals | kDx10}});
    }
}

TEST_CASE("with IEEE a signalling NaN takes precedence over a number, quieted", "[isa][mode]") {
    // 3.5 Mode register, IEEE; 12.7 VOP2, V_MIN_F32 and V_MAX_F32; 12.12 VOP3, V_MIN3_F32 to V_MED3_F32, V_MIN_F64.
    const u32 quieted = 0x7fc00001;
    const struct {
        const char* name;
        u64 a, b, c, without, with;
    } rows[] = {
        {"v_min_f32", kSignalling, f(2.0f), 0, f(2.0f), quieted},
        {"v_max_f32", f(2.0f), kSignalling, 0, f(2.0f), quieted},
        {"v_min_f32", kNan, f(2.0f), 0, f(2.0f), f(2.0f)},
        {"v_max_f32", f(2.0f), kMinusNan, 0, f(2.0f), f(2.0f)},
        {"v_max_f32", kNan | 2, kMinusNan | 3, 0, kMinusNan | 3, kMinusNan | 3},  // of two the second
        {"v_min_f32", kNan, kSignalling, 0, kSignalling, quieted},
        {"v_min_f32", kSignalling, kNan | 5, 0, kNan | 5, quieted},
        {"v_min3_f32", kSignalling, kOne, f(2.0f), kOne, f(2.0f)},
        {"v_min3_f32", kOne, f(2.0f), kSignalling, kOne, quieted},
        {"v_max3_f32", kSignalling, kOne, f(-2.0f), kOne, f(-2.0f)},
        {"v_med3_f32", kSignalling, kOne, f(2.0f), kOne, f(2.0f)},
        {"v_med3_f32", f(3.0f), f(2.0f), kSignalling, f(2.0f), quieted},
        {"v_min_f64", kInf64 | 1, f(2.0), 0, f(2.0), kNan64 | 1},
        {"v_max_f64", f(2.0), kInf64 | kSign64 | 1, 0, f(2.0), kNan64 | kSign64 | 1},
        {"v_max_f64", kNan64 | 2, kNan64 | 3, 0, kNan64 | 3, kNan64 | 3},
        {"v_min_f16", 0x7c01, 0x4000, 0, 0x4000, 0x7e01},
        {"v_max_f16", 0x4000, 0xfc01, 0, 0x4000, 0xfe01},
        {"v_max_f16", 0x7e02, 0xfe03, 0, 0xfe03, 0xfe03},
        {"v_min3_f16", 0x3c00, 0x4000, 0x7c01, 0x22223c00, 0x22227e01},
        {"v_med3_f16", 0x7c01, 0x3c00, 0x4000, 0x22223c00, 0x22224000},
    };
    for (const auto& row : rows) {
        check_all(std::string{kModeRegister} + "IEEE",
                  {{row.name, row.a, row.b, row.c, row.without, 0, 0, kDenormals},
                   {row.name, row.a, row.b, row.c, row.with, 0, 0, kDenormals | kIeee}});
    }
    check_all(std::string{kModeRegister} + "IEEE",
              {{"v_pk_max_f16", 0x7c013c00, 0x40007e00, 0, 0x40003c00, 0, kOpSelHi, kDenormals},
               {"v_pk_max_f16", 0x7c013c00, 0x40007e00, 0, 0x7e013c00, 0, kOpSelHi, kDenormals | kIeee}});
}

TEST_CASE("FP16_OVFL makes overflow the greatest number, and keeps infinity", "[isa][mode]") {
    const u32 on = kIeee | kDenormals | kOverflow;
    check_all(std::string{kModeRegister} + "FP16_OVFL",
              {
                  {"v_mul_f16", 0x7bff, 0x4000, 0, 0x7bff, 0, 0, on},
                  {"v_mul_f16", 0x7bff, 0xc000, 0, 0xfbff, 0, 0, on},
                  {"v_mul_f16", 0x7bff, 0x4000, 0, 0x7bff, 0, 0, on | 4},
                  {"v_mul_f16", 0x7c00, 0x4000, 0, 0x7c00, 0, 0, on},
                  {"v_add_f16", 0xfc00, 0x7bff, 0, 0xfc00, 0, 0, on},
                  {"v_rcp_f16", 0, 0, 0, 0x7c00, 0, 0, on},
                  {"v_ldexp_f16", 0x3c00, 0x7fff, 0, 0x7bff, 0, 0, on},
                  {"v_ldexp_f16", 0x3c00, 0x7fff, 0, 0x7c00, 0, 0, on & ~kOverflow},
                  {"v_fma_f16", 0x7bff, 0x7bff, 0, 0x22227bff, 0, 0, on},
                  {"v_cvt_f16_f32", f(1e6f), 0, 0, 0x7bff, 0, 0, on},
                  {"v_cvt_f16_f32", f(-1e38f), 0, 0, 0xfbff, 0, 0, on},
                  {"v_cvt_f16_f32", kInf, 0, 0, 0x7c00, 0, 0, on},
                  {"v_cvt_f16_u16", 0xffff, 0, 0, 0x7bff, 0, 0, on},
                  {"v_cvt_f16_u16", 0xffff, 0, 0, 0x7c00, 0, 0, on & ~kOverflow},
                  {"v_pk_mul_f16", 0x7bff7c00, 0x4000c000, 0, 0x7bfffc00, 0, kOpSelHi, on},
                  {"v_fma_mixhi_f16", f(1e6f), kOne, 0, 0x7bff2222, 0, 0, on},
                  {"v_mul_f32", kMaxFloat, f(2.0f), 0, kInf, 0, 0, on},
              });
}

TEST_CASE("s_setreg writes a part of MODE, and later instructions use it", "[isa][mode]") {
    // 12.2 SOPK, S_SETREG_IMM32_B32: SIMM16 is size - 1, offset and register.
    const auto setreg = [](u32 offset, u32 size, u32 value) {
        return std::vector<u32>{0xba000001u | offset << 6 | (size - 1) << 11, value};
    };
    const struct {
        std::vector<u32> write;
        u32 mode, sum;
    } rows[] = {
        {setreg(0, 2, 1), 0x2f1, kUlp}, {setreg(0, 2, 0xfd), 0x2f1, kUlp}, {setreg(2, 2, 1), 0x2f4, kOne},
        {setreg(0, 4, 5), 0x2f5, kUlp}, {setreg(4, 4, 0), 0x200, kOne},    {setreg(9, 1, 0), 0x0f0, kOne},
        {setreg(8, 2, 1), 0x1f0, kOne}, {setreg(0, 8, 0x03), 0x203, kOne}, {setreg(23, 1, 1), 0x8002f0, kOne},
    };
    for (const auto& row : rows) {
        INFO("MODE " << std::hex << row.mode);
        Machine m;
        m.vgpr(1, kOne);
        m.vgpr(2, f(0x1p-30f));
        std::vector<u32> code = row.write;
        const std::vector<u32> add = vop2("v_add_f32", 0, v(1), 2);
        code.insert(code.end(), add.begin(), add.end());
        REQUIRE(m.run(code) == Stop::End);
        CHECK(m.wave().mode == row.mode);
        CHECK(m.lane(0, 40) == row.sum);
    }
}

TEST_CASE("matrix multiply-add rounds to nearest and keeps denormals, regardless of MODE", "[isa][mode]") {
    // MI200 ISA manual, "Matrix Arithmetic Instructions".
    for (const u32 mode : {0x2f0u, 0x2ffu, 0x2f5u, 0x2fau, 0x200u}) {
        INFO("MODE " << std::hex << mode);
        Machine m;
        set_mode(m.wave(), mode);
        m.vgpr(1, kOne);
        m.vgpr(2, f(0x1p-30f));
        m.run(vop3("v_mfma_f32_4x4x1f32", 8, v(1), v(2), 242));
        CHECK(m.lane(8, 3) == kOne);
        m.vgpr(2, 1);
        m.run(vop3("v_mfma_f32_4x4x1f32", 8, v(1), v(2), 128));
        CHECK(m.lane(8, 3) == 1);
    }
}

TEST_CASE("each of the waves that a thread runs in turn has its own MODE", "[isa][mode]") {
    const u32 before = _mm_getcsr();
    constexpr u32 kUp = 1;
    struct {
        u32 mode, sum;
        Machine machine{};
    } waves[] = {{0x2c0, kOne}, {0x2c0 | kUp, kUlp}, {0x2c0 | kUp << 2, kOne}, {0x2c0, kOne}};
    // After an operation of 64 bits the CPU's rounding is that of 64 bits.
    const auto code = vop2("v_add_f32", 0, v(1), 2) + vop3("v_add_f64", 4, v(6), v(6));
    {
        kfdemu::isa::HostFloats floats;
        for (unsigned turn = 0; turn < 2; ++turn) {
            for (auto& [mode, sum, m] : waves) {
                set_mode(m.wave(), mode);
                if (turn == 0) m.run(code);  // decodes it
                m.vgpr(0, 0);
                m.vgpr(1, kOne);
                m.vgpr(2, f(0x1p-30f));
                m.wave().pc = kCodeBase;
                m.wave().next = nullptr;
                u64 budget = 100;
                INFO("MODE " << std::hex << mode);
                REQUIRE(run_guarded(m.wave(), budget, floats) == Stop::End);
                CHECK(m.lane(0, 40) == sum);
            }
        }
    }
    constexpr u32 flags = 0x3f;
    CHECK((_mm_getcsr() & ~flags) == (before & ~flags));
}
