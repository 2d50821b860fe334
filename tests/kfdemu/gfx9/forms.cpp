// What the encodings add to a meaning: modifiers, SDWA, DPP, carries, masks, MODE, packed halves.
#include "machine.hpp"
#include "support/catch.hpp"

using namespace test_gfx9;
using namespace kfdemu::gfx9;

namespace {

/// VOP1/VOP2 word with SDWA or DPP behind it.
std::vector<u32> with_control(std::vector<u32> word, u32 encoding, u32 control) {
    word[0] = (word[0] & ~0x1ffu) | encoding;
    word.push_back(control);
    return word;
}
std::vector<u32> sdwa(std::vector<u32> word, u32 control) {
    return with_control(std::move(word), 249, control);
}
std::vector<u32> dpp(std::vector<u32> word, u32 control) {
    return with_control(std::move(word), 250, control);
}

void number_lanes(Machine& m, unsigned n, u32 base = 0) {
    for (u32 lane = 0; lane < 64; ++lane) m.lane(n, lane) = base + lane;
}

constexpr u32 kDword = 6, kWord0 = 4, kWord1 = 5, kByte1 = 1;
constexpr u32 sdwa_control(u32 src0, u32 dst_sel, u32 unused, u32 sel0, u32 sel1) {
    return src0 | dst_sel << 8 | unused << 11 | sel0 << 16 | sel1 << 24;
}
constexpr u32 dpp_control(u32 src0, u32 control, bool bound = false, u32 rows = 15, u32 banks = 15) {
    return src0 | control << 8 | u32{bound} << 19 | banks << 24 | rows << 28;
}

}  // namespace

TEST_CASE("neg and abs apply before, omod and clamp after", "[gfx9][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
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

TEST_CASE("constants and scalars reach every lane", "[gfx9][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        m.sgpr(7) = bits(5.0f);
        number_lanes(m, 1);
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

TEST_CASE("SDWA picks parts of sources and places the result", "[gfx9][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        m.vgpr(1, 0x1234'80ff);
        m.vgpr(2, 0x0003'0001);
        m.vgpr(0, 0xaaaa'bbbb);
        m.run(sdwa(vop2("v_add_u32", 0, 0, 2), sdwa_control(1, kDword, 0, kByte1, kWord1)));
        CHECK(m.lane(0, 3) == 0x80 + 3);
        m.run(
            sdwa(vop2("v_add_u32", 0, 0, 2), sdwa_control(1, kDword, 0, kWord0 | 8, kWord0)));  // sext(v1.w0)
        CHECK(m.lane(0, 3) == 0xffff8100);
        m.vgpr(0, 0xaaaa'bbbb);
        m.run(sdwa(vop2("v_add_u32", 0, 0, 2), sdwa_control(1, kByte1, 2, kWord0, kWord0)));  // preserve
        CHECK(m.lane(0, 3) == 0xaaaa00bb);
        m.run(sdwa(vop2("v_add_u32", 0, 0, 2), sdwa_control(1, kWord0, 1, kWord0, kWord0)));  // sign-extend
        CHECK(m.lane(0, 3) == 0xffff8100);
        m.run(sdwa(vop2("v_add_u32", 0, 0, 2), sdwa_control(1, kWord1, 0, kWord0, kWord0)));
        CHECK(m.lane(0, 3) == 0x81000000);
        m.exec(0x8);
        m.vgpr(0, 7);
        m.run(sdwa(vop2("v_add_u32", 0, 0, 2), sdwa_control(1, kDword, 0, kDword, kDword)));
        CHECK(m.lane(0, 3) == 0x12378100);
        CHECK(m.lane(0, 4) == 7);
        m.exec(kAll);
        m.run(
            sdwa(vop2("v_cmp_eq_u32", 0, 0, 2), 1u | (kWord1 << 16) | (kDword << 24) | 1u << 15 | 20u << 8));
        CHECK(m.wave().s64(20) == 0);
        m.sgpr(9) = 0x00030001;
        m.run(sdwa(vop2("v_cmp_eq_u32", 0, 0, 2), 9u | 1u << 23 | (kDword << 16) | (kDword << 24)));
        CHECK(m.wave().vcc() == kAll);
        std::vector<u32> scalar_second = vop2("v_mul_u32_u24", 0, 0, 0);  // the second source's field names s9
        scalar_second[0] |= 9u << 9;
        m.run(sdwa(scalar_second, sdwa_control(2, kDword, 0, kWord1, kWord0) | 1u << 31));
        CHECK(m.lane(0, 3) == 3);
        m.run(sdwa(scalar_second, sdwa_control(2, kDword, 0, kWord1, kWord1) | 1u << 31));
        CHECK(m.lane(0, 3) == 9);
    }
}

TEST_CASE("DPP moves lanes", "[gfx9][forms]") {
    struct Move {
        u32 control;
        bool bound;
        u32 lane, from;  ///< from 99: keeps the old value; 98: zero
    };
    constexpr u32 kOld = 99, kZero = 98;
    const Move moves[] = {
        {0x1b, false, 5, 6},      {0x1b, false, 4, 7},      {0x101, false, 3, 4},   {0x101, false, 15, kOld},
        {0x101, true, 15, kZero}, {0x111, false, 16, kOld}, {0x111, false, 17, 16}, {0x121, false, 16, 31},
        {0x130, false, 20, 21},   {0x130, false, 63, kOld}, {0x134, false, 63, 0},  {0x138, false, 1, 0},
        {0x138, true, 0, kZero},  {0x13c, false, 0, 63},    {0x140, false, 17, 30}, {0x141, false, 9, 14},
        {0x142, false, 20, 15},   {0x142, false, 3, kOld},  {0x143, false, 40, 31}, {0x143, false, 31, kOld},
        {0x155, false, 40, 37},
    };
    for (const Level level : levels()) {
        for (const Move& move : moves) {
            INFO(name(level) << " control " << std::hex << move.control << " lane " << std::dec << move.lane);
            Machine m{Target::gfx90a, level};
            number_lanes(m, 1, 1000);
            m.vgpr(0, 7);
            REQUIRE(m.run(dpp(vop1("v_mov_b32", 0, 0), dpp_control(1, move.control, move.bound))) ==
                    Stop::End);
            CHECK(m.lane(0, move.lane) == (move.from == kOld    ? 7
                                           : move.from == kZero ? 0
                                                                : 1000 + move.from));
        }
    }
}

TEST_CASE("DPP's row and bank masks keep lanes, and a disabled source does not exist", "[gfx9][forms]") {
    Machine m;
    number_lanes(m, 1, 1000);
    m.vgpr(0, 7);
    m.run(dpp(vop1("v_mov_b32", 0, 0), dpp_control(1, 0xe4, false, 0x2, 0x5)));
    for (u32 lane = 0; lane < 64; ++lane) {
        const bool written = lane / 16 == 1 && (lane / 4 % 4 == 0 || lane / 4 % 4 == 2);
        CHECK(m.lane(0, lane) == (written ? 1000 + lane : 7));
    }
    m.vgpr(0, 7);
    m.exec(~u64{1} & kAll);
    m.run(dpp(vop1("v_mov_b32", 0, 0), dpp_control(1, 0x111)));
    CHECK(m.lane(0, 1) == 7);  // its source, lane 0, is disabled
    CHECK(m.lane(0, 2) == 1001);
    m.run(dpp(vop2("v_add_u32", 0, 0, 1), dpp_control(1, 0x111, true)));
    CHECK(m.lane(0, 1) == 1001);
}

TEST_CASE("carries go to VCC or a pair of SGPRs, and come from them", "[gfx9][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        number_lanes(m, 1, 0xffffffe0);
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

TEST_CASE("comparisons make masks, inactive lanes are 0, and v_cmpx changes EXEC", "[gfx9][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        number_lanes(m, 1);
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

TEST_CASE("v_cmp_class knows ten classes", "[gfx9][forms]") {
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

TEST_CASE("lanes are read and written by number", "[gfx9][forms]") {
    Machine m;
    number_lanes(m, 1, 500);
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

TEST_CASE("MODE rounds and flushes by size", "[gfx9][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        m.vgpr(1, bits(1.0f));
        m.vgpr(2, bits(0x1p-30f));
        const auto sum = [&](u32 mode) {
            set_mode(m.wave(), mode);
            m.run(vop2("v_add_f32", 0, v(1), 2));
            return m.lane(0, 7);
        };
        CHECK(sum(0xf0) == 0x3f800000);
        CHECK(sum(0xf1) == 0x3f800001);
        CHECK(sum(0xf2) == 0x3f800000);
        CHECK(sum(0xf5) == 0x3f800001);
        m.vgpr64(4, bits(1.0));
        m.vgpr64(6, bits(0x1p-80));
        set_mode(m.wave(), 0xf4);  // 64-bit up, 32-bit nearest
        m.run(vop3("v_add_f64", 8, v(4), v(6)));
        CHECK(m.lane64(8, 0) == 0x3ff0000000000001);
        m.run(vop2("v_add_f32", 0, v(1), 2));
        CHECK(m.lane(0, 7) == 0x3f800000);
        m.vgpr(1, 1);
        m.vgpr(2, bits(1.0f));
        set_mode(m.wave(), 0xc0);  // 32-bit denormals flushed
        m.run(vop2("v_mul_f32", 0, v(1), 2));
        CHECK(m.lane(0, 7) == 0);
        m.run(vop2("v_max_f32", 0, v(1), 1));
        CHECK(m.lane(0, 7) == 0);
        m.vgpr(3, 0x0001);
        m.run(vop2("v_add_f16", 0, v(3), 3));
        CHECK(m.lane(0, 7) == 2);
        set_mode(m.wave(), 0x30);  // 16- and 64-bit ones
        m.run(vop2("v_add_f16", 0, v(3), 3));
        CHECK(m.lane(0, 7) == 0);
        m.run(vop2("v_mul_f32", 0, v(1), 2));
        CHECK(m.lane(0, 7) == 1);
    }
}

TEST_CASE("op_sel chooses halves and keeps the other half", "[gfx9][forms]") {
    Machine m;
    m.vgpr(1, 0x00050003);
    m.vgpr(2, 0x00070002);
    m.vgpr(0, 0xaaaabbbb);
    m.run(vop3("v_mad_u16", 0, v(1), v(2), 129));
    CHECK(m.lane(0, 4) == 0xaaaa0007);
    m.run(vop3("v_mad_u16", 0, v(1), v(2), 129, 0xbu << 11));  // both high, into the high half
    CHECK(m.lane(0, 4) == 0x00240007);
    m.run(vop3("v_mad_u32_u16", 0, v(1), v(2), 129, 1u << 11));
    CHECK(m.lane(0, 4) == 11);
}

TEST_CASE("packed instructions work on both halves", "[gfx9][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        m.vgpr(1, 0x3c004000);  // 1, 2
        m.vgpr(2, 0xc0003800);  // -2, 0.5
        m.run(vop3("v_pk_add_f16", 0, v(1), v(2), 0, 0, 3u << 27));
        CHECK(m.lane(0, 4) == 0xbc004100);
        m.run(vop3("v_pk_add_f16", 0, v(1), v(2), 0, 0, 3u << 27 | 2u << 29));  // neg_lo of source 1
        CHECK(m.lane(0, 4) == 0xbc003e00);
        m.run(vop3("v_pk_mul_f16", 0, v(1), v(2), 0, 1u << 11, 2u << 27));  // v1's halves swapped
        CHECK(m.lane(0, 4) == 0xc4003800);
        m.vgpr(3, 0x7fff'0001);
        m.run(vop3("v_pk_add_i16", 0, v(3), v(3), 0, 1u << 15, 3u << 27));
        CHECK(m.lane(0, 4) == 0x7fff0002);
        m.run(vop3("v_pk_lshlrev_b16", 0, 130, v(3), 0, 0, 2u << 27));
        CHECK(m.lane(0, 4) == 0xfffc0004);
        m.vgpr64(4, u64{bits(3.0f)} << 32 | bits(2.0f));
        m.vgpr64(6, u64{bits(5.0f)} << 32 | bits(4.0f));
        m.run(vop3("v_pk_fma_f32", 8, v(4), v(6), v(4), 0x4000, 3u << 27));
        CHECK(as_float(m.lane(8, 1)) == 10.0f);
        CHECK(as_float(m.lane(9, 1)) == 18.0f);
        m.run(vop3("v_pk_mul_f32", 8, v(4), v(6), 0, 2u << 11, 1u << 27));  // source 1 crossed
        CHECK(as_float(m.lane(8, 1)) == 10.0f);
        CHECK(as_float(m.lane(9, 1)) == 12.0f);
        m.run(vop3("v_pk_mov_b32", 8, v(4), v(6), 0, 1u << 11));
        CHECK(as_float(m.lane(8, 1)) == 3.0f);
        CHECK(as_float(m.lane(9, 1)) == 4.0f);
    }
}

TEST_CASE("mixed precision reads halves where op_sel_hi says so", "[gfx9][forms]") {
    Machine m;
    m.vgpr(1, 0x40003c00);  // 2, 1
    m.vgpr(2, bits(3.0f));
    m.vgpr(3, 0xaaaabbbb);
    m.run(vop3("v_fma_mix_f32", 0, v(1), v(2), v(2), 1u << 11, 1u << 27));
    CHECK(as_float(m.lane(0, 1)) == 9.0f);
    m.run(vop3("v_fma_mixhi_f16", 3, v(1), v(2), v(2), 0, 1u << 27));
    CHECK(m.lane(3, 1) == 0x4600bbbb);
}

TEST_CASE("AccVGPRs are written and read", "[gfx9][forms]") {
    Machine m;
    number_lanes(m, 1, 70);
    m.run(vop3("v_accvgpr_write_b32", 9, v(1)));
    CHECK(m.wave().acc[9 * 64 + 5] == 75);
    m.run(vop3("v_accvgpr_read_b32", 2, v(9)));
    CHECK(m.lane(2, 63) == 133);
    m.run({0x7e000000u | 4u << 17 | 0x52u << 9 | v(9)});
    CHECK(m.wave().acc[4 * 64 + 5] == 75);
}

TEST_CASE("division by div_scale, rcp, fmas and fixup is division", "[gfx9][forms]") {
    const float numbers[] = {
        1.0f,     3.0f,           -7.0f,    0x1p-149f, 0x1.8p-130f, 0x1.fffffep127f, 0x1.23456p-126f,
        0x1p127f, 0x1.abcdep100f, -0x1p-20f};
    for (const Level level : levels()) {
        for (const float n : numbers) {
            for (const float d : numbers) {
                INFO(name(level) << " " << n << " / " << d);
                Machine m{Target::gfx90a, level};
                m.vgpr(1, bits(n));
                m.vgpr(2, bits(d));
                // The sequence that compilers make of a correctly rounded division.
                const u32 neg0 = 1u << 29;
                std::vector<u32> code;
                const auto add = [&](const std::vector<u32>& words) {
                    code.insert(code.end(), words.begin(), words.end());
                };
                add(vop3("v_div_scale_f32", 3, v(2), v(2), v(1), 20u << 8));
                add(vop3("v_div_scale_f32", 4, v(1), v(2), v(1), 106u << 8));
                add(vop1("v_rcp_f32", 5, v(3)));
                add(vop3("v_fma_f32", 6, v(3), v(5), 242, 0, neg0));
                add(vop3("v_fma_f32", 5, v(6), v(5), v(5)));
                add(vop3("v_mul_f32", 7, v(4), v(5)));
                add(vop3("v_fma_f32", 8, v(3), v(7), v(4), 0, neg0));
                add(vop3("v_fma_f32", 7, v(8), v(5), v(7)));
                add(vop3("v_fma_f32", 8, v(3), v(7), v(4), 0, neg0));
                add(vop3("v_div_fmas_f32", 9, v(8), v(5), v(7)));
                add(vop3("v_div_fixup_f32", 10, v(9), v(2), v(1)));
                REQUIRE(m.run(code) == Stop::End);
                CHECK(m.lane(10, 8) == bits(n / d));
            }
        }
    }
}
