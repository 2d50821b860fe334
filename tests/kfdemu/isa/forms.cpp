// What the encodings add to a meaning: modifiers, constants, carries, masks, lanes by number.
#include "tests/kfdemu/isa/machine.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

TEST_CASE("neg and abs apply before, omod and clamp after", "[isa][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        set_mode(m.wave(), 0);  // OMOD works without denormals and IEEE only
        m.vgpr(1, bits(-3.0f));
        m.vgpr(2, bits(0.25f));
        m.run(vop3("v_add_f32", 0, v(1), v(2), 0, 1u << 8, 2u << 29));  // |v1| + -v2
        CHECK(as_float(m.lane(0, 9)) == 2.75f);
        m.run(vop3("v_mul_f32", 0, v(1), v(2), 0, 0, 1u << 29 | 3u << 27));  // -v1 * v2, halved
        CHECK(as_float(m.lane(0, 9)) == 0.375f);
        m.run(vop3("v_mul_f32", 0, v(1), v(2), 0, 1u << 15));
        CHECK(m.lane(0, 9) == 0);
        m.run(vop3("v_add_f32", 0, v(1), v(1), 0, 3u << 8 | 1u << 15, 1u << 27));
        CHECK(as_float(m.lane(0, 9)) == 1.0f);
        m.vgpr64(4, bits(-3.0));
        m.run(vop3("v_add_f64", 6, v(4), v(4), 0, 1u << 8, 2u << 29));
        CHECK(as_double(m.lane64(6, 0)) == 6.0);
    }
}

TEST_CASE("constants and scalars reach every lane", "[isa][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        m.sgpr(7) = bits(5.0f);
        m.number_lanes(1);
        m.run(vop2("v_add_f32", 0, 242, 1));  // 1.0 + v1 (denormals)
        CHECK(as_float(m.lane(0, 63)) == 1.0f);
        m.run(vop2("v_add_u32", 0, 193, 1));  // -1
        CHECK(m.lane(0, 63) == 62);
        m.vgpr(2, bits(2.0f));
        m.run(vop2("v_mul_f32", 0, 7, 2));
        CHECK(as_float(m.lane(0, 11)) == 10.0f);
        m.run({vop2("v_mul_f32", 0, 255, 2)[0], bits(0.5f)});
        CHECK(as_float(m.lane(0, 11)) == 1.0f);
        m.vgpr64(4, bits(2.0));
        m.run(vop3("v_mul_f64", 6, 246, v(4)));  // 4.0
        CHECK(as_double(m.lane64(6, 1)) == 8.0);
        m.vgpr(2, 0x4000);
        m.run(vop2("v_mul_f16", 0, 242, 2));
        CHECK(m.lane(0, 1) == 0x4000);
        m.wave().scc = true;
        m.run(vop1("v_mov_b32", 0, 253));
        CHECK(m.lane(0, 1) == 1);
    }
}

TEST_CASE("carries go to VCC or a pair of SGPRs, and come from them", "[isa][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        m.number_lanes(1, 0xffffffe0);
        m.vgpr(2, 1);
        m.exec(0xffffffff80000000);
        m.run(vop2("v_add_co_u32", 0, v(1), 2));
        CHECK(m.wave().vcc() == 0x80000000);  // lane 31 wraps; lanes above start at 0; others are off
        m.exec(kAll);
        m.wave().set_s64(kVcc, 0x5);
        m.vgpr(3, 10);
        m.run(vop2("v_addc_co_u32", 0, v(3), 2));
        CHECK(m.lane(0, 0) == 12);
        CHECK(m.lane(0, 1) == 11);
        CHECK(m.wave().vcc() == 0);
        m.wave().set_s64(20, 0x2);
        m.vgpr(4, 0);
        m.run(vop3("v_subb_co_u32", 0, v(4), v(2), 20, 30u << 8));
        CHECK(m.lane(0, 1) == 0xfffffffe);
        CHECK(m.lane(0, 0) == 0xffffffff);
        CHECK(m.wave().s64(30) == kAll);
        m.wave().set_s64(kVcc, 0x2);
        m.run(vop2("v_cndmask_b32", 0, v(2), 3));
        CHECK(m.lane(0, 0) == 1);
        CHECK(m.lane(0, 1) == 10);
        m.vgpr64(6, kAll);
        m.run(vop3("v_mad_u64_u32", 8, v(2), v(2), v(6), 40u << 8));
        CHECK(m.lane64(8, 3) == 0);
        CHECK(m.wave().s64(40) == kAll);
    }
}

TEST_CASE("comparisons make masks, inactive lanes are 0, and v_cmpx changes EXEC", "[isa][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        m.number_lanes(1);
        m.exec(0xff00);
        m.run(vop2("v_cmp_lt_u32", 0, 138, 1));  // 10 < v1
        CHECK(m.wave().vcc() == 0xf800);
        m.run(vop3("v_cmp_ge_u32", 30, 138, v(1)));
        CHECK(m.wave().s64(30) == 0x0700);
        m.run(vop2("v_cmpx_gt_u32", 0, 140, 1));
        CHECK(m.wave().exec() == 0x0f00);
        m.exec(kAll);
        m.vgpr(2, 0x7fc00000);
        const auto compare = [&](const char* mnemonic) {
            m.run(vop2(mnemonic, 0, 242, 2));
            return m.wave().vcc();
        };
        CHECK(compare("v_cmp_lt_f32") == 0);
        CHECK(compare("v_cmp_nlt_f32") == kAll);
        CHECK(compare("v_cmp_u_f32") == kAll);
        CHECK(compare("v_cmp_lg_f32") == 0);
        CHECK(compare("v_cmp_neq_f32") == kAll);
        CHECK(compare("v_cmp_tru_f32") == kAll);
        m.vgpr64(4, bits(2.0));
        m.run(vop2("v_cmp_lt_f64", 0, 242, 4));
        CHECK(m.wave().vcc() == kAll);
        m.vgpr64(4, u64{1} << 63);
        m.run(vop2("v_cmp_gt_i64", 0, 128, 4));
        CHECK(m.wave().vcc() == kAll);
    }
}

TEST_CASE("v_cmp_class knows ten classes", "[isa][forms]") {
    const u32 of_class[] = {0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000, 0x80000001,
                            0x80000000, 0,          1,          0x3f800000, 0x7f800000};
    Machine m;
    for (u32 c = 0; c < 10; ++c) {
        m.vgpr(1, of_class[c]);
        for (u32 asked = 0; asked < 10; ++asked) {
            m.vgpr(2, 1u << asked);
            m.run(vop2("v_cmp_class_f32", 0, v(1), 2));
            CHECK((m.wave().vcc() == kAll) == (asked == c));
        }
    }
}

TEST_CASE("lanes are read and written by number", "[isa][forms]") {
    Machine m;
    m.number_lanes(1, 500);
    m.exec(0xf0);
    m.run(vop1("v_readfirstlane_b32", 5, v(1)));
    CHECK(m.sgpr(5) == 504);
    m.exec(0);
    m.run(vop1("v_readfirstlane_b32", 5, v(1)));
    CHECK(m.sgpr(5) == 500);
    m.sgpr(6) = 64 + 33;
    m.run(vop3("v_readlane_b32", 5, v(1), 6));
    CHECK(m.sgpr(5) == 533);
    m.sgpr(7) = 77;
    m.run(vop3("v_writelane_b32", 1, 7, 6));
    CHECK(m.lane(1, 33) == 77);
    CHECK(m.lane(1, 34) == 534);
    m.exec(kAll);
    m.run(vop3("v_mbcnt_lo_u32_b32", 2, 193, 128));
    m.run(vop3("v_mbcnt_hi_u32_b32", 2, 193, v(2)));
    CHECK(m.lane(2, 0) == 0);
    CHECK(m.lane(2, 32) == 32);
    CHECK(m.lane(2, 63) == 63);
    m.exec(1);
    m.run(vop1("v_swap_b32", 1, v(2)));
    CHECK(m.lane(2, 0) == 500);
    CHECK(m.lane(2, 1) == 1);
}

TEST_CASE("AccVGPRs are written and read", "[isa][forms]") {
    Machine m;
    m.number_lanes(1, 70);
    m.run(vop3("v_accvgpr_write_b32", 9, v(1)));
    CHECK(m.wave().acc[9 * 64 + 5] == 75);
    m.run(vop3("v_accvgpr_read_b32", 2, v(9)));
    CHECK(m.lane(2, 63) == 133);
    m.run({0x7e000000u | 4u << 17 | 0x52u << 9 | v(9)});
    CHECK(m.wave().acc[4 * 64 + 5] == 75);
}
