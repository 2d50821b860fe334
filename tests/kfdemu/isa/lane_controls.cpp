// The second word of VOP1 and VOP2: parts of words (SDWA) and other lanes (DPP).
#include <random>

#include "tests/kfdemu/isa/machine.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

/// VOP1/VOP2 word followed by SDWA or DPP.
std::vector<u32> with_control(std::vector<u32> word, u32 encoding, u32 control) {
    word[0] = (word[0] & ~0x1ffu) | encoding;
    word.push_back(control);
    return word;
}
std::vector<u32> sdwa(std::vector<u32> word, u32 control) { return with_control(std::move(word), 249, control); }
std::vector<u32> dpp(std::vector<u32> word, u32 control) { return with_control(std::move(word), 250, control); }

constexpr u32 kDword = 6, kWord0 = 4, kWord1 = 5, kByte1 = 1;
constexpr u32 sdwa_control(u32 src0, u32 dst_sel, u32 unused, u32 sel0, u32 sel1) {
    return src0 | dst_sel << 8 | unused << 11 | sel0 << 16 | sel1 << 24;
}
constexpr u32 dpp_control(u32 src0, u32 control, bool bound = false, u32 rows = 15, u32 banks = 15) {
    return src0 | control << 8 | u32{bound} << 19 | banks << 24 | rows << 28;
}

}  // namespace

TEST_CASE("SDWA picks parts of sources and places the result", "[isa][forms]") {
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        m.vgpr(1, 0x1234'80ff);
        m.vgpr(2, 0x0003'0001);
        m.vgpr(0, 0xaaaa'bbbb);
        m.run(sdwa(vop2("v_add_u32", 0, 0, 2), sdwa_control(1, kDword, 0, kByte1, kWord1)));
        CHECK(m.lane(0, 3) == 0x80 + 3);
        m.run(sdwa(vop2("v_add_u32", 0, 0, 2), sdwa_control(1, kDword, 0, kWord0 | 8, kWord0)));  // sext(v1.w0)
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
        m.run(sdwa(vop2("v_cmp_eq_u32", 0, 0, 2), 1u | (kWord1 << 16) | (kDword << 24) | 1u << 15 | 20u << 8));
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

TEST_CASE("DPP moves lanes", "[isa][forms]") {
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
            m.number_lanes(1, 1000);
            m.vgpr(0, 7);
            REQUIRE(m.run(dpp(vop1("v_mov_b32", 0, 0), dpp_control(1, move.control, move.bound))) == Stop::End);
            CHECK(m.lane(0, move.lane) == (move.from == kOld ? 7 : move.from == kZero ? 0 : 1000 + move.from));
        }
    }
}

TEST_CASE("DPP's row and bank masks keep lanes, and a disabled source does not exist", "[isa][forms]") {
    Machine m;
    m.number_lanes(1, 1000);
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

TEST_CASE("every DPP control, mask and EXEC gives each lane what the manual says", "[isa][forms]") {
    /// The lane that `lane` reads, or 64.
    const auto source = [](u32 control, u32 lane) -> u32 {
        const u32 first = lane / 16 * 16, n = control & 15;
        const auto in_row = [&](u32 column) { return column < 16 ? first + column : 64; };
        if (control < 0x100) return lane / 4 * 4 + (control >> lane % 4 * 2) % 4;
        if (control < 0x110) return in_row(lane % 16 + n);
        if (control < 0x120) return in_row(lane % 16 - n);
        if (control < 0x130) return first + (lane - n) % 16;
        if (control >= 0x150) return first + n;
        switch (control) {
            case 0x130:
                return lane + 1;
            case 0x134:
                return (lane + 1) % 64;
            case 0x138:
                return lane == 0 ? 64 : lane - 1;
            case 0x13c:
                return (lane - 1) % 64;
            case 0x140:
                return first + (15 - lane % 16);
            case 0x141:
                return lane / 8 * 8 + (7 - lane % 8);
            case 0x142:
                return lane < 16 ? 64 : first - 1;
            default:
                return lane < 32 ? 64 : 31;
        }
    };
    std::vector<u32> controls;
    for (u32 n = 0; n < 0x100; ++n) controls.push_back(n);
    for (u32 n = 1; n < 16; ++n)
        for (const u32 kind : {0x100, 0x110, 0x120}) controls.push_back(kind + n);
    for (const u32 n : {0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143}) controls.push_back(n);
    for (u32 n = 0; n < 16; ++n) controls.push_back(0x150 + n);

    std::mt19937_64 random{5};
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        for (u32 l = 0; l < 64; ++l) m.lane(1, l) = 1000 + l;
        for (const u32 control : controls) {
            for (const std::uint64_t exec : {kAll, u64{random()}, u64{random() | 0xffff'0000'ffff}}) {
                const bool bound = random() % 2 != 0;
                const u32 rows = random() % 2 != 0 ? 15 : random() % 16, banks = random() % 2 != 0 ? 15 : random() % 16;
                m.vgpr(0, 7);
                m.exec(exec);
                m.run(dpp(vop1("v_mov_b32", 0, 0), dpp_control(1, control, bound, rows, banks)));
                for (u32 l = 0; l < 64; ++l) {
                    const u32 from = source(control, l);
                    const bool exists = from < 64 && (exec >> from & 1) != 0;
                    const bool chosen = (rows >> l / 16 & 1) != 0 && (banks >> l % 16 / 4 & 1) != 0;
                    const bool written = (exec >> l & 1) != 0 && chosen && (exists || bound);
                    const u32 wanted = !written ? 7 : exists ? 1000 + from : 0;
                    INFO("control " << std::hex << control << std::dec << " lane " << l);
                    REQUIRE(m.lane(0, l) == wanted);
                }
            }
        }
    }
}

TEST_CASE("SDWA modifies the selected part, and places the result", "[isa][modifiers]") {
    // "Vega" ISA manual, 13.3.7 SDWA: SEL and SEXT, then ABS and NEG; OMOD, CLMP, then DST_SEL and DST_UNUSED.
    constexpr u32 kByte0 = 0, kByte2 = 2, kByte3 = 3, kSext0 = 8, kNeg0 = 16, kAbs0 = 32;
    constexpr u32 kPad = 0, kSignExtend = 1, kPreserve = 2, kClamped = 1u << 13, kDoubled = 1u << 14;
    const struct {
        const char* name;
        u32 control, a, b, expected;
        u32 mode = 0x2f0;
    } rows[] = {
        {"v_add_f16", sdwa_control(1, kWord1, kPreserve, kWord1 | kNeg0, kWord0), 0x42000000, 0x3c00, 0xc000bbbb},
        {"v_add_f16", sdwa_control(1, kWord0, kPad, kWord1 | kNeg0 | kAbs0, kWord0), 0xc2000000, 0x3c00, 0x0000c000},
        {"v_add_f16", sdwa_control(1, kDword, kPad, kWord0, kWord1 | kAbs0), 0x3c00, 0xc2000000, 0x00004400},
        {"v_add_f32", sdwa_control(1, kDword, kPad, kDword, kDword) | kClamped, bits(2.0f), bits(1.0f), bits(1.0f)},
        {"v_add_f32", sdwa_control(1, kDword, kPad, kDword, kDword) | kDoubled, bits(2.0f), bits(1.0f), bits(6.0f), 0},
        {"v_add_f32", sdwa_control(1, kDword, kPad, kDword, kDword) | kDoubled, bits(2.0f), bits(1.0f), bits(3.0f)},
        {"v_add_f32", sdwa_control(1, kWord1, kPad, kDword, kDword), bits(2.0f), bits(1.0f), 0},  // the low half of 3
        {"v_add_u32", sdwa_control(1, kDword, kPad, kDword, kDword) | kClamped, 0xffffffff, 2, 0xffffffff},
        {"v_add_u16", sdwa_control(1, kWord1, kPad, kWord1, kWord0) | kClamped, 0xffff0000, 1, 0xffff0000},
        {"v_max_i16", sdwa_control(1, kDword, kPad, kByte3 | kSext0, kByte3), 0x80000000, 0xff000000, 0x000000ff},
        {"v_max_i32", sdwa_control(1, kDword, kPad, kByte3 | kSext0, kByte3 | kSext0), 0x80000000, 0xff000000,
         0xffffffff},
        {"v_lshlrev_b32", sdwa_control(1, kByte2, kSignExtend, kByte1, kByte0), 0x00002700, 1, 0xff800000},
        {"v_lshlrev_b32", sdwa_control(1, kByte2, kSignExtend, kByte1, kByte0), 0x00002600, 1, 0x00400000},
        {"v_lshlrev_b32", sdwa_control(1, kByte2, kPad, kByte1, kByte0), 0x00002700, 1, 0x00800000},
        {"v_lshlrev_b32", sdwa_control(1, kByte2, kPreserve, kByte1, kByte0), 0x00002700, 1, 0xaa80bbbb},
        {"v_cvt_f32_i32", sdwa_control(1, kDword, kPad, kByte3 | kSext0, 0), 0x80000000, 0, bits(-128.0f)},
        {"v_cvt_f32_u32", sdwa_control(1, kDword, kPad, kByte3, 0), 0x80000000, 0, bits(128.0f)},
        {"v_cvt_f32_f16", sdwa_control(1, kDword, kPad, kWord1 | kNeg0, 0), 0x40001234, 0, bits(-2.0f)},
        {"v_mov_b32", sdwa_control(1, kWord0, kSignExtend, kByte0 | kSext0, 0), 0x80, 0, 0xffffff80},
    };
    for (const Level level : levels()) {
        for (const auto& row : rows) {
            INFO(row.name << " on " << name(level) << std::hex << " control " << row.control);
            Machine m{Target::gfx90a, level};
            set_mode(m.wave(), row.mode);
            m.vgpr(1, row.a);
            m.vgpr(2, row.b);
            m.vgpr(0, 0xaaaabbbb);
            const bool one_source = row_of(row.name).format == Format::Vop1;
            REQUIRE(m.run(sdwa(one_source ? vop1(row.name, 0, 0) : vop2(row.name, 0, 0, 2), row.control)) == Stop::End);
            CHECK(m.lane(0, 21) == row.expected);
        }
    }
}

TEST_CASE("DPP modifies the other lane's value", "[isa][modifiers]") {
    // "Vega" ISA manual, 13.3.8 DPP: NEG and ABS of both sources; BOUND_CTRL's zero is negated as any other value.
    constexpr u32 kNeg0 = 1u << 20, kAbs0 = 1u << 21, kNeg1 = 1u << 22, kAbs1 = 1u << 23, kShiftRight = 0x111;
    const struct {
        const char* name;
        u32 control, lane;
        float b, expected;
    } rows[] = {
        {"v_add_f32", dpp_control(1, kShiftRight), 5, 10.0f, 6.0f},
        {"v_add_f32", dpp_control(1, kShiftRight) | kNeg0, 5, 10.0f, 14.0f},
        {"v_add_f32", dpp_control(1, kShiftRight) | kAbs0, 5, 10.0f, 14.0f},
        {"v_add_f32", dpp_control(1, kShiftRight) | kAbs0 | kNeg0, 5, 10.0f, 6.0f},
        {"v_add_f32", dpp_control(1, kShiftRight) | kAbs1, 5, -10.0f, 6.0f},
        {"v_add_f32", dpp_control(1, kShiftRight) | kAbs1 | kNeg1, 5, 10.0f, -14.0f},
        {"v_add_f32", dpp_control(1, kShiftRight) | kNeg0, 16, 10.0f, 99.0f},  // no such lane: the old value
        {"v_mul_f32", dpp_control(1, kShiftRight, true) | kNeg0, 16, 1.0f, -0.0f},
        {"v_rndne_f32", dpp_control(1, kShiftRight) | kNeg0, 5, 0, 4.0f},
        {"v_sub_f32", dpp_control(1, 0x1b) | kNeg1, 4, 1.0f, -6.0f},
    };
    for (const Level level : levels()) {
        for (const auto& row : rows) {
            INFO(row.name << " on " << name(level) << std::hex << " control " << row.control);
            Machine m{Target::gfx90a, level};
            for (u32 lane = 0; lane < 64; ++lane) m.lane(1, lane) = bits(-static_cast<float>(lane));
            m.vgpr(2, bits(row.b));
            m.vgpr(0, bits(99.0f));
            const bool one_source = row_of(row.name).format == Format::Vop1;
            REQUIRE(m.run(dpp(one_source ? vop1(row.name, 0, 0) : vop2(row.name, 0, 0, 2), row.control)) == Stop::End);
            CHECK(m.lane(0, row.lane) == bits(row.expected));
        }
    }
}
