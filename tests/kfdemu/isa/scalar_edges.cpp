// The scalar unit at its edges: INT_MIN, fields and shifts as wide as the register, SCC on overflow, forks.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using kfdemu::isa::dwords;

namespace {

struct Scalar {
    const char* name;
    u64 a, b;
    u64 expected;
    int scc;  ///< 2: unchanged
    bool before = false;
    u64 old = 0;  ///< of the destination
};

void check_scalars(const std::string& section, const std::vector<Scalar>& rows, bool two_sources) {
    for (const Scalar& row : rows) {
        INFO(section << ": " << row.name << std::hex << " " << row.a << " " << row.b);
        Machine m;
        m.wave().set_s64(10, row.a);
        m.wave().set_s64(12, row.b);
        m.wave().set_s64(14, row.old);
        m.wave().scc = row.before;
        const auto code = two_sources ? sop2(row.name, 14, 10, 12) : sop1(row.name, 14, 10);
        REQUIRE(m.run(code) == Stop::End);
        const u64 places = dwords(row_of(row.name).dst) == 2 ? kAll : 0xffffffff;
        CHECK((m.wave().s64(14) & places) == row.expected);
        CHECK(m.wave().scc == (row.scc == 2 ? row.before : row.scc == 1));
    }
}

/// S_BFE's second source.
constexpr u32 field(u32 offset, u32 width) { return offset | width << 16; }

}  // namespace

TEST_CASE("scalar sums and differences: SCC is the carry, or the overflow", "[isa][edges]") {
    check_scalars("\"Vega\" ISA manual, 12.1 SOP2, S_ADD_U32 to S_SUBB_U32, S_ABSDIFF_I32, S_LSHL1_ADD_U32",
                  {
                      {"s_add_u32", kIntMin, kIntMin, 0, 1},
                      {"s_add_i32", kIntMin, kIntMin, 0, 1},
                      {"s_add_i32", kIntMin, 0xffffffff, kIntMax, 1},
                      {"s_add_i32", kIntMin, kIntMax, 0xffffffff, 0},
                      {"s_sub_u32", 5, 5, 0, 0},
                      {"s_sub_i32", 0, kIntMin, kIntMin, 1},
                      {"s_sub_i32", kIntMax, 0xffffffff, kIntMin, 1},
                      {"s_sub_i32", 0xffffffff, kIntMin, kIntMax, 0},
                      {"s_addc_u32", 0xffffffff, 0xffffffff, 0xffffffff, 1, true},
                      {"s_addc_u32", 0xfffffffe, 0, 0xffffffff, 0, true},
                      {"s_subb_u32", 0, 0, 0xffffffff, 1, true},
                      {"s_subb_u32", 1, 0, 0, 0, true},
                      {"s_subb_u32", 0, 0xffffffff, 1, 1, false},
                      {"s_absdiff_i32", 2, 5, 3, 1},
                      {"s_absdiff_i32", 0xffffffff, 0xffffffff, 0, 0},
                      {"s_absdiff_i32", kIntMin, 0, kIntMin, 1},
                      {"s_absdiff_i32", kIntMin, 1, kIntMax, 1},
                      {"s_absdiff_i32", kIntMin, 0xffffffff, kIntMax, 1},
                      {"s_absdiff_i32", kIntMin, 0xfffffffe, 0x7ffffffe, 1},
                      {"s_lshl1_add_u32", 0x7fffffff, 1, 0xffffffff, 0},
                      {"s_lshl1_add_u32", 0x7fffffff, 2, 0, 1},
                      {"s_lshl2_add_u32", 0x40000000, 0, 0, 1},
                      {"s_lshl3_add_u32", 0x1fffffff, 8, 0, 1},
                      {"s_lshl4_add_u32", 0xffffffff, 0xffffffff, 0xffffffef, 1},
                      {"s_mul_i32", kIntMin, 0xffffffff, kIntMin, 2},
                      {"s_mul_hi_i32", kIntMin, kIntMax, 0xc0000000, 2, true},
                      {"s_mul_hi_u32", kIntMin, 2, 1, 2},
                      {"s_min_i32", kIntMin, kIntMax, kIntMin, 1},
                      {"s_min_u32", kIntMin, kIntMax, kIntMax, 0, true},
                      {"s_max_i32", kIntMin, kIntMax, kIntMax, 0, true},
                  },
                  true);
}

TEST_CASE("scalar shifts and fields of width 0, and wider than the remaining bits", "[isa][edges]") {
    check_scalars("\"Vega\" ISA manual, 12.1 SOP2, S_LSHL_B32 to S_BFE_I64",
                  {
                      {"s_lshl_b32", 0xdeadbeef, 32, 0xdeadbeef, 1},
                      {"s_lshl_b32", kIntMin, 1, 0, 0, true},
                      {"s_lshr_b32", 1, 33, 0, 0, true},
                      {"s_ashr_i32", kIntMin, 0xffffffff, 0xffffffff, 1},
                      {"s_ashr_i32", kIntMax, 31, 0, 0, true},
                      {"s_lshl_b64", 1, 64, 1, 1},
                      {"s_lshl_b64", kSign64, 1, 0, 0, true},
                      {"s_lshr_b64", kSign64, 127, 1, 1},
                      {"s_ashr_i64", kSign64, 32, 0xffffffff80000000, 1},
                      {"s_bfm_b32", 32, 4, 0, 2},  // five bits count
                      {"s_bfm_b32", 31, 31, kIntMin, 2, true},
                      {"s_bfm_b64", 64, 4, 0, 2},
                      {"s_bfm_b64", 63, 63, kSign64, 2},
                      {"s_bfe_u32", 0xffffffff, field(0, 0), 0, 0, true},
                      {"s_bfe_u32", 0xdeadbeef, field(0, 32), 0xdeadbeef, 1},
                      {"s_bfe_u32", 0xdeadbeef, field(31, 127), 1, 1},
                      {"s_bfe_u32", 0xdeadbeef, field(36, 4), 0xe, 1},
                      {"s_bfe_u32", 0x0000ffff, field(16, 16), 0, 0, true},
                      {"s_bfe_i32", 0xffffffff, field(5, 0), 0, 0, true},
                      {"s_bfe_i32", 0x00000080, field(4, 4), 0xfffffff8, 1},
                      {"s_bfe_i32", kIntMin, field(0, 32), kIntMin, 1},
                      {"s_bfe_i32", kIntMin, field(31, 32), 0xffffffff, 1},
                      {"s_bfe_i32", kIntMax, field(0, 31), 0xffffffff, 1},
                      {"s_bfe_u64", kAll, field(0, 64), kAll, 1},
                      {"s_bfe_u64", kAll, field(63, 64), 1, 1},
                      {"s_bfe_u64", kAll, field(8, 0), 0, 0, true},
                      {"s_bfe_i64", 0x8000000000, field(36, 4), static_cast<u64>(-8), 1},
                      {"s_bfe_i64", kSign64, field(0, 64), kSign64, 1},
                      {"s_bfe_i64", kSign64, field(63, 1), kAll, 1},
                  },
                  true);
}

TEST_CASE("scalar bits: counting, finding, setting, quads", "[isa][edges]") {
    check_scalars("\"Vega\" ISA manual, 12.3 SOP1 instructions",
                  {
                      {"s_bcnt0_i32_b32", 0xffffffff, 0, 0, 0, true},
                      {"s_bcnt0_i32_b64", 0, 0, 64, 1},
                      {"s_bcnt1_i32_b32", 0, 0, 0, 0, true},
                      {"s_bcnt1_i32_b64", 0xf00000000, 0, 4, 1},
                      {"s_ff0_i32_b32", 0xffffffff, 0, 0xffffffff, 2, true},
                      {"s_ff0_i32_b64", kAll, 0, 0xffffffff, 2},
                      {"s_ff0_i32_b64", 0xffffffff, 0, 32, 2},
                      {"s_ff1_i32_b32", kIntMin, 0, 31, 2},
                      {"s_ff1_i32_b64", 0, 0, 0xffffffff, 2},
                      {"s_flbit_i32_b32", 0, 0, 0xffffffff, 2},
                      {"s_flbit_i32_b32", kIntMin, 0, 0, 2},
                      {"s_flbit_i32_b64", 0, 0, 0xffffffff, 2, true},
                      {"s_flbit_i32_b64", 0xffffffff, 0, 32, 2},
                      {"s_flbit_i32", 0, 0, 0xffffffff, 2},
                      {"s_flbit_i32", 0xffffffff, 0, 0xffffffff, 2},
                      {"s_flbit_i32", kIntMin, 0, 1, 2},
                      {"s_flbit_i32", 0xffff0000, 0, 16, 2},
                      {"s_flbit_i32", 1, 0, 31, 2},
                      {"s_flbit_i32_i64", 0, 0, 0xffffffff, 2},
                      {"s_flbit_i32_i64", kAll, 0, 0xffffffff, 2},
                      {"s_flbit_i32_i64", kSign64, 0, 1, 2},
                      {"s_abs_i32", 0, 0, 0, 0, true},
                      {"s_abs_i32", kIntMin, 0, kIntMin, 1},
                      {"s_abs_i32", 0xffffffff, 0, 1, 1},
                      {"s_sext_i32_i8", 0xffffff7f, 0, 0x7f, 2},
                      {"s_sext_i32_i16", 0xffff8000, 0, 0xffff8000, 2},
                      {"s_bitset0_b32", 32, 0, 0xfffffffe, 2, false, 0xffffffff},
                      {"s_bitset1_b32", 63, 0, kIntMin, 2},
                      {"s_bitset0_b64", 63, 0, 0x7fffffffffffffff, 2, false, kAll},
                      {"s_bitset1_b64", 100, 0, u64{1} << 36, 2},
                      {"s_quadmask_b32", 0x80000001, 0, 0x81, 1},
                      {"s_quadmask_b32", 0, 0, 0, 0, true},
                      {"s_quadmask_b64", kAll, 0, 0xffff, 1},
                      {"s_quadmask_b64", 0x0f00000000000000, 0, 0x4000, 1},
                      {"s_wqm_b32", 0x80010000, 0, 0xf00f0000, 1},
                      {"s_wqm_b64", 0, 0, 0, 0, true},
                      {"s_wqm_b64", 0x1000000000000008, 0, 0xf00000000000000f, 1},
                      {"s_bitreplicate_b64_b32", 0xffffffff, 0, kAll, 2},
                      {"s_bitreplicate_b64_b32", 0x00018000, 0, 0x00000003c0000000, 2, true},
                      {"s_brev_b64", 0x8000000000000003, 0, 0xc000000000000001, 2},
                      {"s_not_b64", kAll, 0, 0, 0, true},
                      {"s_cmov_b32", 5, 0, 7, 2, false, 7},
                      {"s_cmov_b64", kSign64, 0, kSign64, 2, true, 7},
                  },
                  false);
}

TEST_CASE("scalar comparisons and immediates at INT_MIN", "[isa][edges]") {
    // "Vega" ISA manual, 12.4 SOPC; 12.2 SOPK: immediates of *_I32 are sign-extended, of *_U32 zero-extended.
    const struct {
        std::vector<u32> code;
        bool scc;
        u32 s10 = kIntMin;
    } rows[] = {
        {sopc("s_cmp_lt_i32", 10, 128), true},
        {sopc("s_cmp_gt_u32", 10, 128), true},
        {sopc("s_cmp_ge_i32", 10, 10), true},
        {sopc("s_cmp_le_u32", 10, 193), true},
        {sopc("s_bitcmp1_b32", 10, 159), true},   // bit 31
        {sopc("s_bitcmp0_b32", 10, 160), true},   // bit 32 is bit 0
        {sopc("s_bitcmp1_b64", 10, 192), false},  // bit 64 is bit 0
        {sopk("s_cmpk_lt_i32", 10, 0x8000), true},
        {sopk("s_cmpk_gt_u32", 10, 0x8000), true},
        {sopk("s_cmpk_eq_i32", 10, 0x8000), true, 0xffff8000},
        {sopk("s_cmpk_eq_u32", 10, 0x8000), false, 0xffff8000},
        {sopk("s_addk_i32", 10, 0xffff), true},
        {sopk("s_addk_i32", 10, 1), true, kIntMax},
        {sopk("s_addk_i32", 10, 1), false, 0xffffffff},
    };
    for (const auto& row : rows) {
        INFO(std::hex << row.code[0]);
        Machine m;
        m.wave().scc = !row.scc;
        m.sgpr(10) = row.s10;
        m.sgpr(11) = 0;
        REQUIRE(m.run(row.code) == Stop::End);
        CHECK(m.wave().scc == row.scc);
    }
    Machine m;
    m.sgpr(10) = 0x00010000;
    m.run(sopk("s_mulk_i32", 10, 0x8000));
    CHECK(m.sgpr(10) == kIntMin);
    m.wave().scc = false;
    m.run(sopk("s_cmovk_i32", 10, 5));
    CHECK(m.sgpr(10) == kIntMin);
    m.wave().scc = true;
    m.run(sopk("s_cmovk_i32", 10, 0xffff));
    CHECK(m.sgpr(10) == 0xffffffff);
}

TEST_CASE("a fork takes the side with fewer lanes first, only if both have lanes", "[isa][edges]") {
    // "Vega" ISA manual, 4.4 Branching with fork and join; 12.1 S_CBRANCH_G_FORK, 12.2 S_CBRANCH_I_FORK.
    const struct {
        u64 exec, condition;
        u32 csp;         ///< levels after the fork
        u64 now, later;  ///< EXEC after it, and the pending mask
        bool jumped;
    } rows[] = {
        {kAll, kAll, 0, kAll, 0, true},     {kAll, 0, 0, kAll, 0, false},
        {0xff, 0xf00, 0, 0xff, 0, false},  // only of inactive lanes
        {0xff, 0xffff, 0, 0xff, 0, true},   {0xff, 0x01, 1, 0x01, 0xfe, true},
        {0xff, 0x7f, 1, 0x80, 0x7f, false}, {0xff, 0x0f, 1, 0x0f, 0xf0, true},  // as many: the branch
    };
    for (const bool with_immediate : {false, true}) {
        for (const auto& row : rows) {
            INFO(std::hex << row.exec << " " << row.condition << (with_immediate ? " i_fork" : " g_fork"));
            Machine m;
            m.exec(row.exec);
            m.wave().set_s64(20, row.condition);
            m.wave().set_s64(22, kCodeBase + 12);
            m.sgpr(30) = 0;
            const auto fork = with_immediate ? sopk("s_cbranch_i_fork", 20, 2) : sop2("s_cbranch_g_fork", 0, 20, 22);
            m.run(fork + sopk("s_movk_i32", 30, 1) + sopp("s_endpgm"));
            CHECK(m.wave().mode >> 29 == row.csp);
            CHECK(m.wave().exec() == row.now);
            CHECK((m.sgpr(30) == 0) == row.jumped);
            if (row.csp == 0) continue;
            CHECK(m.wave().s64(0) == row.later);
            CHECK(m.wave().s64(2) == (row.jumped ? kCodeBase + 4 : kCodeBase + 12));
        }
    }
}
