// The scalar unit: values and SCC, control flow, hardware registers, stops.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/memory/gws.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

struct ScalarCase {
    const char* name;
    u64 a, b;
    u64 expected;
    int scc;  ///< 2: unchanged
    bool before = false;
};

}  // namespace

TEST_CASE("scalar arithmetic and its SCC", "[isa][scalar]") {
    const ScalarCase cases[] = {
        {"s_add_u32", 0xffffffff, 1, 0, 1},
        {"s_sub_u32", 1, 2, 0xffffffff, 1},
        {"s_add_i32", kIntMax, 1, kIntMin, 1},
        {"s_add_i32", 0xffffffff, 1, 0, 0},
        {"s_sub_i32", kIntMin, 1, kIntMax, 1},
        {"s_addc_u32", 0xffffffff, 0, 0, 1, true},
        {"s_subb_u32", 0, 0xffffffff, 0, 1, true},
        {"s_min_i32", kIntMin, 1, kIntMin, 1},
        {"s_max_u32", kIntMin, 1, kIntMin, 1},
        {"s_cselect_b32", 3, 4, 4, 2},
        {"s_cselect_b64", 3, 4, 3, 2, true},
        {"s_andn2_b64", kAll, 0xff, ~u64{0xff}, 1},
        {"s_xnor_b64", 5, 5, kAll, 1},
        {"s_nor_b32", 5, 0xfffffffa, 0, 0},
        {"s_lshl_b32", 1, 33, 2, 1},
        {"s_lshl_b64", 1, 65, 2, 1},
        {"s_lshr_b64", u64{1} << 63, 63, 1, 1},
        {"s_ashr_i32", kIntMin, 31, 0xffffffff, 1},
        {"s_ashr_i64", u64{1} << 63, 63, kAll, 1},
        {"s_bfm_b32", 4, 8, 0xf00, 2},
        {"s_bfm_b64", 40, 8, 0x0000ffffffffff00, 2},
        {"s_mul_i32", 0xffffffff, 5, 0xfffffffb, 2},
        {"s_bfe_u32", 0xabcd1234, 8 | 8 << 16, 0x12, 1},
        {"s_bfe_u32", 0xffffffff, 4 | 32 << 16, 0x0fffffff, 1},
        {"s_bfe_i32", 0xf000, 12 | 4 << 16, 0xffffffff, 1},
        {"s_bfe_u64", u64{0xabcd} << 40, 40 | 16 << 16, 0xabcd, 1},
        {"s_bfe_i64", u64{0x8} << 40, 40 | 4 << 16, static_cast<u64>(-8), 1},
        {"s_absdiff_i32", 3, 10, 7, 1},
        {"s_mul_hi_u32", 0xffffffff, 0xffffffff, 0xfffffffe, 2},
        {"s_mul_hi_i32", kIntMin, kIntMin, 0x40000000, 2},
        {"s_lshl3_add_u32", 0x20000000, 1, 1, 1},
        {"s_pack_ll_b32_b16", 0x12345678, 0xabcdef01, 0xef015678, 2},
        {"s_pack_lh_b32_b16", 0x12345678, 0xabcdef01, 0xabcd5678, 2},
        {"s_pack_hh_b32_b16", 0x12345678, 0xabcdef01, 0xabcd1234, 2},
    };
    for (const Level level : levels()) {
        for (const ScalarCase& test : cases) {
            INFO(test.name << " on " << name(level));
            Machine m{Target::gfx90a, level};
            m.wave().set_s64(10, test.a);
            m.wave().set_s64(12, test.b);
            m.wave().scc = test.before;
            REQUIRE(m.run(sop2(test.name, 14, 10, 12)) == Stop::End);
            const u64 places = dwords(row_of(test.name).dst) == 2 ? kAll : 0xffffffff;
            CHECK((m.wave().s64(14) & places) == test.expected);
            CHECK(m.wave().scc == (test.scc == 2 ? test.before : test.scc == 1));
        }
    }
}

TEST_CASE("scalar operations of one source", "[isa][scalar]") {
    const ScalarCase cases[] = {
        {"s_mov_b64", 0x123456789abcdef0, 0, 0x123456789abcdef0, 2},
        {"s_not_b32", 0xffffffff, 0, 0, 0},
        {"s_wqm_b32", 0x00100001, 0, 0x00f0000f, 1},
        {"s_wqm_b64", 0x8000000000000000, 0, 0xf000000000000000, 1},
        {"s_brev_b32", 1, 0, kIntMin, 2},
        {"s_brev_b64", 1, 0, u64{1} << 63, 2},
        {"s_bcnt0_i32_b32", 0xff, 0, 24, 1},
        {"s_bcnt1_i32_b64", kAll, 0, 64, 1},
        {"s_ff0_i32_b32", 0xff, 0, 8, 2},
        {"s_ff1_i32_b32", 0, 0, 0xffffffff, 2},
        {"s_ff1_i32_b64", u64{1} << 40, 0, 40, 2},
        {"s_flbit_i32_b32", 1, 0, 31, 2},
        {"s_flbit_i32_b64", 1, 0, 63, 2},
        {"s_flbit_i32", 0xffffffff, 0, 0xffffffff, 2},
        {"s_flbit_i32_i64", static_cast<u64>(-2), 0, 63, 2},
        {"s_sext_i32_i8", 0x80, 0, 0xffffff80, 2},
        {"s_sext_i32_i16", 0x18000, 0, 0xffff8000, 2},
        {"s_abs_i32", 0xfffffffb, 0, 5, 1},
        {"s_abs_i32", kIntMin, 0, kIntMin, 1},
        {"s_quadmask_b32", 0x10000001, 0, 0x81, 1},
        {"s_quadmask_b64", 0x8000000000000010, 0, 0x8002, 1},
        {"s_bitreplicate_b64_b32", 0x80000001, 0, 0xc000000000000003, 2},
        {"s_getpc_b64", 0, 0, kCodeBase + 4, 2},
    };
    for (const ScalarCase& test : cases) {
        INFO(test.name);
        Machine m;
        m.wave().set_s64(10, test.a);
        REQUIRE(m.run(sop1(test.name, 14, 10)) == Stop::End);
        const u64 places = dwords(row_of(test.name).dst) == 2 ? kAll : 0xffffffff;
        CHECK((m.wave().s64(14) & places) == test.expected);
        CHECK(m.wave().scc == (test.scc == 1));
    }
}

TEST_CASE("constants of 64-bit scalars are sign-extended, literals as the operand is signed", "[isa][scalar]") {
    Machine m;
    m.run(sop1("s_mov_b64", 14, 193));
    CHECK(m.wave().s64(14) == kAll);
    m.run(sop1("s_mov_b64", 14, 242));
    CHECK(m.wave().s64(14) == bits(1.0));
    m.run(sop1("s_mov_b64", 14, 235));
    CHECK(m.wave().s64(14) == m.wave().shared_base);
    m.run(sop1("s_mov_b64", 14, 255) + std::vector<u32>{0x7fffffff});
    CHECK(m.wave().s64(14) == 0x7fffffff);
    m.run(sop1("s_mov_b64", 14, 255) + std::vector<u32>{0xffffffff});
    CHECK(m.wave().s64(14) == 0xffffffff);
    m.run(sop2("s_or_b64", 14, 255, 128) + std::vector<u32>{0x80000000});
    CHECK(m.wave().s64(14) == 0x80000000);
    m.run(sop2("s_ashr_i64", 14, 255, 132) + std::vector<u32>{0x80000000});
    CHECK(m.wave().s64(14) == 0xfffffffff8000000);
    m.run(sop2("s_and_b32", 14, 255, 124) + std::vector<u32>{0xff});
    CHECK(m.sgpr(14) == 0);
}

TEST_CASE("saveexec keeps EXEC and narrows it", "[isa][scalar]") {
    Machine m;
    m.exec(0xff);
    m.wave().set_s64(10, 0xf0f);
    m.run(sop1("s_and_saveexec_b64", 14, 10));
    CHECK(m.wave().s64(14) == 0xff);
    CHECK(m.wave().exec() == 0xf);
    CHECK(m.wave().scc);
    m.run(sop1("s_andn2_wrexec_b64", 14, 10));
    CHECK(m.wave().exec() == 0xf00);
    CHECK(m.wave().s64(14) == 0xf00);
}

TEST_CASE("comparisons and immediates", "[isa][scalar]") {
    Machine m;
    m.sgpr(10) = 0xffffffff;
    m.sgpr(11) = 1;
    const auto scc = [&](const std::vector<u32>& code) {
        m.run(code);
        return m.wave().scc;
    };
    CHECK(scc(sopc("s_cmp_lt_i32", 10, 11)));
    CHECK_FALSE(scc(sopc("s_cmp_lt_u32", 10, 11)));
    CHECK(scc(sopc("s_bitcmp1_b32", 10, 11)));
    CHECK_FALSE(scc(sopc("s_cmp_eq_u64", 10, 12)));
    CHECK(scc(sopk("s_cmpk_eq_i32", 10, 0xffff)));
    CHECK_FALSE(scc(sopk("s_cmpk_eq_u32", 10, 0xffff)));
    CHECK(scc(sopk("s_cmpk_gt_u32", 10, 0xffff)));
    m.run(sopk("s_movk_i32", 14, 0x8000));
    CHECK(m.sgpr(14) == 0xffff8000);
    m.run(sopk("s_addk_i32", 14, 0x7fff));
    CHECK(m.sgpr(14) == 0xffffffff);
    m.run(sopk("s_mulk_i32", 14, 7));
    CHECK(m.sgpr(14) == 0xfffffff9);
}

TEST_CASE("branches, calls and returns", "[isa][scalar]") {
    Machine m;
    // s10 counts down from 5, s11 counts rounds.
    const auto loop = sopk("s_movk_i32", 10, 5) + sopk("s_movk_i32", 11, 0) + sopk("s_addk_i32", 11, 1) +
                      sop2("s_sub_u32", 10, 10, 129) + sopc("s_cmp_lg_u32", 10, 128) +
                      sopp("s_cbranch_scc1", static_cast<u32>(-4));
    CHECK(m.run(loop) == Stop::End);
    CHECK(m.sgpr(11) == 5);
    CHECK(m.run(sopk("s_call_b64", 20, 1) + sopp("s_endpgm") + sopk("s_movk_i32", 12, 9) +
                sop1("s_setpc_b64", 0, 20)) == Stop::End);
    CHECK(m.sgpr(12) == 9);
    CHECK(m.wave().s64(20) == kCodeBase + 4);
    m.exec(0);
    CHECK(m.run(sopp("s_cbranch_execz", 1) + sopk("s_movk_i32", 12, 1)) == Stop::End);
    CHECK(m.sgpr(12) == 9);
    m.wave().set_s64(22, 0xdead0000);
    CHECK(m.run(sop1("s_setpc_b64", 0, 22)) == Stop::FetchFault);
    CHECK(m.wave().pc == 0xdead0000);
}

TEST_CASE("fork and join run both sides", "[isa][scalar]") {
    Machine m;
    m.wave().set_s64(20, 0xff);  // these lanes branch
    m.vgpr(0, 0);
    m.sgpr(30) = 0;
    // fork to +2; fall through: v0 |= 1, join; target: v0 |= 2, join
    const auto code = sopk("s_cbranch_i_fork", 20, 3) + vop2("v_or_b32", 0, 129, 0) + sop1("s_cbranch_join", 0, 30) +
                      sopp("s_endpgm") + vop2("v_or_b32", 0, 130, 0) + sop1("s_cbranch_join", 0, 30);
    CHECK(m.run(code) == Stop::End);
    CHECK(m.wave().exec() == ~u64{0xff});
    CHECK(m.lane(0, 3) == 2);
    CHECK(m.lane(0, 20) == 1);
}

TEST_CASE("hardware registers", "[isa][scalar]") {
    Machine m;
    const u32 mode_all = 1 | 31 << 11, denormals = 1 | 4 << 6 | 3 << 11, bases = 15 | 31 << 11;
    m.run(sopk("s_getreg_b32", 10, mode_all));
    CHECK(m.sgpr(10) == 0x2f0);
    m.sgpr(11) = 0x3;
    m.run(sopk("s_setreg_b32", 11, denormals));
    CHECK(m.wave().mode == 0x230);
    m.run(sopk("s_setreg_imm32_b32", 0, denormals) + std::vector<u32>{0xf});
    CHECK(m.wave().mode == 0x2f0);
    m.run(sopk("s_getreg_b32", 10, bases));
    CHECK(m.sgpr(10) == (u32{0x0100} << 16 | 0x0200));
    CHECK(m.run(sopk("s_getreg_b32", 10, 33)) == Stop::Illegal);
}

TEST_CASE("GPR indexing moves the operands that it names", "[isa][scalar]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx900, level};
        for (u32 n = 0; n < 8; ++n) m.vgpr(10 + n, 100 + n);
        m.sgpr(5) = 3;
        const auto code = std::vector<u32>{0xbf110105} + vop1("v_mov_b32", 0, v(10)) + sopp("s_set_gpr_idx_off") +
                          vop1("v_mov_b32", 1, v(10));
        CHECK(m.run(code) == Stop::End);
        CHECK(m.lane(0, 9) == 103);
        CHECK(m.lane(1, 9) == 100);
        const auto store = std::vector<u32>{0xbf110805} + vop1("v_mov_b32", 20, v(10)) + sopp("s_set_gpr_idx_off");
        CHECK(m.run(store) == Stop::End);
        CHECK(m.lane(23, 9) == 100);
        CHECK(m.lane(20, 9) == 0);
    }
}

TEST_CASE("VSKIP passes vector instructions by", "[isa][scalar]") {
    Machine m;
    m.sgpr(5) = 1;
    m.run(sopc("s_setvskip", 5, 128) + vop1("v_mov_b32", 0, 133) + sopk("s_movk_i32", 6, 4) +
          sopc("s_setvskip", 5, 129) + vop1("v_mov_b32", 1, 133));
    CHECK(m.lane(0, 0) == 0);
    CHECK(m.lane(1, 0) == 5);
    CHECK(m.sgpr(6) == 4);
}

TEST_CASE("VSKIP and GPR indexing ignore truncated and unknown instructions", "[isa][scalar]") {
    Machine m;
    m.sgpr(5) = 1;
    // The first half of a VOP3, whose second half is the s_endpgm: the wave runs past the end of its code.
    const std::vector<u32> half{vop3("v_mad_f32", 0, v(1), v(1), v(1))[0]};
    CHECK(m.run(sopc("s_setvskip", 5, 128) + half) == Stop::FetchFault);
    const std::vector<u32> index_on{0xbf110105}, unknown_vop1{0x7e01fe00};
    set_mode(m.wave(), 0x2f0);
    CHECK(m.run(index_on + half) == Stop::FetchFault);
    CHECK(m.run(index_on + unknown_vop1) == Stop::Illegal);
}

TEST_CASE("waves meet at a global wave sync barrier, time and again", "[isa][gws]") {
    // ds_gws_init v2 offset:3 gds; ds_gws_barrier v2 offset:3 gds, twice
    const std::vector<u32> init{0xd9330003, 2}, barriers{0xd93b0003, 2, 0xd93b0003, 2};
    for (const Level level : levels()) {
        Gws gws;
        Machine first{Target::gfx90a, level}, second{Target::gfx900, level};
        CHECK(first.run(init) == Stop::Illegal);  // without a queue with GWS
        for (Machine* m : {&first, &second}) {
            m->wave().gws = &gws;
            m->vgpr(2, 1);  // two waves, less one
            m->sgpr(124) = 0;
        }
        CHECK(first.run(init) == Stop::End);
        CHECK(gws.resource[3] == 1);
        CHECK(first.run(barriers) == Stop::Sleep);
        CHECK(first.resume() == Stop::Sleep);
        CHECK(second.run(barriers) == Stop::Sleep);  // past the first, at the second
        CHECK(first.resume() == Stop::End);
        CHECK(second.resume() == Stop::End);
        first.sgpr(124) = 61u << 16;  // M0 adds to the number: 64 is 0
        CHECK(first.run(init) == Stop::End);
        CHECK(static_cast<u32>(gws.resource[0]) == 1);
    }
}

TEST_CASE("a wave stops with a reason, and continues if it can", "[isa][scalar]") {
    Machine m;
    const auto after = [&](const std::vector<u32>& code) { return m.run(code + sopk("s_movk_i32", 10, 77)); };
    m.sgpr(10) = 0;
    CHECK(after(sopp("s_barrier")) == Stop::Barrier);
    CHECK(m.sgpr(10) == 0);
    CHECK(m.resume() == Stop::End);
    CHECK(m.sgpr(10) == 77);
    CHECK(after(sopp("s_sleep", 5)) == Stop::Sleep);
    CHECK(m.wave().argument == 5);
    CHECK(after(sopp("s_trap", 2)) == Stop::Trap);
    CHECK(m.wave().argument == 2);
    CHECK(after(sopp("s_sendmsg", 1)) == Stop::Message);
    CHECK(after(sopp("s_sethalt", 1)) == Stop::Halt);
    CHECK(after({0xffffffff}) == Stop::Illegal);
    CHECK(m.wave().pc == kCodeBase);
    CHECK(after(sop1("s_rfe_b64", 0, 10)) == Stop::Illegal);
    CHECK(m.run(sopp("s_branch", static_cast<u32>(-1)), 1000) == Stop::Budget);
    CHECK(m.resume(1000) == Stop::Budget);
    CHECK(m.wave().pc == kCodeBase);
}

TEST_CASE("the caller's floating-point environment survives", "[isa][scalar]") {
    const u32 before = __builtin_ia32_stmxcsr();
    Machine m;
    set_mode(m.wave(), 0x0f);
    m.run(vop2("v_add_f32", 0, v(1), 2));
    CHECK(__builtin_ia32_stmxcsr() == before);
}
