// What gfx950 adds but number formats: truth tables, swaps of rows, loads that transpose, matrices of mixed formats.
#include "tests/kfdemu/isa/buffered.hpp"
#include "tests/kfdemu/isa/machine.hpp"
#include "tests/kfdemu/isa/number_formats.hpp"
#include "tests/kfdemu/isa/random.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/encodings/family.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

constexpr Target kNewest = Target::gfx950;

u32 opcode(const char* name) { return opcode_of(row_of(name, kNewest), kNewest); }

/// TTBL is OMOD, ABS and NEG.
std::vector<u32> bitop3(const char* name, u32 table, u32 op_sel = 0) {
    return vop3(name, 0, v(1), v(2), v(3), (table >> 3 & 7) << 8 | op_sel << 11, (table & 7) << 29 | (table >> 6) << 27,
                kNewest);
}

}  // namespace

TEST_CASE("v_bitop3 looks three bits up in a table", "[isa][gfx950]") {
    for (const Level level : levels()) {
        Machine m{kNewest, level};
        m.vgpr(1, 0xf0f0f0f0), m.vgpr(2, 0xcccccccc), m.vgpr(3, 0xaaaaaaaa);
        for (u32 table = 0; table < 256; ++table) {
            m.vgpr(0, 0x12345678);
            REQUIRE(m.run(bitop3("v_bitop3_b32", table)) == Stop::End);
            CHECK(m.lane(0, 9) == table * 0x01010101u);
        }
        m.vgpr(1, 0xf0f00000);  // its upper half, into the upper half
        m.vgpr(0, 0x12345678);
        REQUIRE(m.run(bitop3("v_bitop3_b16", 0x1e, 9)) == Stop::End);
        CHECK(m.lane(0, 9) == 0x1e1e5678);
    }
}

TEST_CASE("v_permlane_swap exchanges rows of two registers", "[isa][gfx950]") {
    for (const unsigned size : {16u, 32u}) {
        Machine m{kNewest};
        m.number_lanes(0, 0), m.number_lanes(1, 100);
        m.exec(~u64{1});
        const std::string name = "v_permlane" + std::to_string(size) + "_swap_b32";
        REQUIRE(m.run(vop1(name, 0, v(1), kNewest)) == Stop::End);
        for (u32 lane = 0; lane < 64; ++lane) {
            const bool second = (lane & size) != 0;
            INFO(name << " lane " << lane);
            CHECK(m.lane(0, lane) == (second ? 100 + lane - size : lane));
            CHECK(m.lane(1, lane) == (second || lane == 0 ? 100 + lane : lane + size));
        }
    }
}

TEST_CASE("swaps of rows have FI and BOUND_CTRL, and no other modifiers", "[isa][gfx950]") {
    const auto swap = [](u32 low, u32 high) {
        return vop3("v_permlane16_swap_b32", 0, v(1), 0, 0, low, high, kNewest);
    };
    for (const u32 modifiers : {1u << 11, 1u << 12, 3u << 11}) {
        Machine m{kNewest};
        m.number_lanes(0, 0), m.number_lanes(1, 100);
        m.exec(kAll);
        REQUIRE(m.run(swap(modifiers, 0)) == Stop::End);
        CHECK(m.lane(0, 20) == 104);
        CHECK(m.lane(1, 4) == 20);
    }
    Machine m{kNewest};
    for (const u32 low : {1u << 8, 1u << 13, 1u << 14, 1u << 15}) CHECK(m.run(swap(low, 0)) == Stop::Illegal);
    for (const u32 high : {1u << 29, 1u << 27}) CHECK(m.run(swap(0, high)) == Stop::Illegal);
}

TEST_CASE("the wide conversions' sources are registers of the wave", "[isa][gfx950]") {
    Machine m{kNewest};
    for (const char* const name : {"v_cvt_scalef32_2xpk16_fp6_f32", "v_cvt_scalef32_2xpk16_bf6_f32"}) {
        for (const u32 other : {0u, 16u, 128u, 242u}) {
            CHECK(m.run(vop3(name, 0, v(64), other, v(40), 0, 0, kNewest)) == Stop::Illegal);
            CHECK(m.run(vop3(name, 0, other, v(64), v(40), 0, 0, kNewest)) == Stop::Illegal);
        }
        CHECK(m.run(vop3(name, 0, v(64), v(80), 16, 0, 0, kNewest)) == Stop::End);
        CHECK(m.run(vop3(name, 0, v(64), v(80), 16, 0, 1u << 29, kNewest)) == Stop::Illegal);
    }
}

TEST_CASE("constants of BF16 are the upper halves of floats, in the lower half", "[isa][gfx950]") {
    constexpr u32 kOne = 242, kMinusFour = 247;
    Machine m{kNewest};
    m.vgpr(1, 0x40003f80), m.vgpr(2, bits(0.0f)), m.vgpr(3, bits(0.0f));  // 1, 2
    REQUIRE(m.run(std::vector<u32>{opcode("v_dot2c_f32_bf16") << 25 | 2u << 17 | 1u << 9 | kOne} +
                  vop3("v_dot2_f32_bf16", 4, v(1), kMinusFour, v(3), 1u << 14, 3u << 27, kNewest) +
                  vop3("v_dot2_f32_bf16", 5, v(1), kMinusFour, v(3), 1u << 14, 1u << 27, kNewest) +
                  vop1("v_cvt_f32_bf16", 6, kMinusFour, kNewest)) == Stop::End);
    CHECK(as_float(m.lane(2, 9)) == 1);
    CHECK(as_float(m.lane(4, 9)) == -4);
    CHECK(as_float(m.lane(5, 9)) == -4 - 8);  // OP_SEL_HI: its lower half twice
    CHECK(as_float(m.lane(6, 9)) == -4);
}

TEST_CASE("constants that are scaled are of their instruction's format", "[isa][gfx950]") {
    constexpr u32 kOne = 242, kTwo = 244;
    Machine m{kNewest};
    m.vgpr(3, bits(1.0f)), m.vgpr(4, 0);
    for (unsigned n = 9; n < 15; ++n) m.vgpr(n, 0);
    REQUIRE(m.run(vop3("v_cvt_scalef32_pk_fp8_f16", 9, kOne, v(3), 0, 0, 0, kNewest) +
                  vop3("v_cvt_scalef32_pk_fp8_bf16", 10, kOne, v(3), 0, 0, 0, kNewest) +
                  vop3("v_cvt_scalef32_sr_fp8_f16", 11, kOne, v(4), v(3), 0, 0, kNewest) +
                  vop3("v_cvt_scalef32_sr_fp8_bf16", 12, kOne, v(4), v(3), 0, 0, kNewest) +
                  vop3("v_cvt_scalef32_pk_fp4_f16", 13, kTwo, v(3), 0, 0, 0, kNewest) +
                  vop3("v_cvt_scalef32_sr_pk_fp4_bf16", 14, kTwo, v(4), v(3), 0, 0, kNewest)) == Stop::End);
    for (unsigned n = 9; n < 13; ++n) CHECK(m.lane(n, 5) == 0x38);
    CHECK(m.lane(13, 5) == 4);
    CHECK(m.lane(14, 5) == 4);
}

TEST_CASE("a half that is scaled has OP_SEL, NEG and ABS; a pair of them has no signs to change", "[isa][gfx950]") {
    constexpr u32 kNegates = 1u << 29, kAbsolute = 1u << 8;
    for (const bool brain : {false, true}) {
        Machine m{kNewest};
        const std::string from = brain ? "bf16" : "f16";
        const u32 one = brain ? 0x3f80 : 0x3c00, two = brain ? 0x4000 : 0x4000;
        m.vgpr(1, two << 16 | one | 0x8000), m.vgpr(3, bits(1.0f)), m.vgpr(4, 0);  // -1, 2
        for (unsigned n = 9; n < 13; ++n) m.vgpr(n, 0);
        const auto convert = [&](u32 d, u32 low, u32 high) {
            return vop3("v_cvt_scalef32_sr_fp8_" + from, d, v(1), v(4), v(3), low, high, kNewest);
        };
        REQUIRE(m.run(convert(9, 0, 0) + convert(10, 1u << 11, 0) + convert(11, 0, kNegates) +
                      convert(12, kAbsolute, 0)) == Stop::End);
        CHECK(m.lane(9, 5) == 0xb8);
        CHECK(m.lane(10, 5) == 0x40);
        CHECK(m.lane(11, 5) == 0x38);
        CHECK(m.lane(12, 5) == 0x38);
        for (const char* const name : {"v_cvt_scalef32_pk_fp8_", "v_cvt_scalef32_pk_fp4_"}) {
            CHECK(m.run(vop3(name + from, 9, v(1), v(3), 0, 0, kNegates, kNewest)) == Stop::Illegal);
            CHECK(m.run(vop3(name + from, 9, v(1), v(3), 0, kAbsolute, 0, kNewest)) == Stop::Illegal);
        }
    }
    Machine m{kNewest};
    CHECK(m.run(vop3("v_dot2c_f32_bf16", 0, v(1), v(2), 0, 0, kNegates, kNewest)) == Stop::Illegal);
    CHECK(m.run(vop3("v_bitop3_b32", 0, v(1), v(2), v(3), 1u << 15, 0, kNewest)) == Stop::Illegal);
}

TEST_CASE("CLAMP of pairs that are made of floats", "[isa][gfx950]") {
    constexpr u32 kClamps = 1u << 15;
    const auto clamped = [](Target target, const char* name, u32 low, u32 high) {
        Machine m{target};
        m.vgpr(1, low), m.vgpr(2, high);
        REQUIRE(m.run(vop3(name, 4, v(1), v(2), 0, kClamps, 0, target)) == Stop::End);
        return m.lane(4, 5);
    };
    for (const Target target : {Target::gfx900, Target::gfx90a, Target::gfx942, kNewest}) {
        INFO(kfdemu::isa::name(target));
        CHECK(clamped(target, "v_cvt_pkrtz_f16_f32", bits(-2.0f), bits(3.0f)) == 0x3c000000);
        CHECK(clamped(target, "v_cvt_pkrtz_f16_f32", bits(0.5f), bits(0.25f)) == 0x34003800);
        CHECK(clamped(target, "v_pack_b32_f16", 0xc000, 0x4200) == 0x3c000000);
    }
    CHECK(clamped(kNewest, "v_cvt_pk_f16_f32", bits(3.0f), bits(-0.5f)) == 0x00003c00);
    CHECK(clamped(kNewest, "v_cvt_pk_bf16_f32", bits(3.0f), bits(0.5f)) == 0x3f003f80);
    for (const Target target : {Target::gfx942, kNewest}) {
        Machine m{target};
        m.vgpr(1, target == kNewest ? 0xc438 : 0xcc40);  // 1, -3
        REQUIRE(m.run(vop3(target == kNewest ? "v_cvt_pk_f32_fp8_ocp" : "v_cvt_pk_f32_fp8", 4, v(1), 0, 0, kClamps, 0,
                           target)) == Stop::End);
        CHECK(as_float(m.lane(4, 5)) == 1);
        CHECK(m.lane(5, 5) == 0);
    }
}

TEST_CASE("v_prng, v_ashr_pk, minimum3 and the dot product of BF16", "[isa][gfx950]") {
    Machine m{kNewest};
    m.vgpr(1, 0x80000001), m.vgpr(2, 5000), m.vgpr(3, 2);
    m.vgpr(4, bits(-0.0f)), m.vgpr(5, bits(0.0f)), m.vgpr(6, bits(1.0f)), m.vgpr(7, 0x7fc00000);
    m.vgpr(8, 0x40003f80), m.vgpr(9, 0x40404041);  // 1, 2; 3.015625, 3
    m.vgpr(10, 0xaaaaaaaa), m.vgpr(11, 0xaaaaaaaa);
    REQUIRE(m.run(vop1("v_prng_b32", 0, v(1), kNewest) + vop3("v_ashr_pk_i8_i32", 10, v(1), v(2), v(3), 0, 0, kNewest) +
                  vop3("v_ashr_pk_u8_i32", 11, v(1), v(2), v(3), 8u << 11, 0, kNewest) +
                  vop3("v_minimum3_f32", 12, v(5), v(4), v(6), 0, 0, kNewest) +
                  vop3("v_maximum3_f32", 13, v(5), v(7), v(6), 0, 0, kNewest) +
                  vop3("v_dot2_f32_bf16", 14, v(8), v(9), v(6), 0x4000, 3u << 27, kNewest)) == Stop::End);
    CHECK(m.lane(0, 3) == (2u ^ 197u));
    CHECK(m.lane(10, 3) == 0xaaaa7f80);
    CHECK(m.lane(11, 3) == 0xff00aaaa);
    CHECK(m.lane(12, 3) == bits(-0.0f));
    CHECK(std::isnan(as_float(m.lane(13, 3))));
    CHECK(as_float(m.lane(14, 3)) == 3.015625f * 1 + 3.0f * 2 + 1);
}

TEST_CASE("loads from LDS that transpose give lane l the column l of 16 lanes' rows", "[isa][gfx950]") {
    const struct {
        const char* name;
        unsigned width, dwords;
    } cases[] = {{"ds_read_b64_tr_b4", 4, 2},
                 {"ds_read_b96_tr_b6", 6, 3},
                 {"ds_read_b64_tr_b8", 8, 2},
                 {"ds_read_b64_tr_b16", 16, 2}};
    for (const Level level : levels()) {
        for (const auto& c : cases) {
            Buffered m{level, kNewest};
            Random random{c.width};
            for (unsigned at = 0; at < 1024; at += 4) m.put_lds(at, random.word());
            for (u32 lane = 0; lane < 64; ++lane) m.machine.lane(0, lane) = lane * 4 * c.dwords;
            m.machine.exec(kAll);
            const std::vector<u32> code{0xd8000000u | opcode(c.name) << 17 | 16, 8u << 24};
            REQUIRE(m.run(code) == Stop::End);
            const unsigned count = 32 * c.dwords / c.width;
            unsigned wrong = 0;
            for (u32 lane = 0; lane < 64; ++lane) {
                for (unsigned row = 0; row < count; ++row) {
                    // Of the group's rows of 16 numbers.
                    const unsigned from = 8 * (16 + lane / 16 * 16 * 4 * c.dwords) + (row * 16 + lane % 16) * c.width;
                    for (unsigned bit = 0; bit < c.width; ++bit) {
                        const unsigned to = row * c.width + bit;
                        wrong += (m.lds((from + bit) / 32 * 4) >> (from + bit) % 32 & 1) !=
                                 (m.machine.lane(8 + to / 32, lane) >> to % 32 & 1);
                    }
                }
            }
            INFO(c.name);
            CHECK(wrong == 0);
            m.machine.exec(1);
            CHECK(m.run(code) == Stop::Illegal);
        }
    }
}

TEST_CASE("loads of 96 and 128 bits to LDS put a lane's dwords beside each other", "[isa][gfx950]") {
    for (const unsigned dwords : {3u, 4u}) {
        for (const bool by_buffer : {false, true}) {
            Buffered m{kfdemu::isa::best_level(), kNewest};
            for (u32 at = 0; at < 1024; at += 4) m.put(at, 0x1000 + at);
            for (u32 lane = 0; lane < 64; ++lane) {
                const u64 va = (by_buffer ? 0 : kBase) + 16 * (3 - lane % 4);
                m.machine.lane(2, lane) = static_cast<u32>(va), m.machine.lane(3, lane) = static_cast<u32>(va >> 32);
            }
            m.machine.exec(0xf);
            m.machine.sgpr(124) = 64;
            const char* const name = dwords == 3 ? "flat_load_lds_dwordx3" : "flat_load_lds_dwordx4";
            const char* const buffer = dwords == 3 ? "buffer_load_dwordx3" : "buffer_load_dwordx4";
            const std::vector<u32> global{0xdc000000u | opcode(name) << 18 | 2u << 14, 2u | 0x7fu << 16};
            const std::vector<u32> raw{0xe0001000u | opcode(buffer) << 18 | 1u << 16, 2u | 2u << 16 | 128u << 24};
            REQUIRE(m.run(by_buffer ? raw : global) == Stop::End);
            for (u32 lane = 0; lane < 4; ++lane)
                for (u32 n = 0; n < dwords; ++n)
                    CHECK(m.lds(64 + 4 * (dwords * lane + n)) == 0x1000 + 16 * (3 - lane) + 4 * n);
            CHECK(m.lds(64 + 16 * dwords) == 0);
            Buffered before{kfdemu::isa::best_level(), Target::gfx942};
            if (by_buffer) CHECK(before.run(raw) == Stop::Illegal);
        }
    }
}

TEST_CASE("before gfx950, no load of 96 or 128 bits goes to LDS", "[isa][gfx950]") {
    for (const Target target : {Target::gfx900, Target::gfx906, Target::gfx908, Target::gfx90a}) {
        for (const char* const name : {"flat_load_dword", "flat_load_dwordx3", "flat_load_dwordx4"}) {
            Buffered m{kfdemu::isa::best_level(), target};
            for (u32 lane = 0; lane < 64; ++lane)
                m.machine.lane(2, lane) = static_cast<u32>(kBase), m.machine.lane(3, lane) = u32{kBase >> 32};
            const u32 to_lds = 1u << 13;
            const std::vector<u32> code{0xdc000000u | opcode_of(row_of(name, target), target) << 18 | 2u << 14 | to_lds,
                                        2u | 0x7fu << 16};
            INFO(name << " on " << kfdemu::isa::name(target));
            CHECK(m.run(code) == (std::string{name} == "flat_load_dword" ? Stop::End : Stop::Illegal));
        }
    }
}

namespace {

const NumberFormat* const kFormats[] = {&kOcpFp8, &kOcpBf8, &kFp6, &kBf6, &kFp4};
constexpr unsigned kTileA = 16, kTileB = 24, kScaleA = 4, kScaleB = 5, kTileD = 32;
constexpr u32 kScaled = 1u << 11;  // ABID

/// Numbers that every format has.
constexpr int kNumbers[] = {-4, -3, -2, -1, 0, 1, 2, 3, 4};
u32 code_of(const NumberFormat& f, int number) { return f.nearest(number, false); }

struct Formats {
    unsigned rows, depth, a, b;
    bool scaled;

    bool bytes() const { return a < 2 && b < 2; }
    unsigned lane(unsigned row, unsigned k) const { return (bytes() ? k % (depth / 2) / 16 : k / 32) * rows + row; }
    unsigned number(unsigned k) const { return bytes() ? k / (depth / 2) * 16 + k % 16 : k % 32; }
};

void check_formats(const Formats& f, Level level) {
    INFO(f.rows << " rows of " << kFormats[f.a]->name << " and " << kFormats[f.b]->name << " scaled " << f.scaled);
    Machine m{kNewest, level};
    Random random{f.rows + 10u * f.a + 100u * f.b};
    std::vector<int> a(f.rows * f.depth), b(f.rows * f.depth);
    for (unsigned i = 0; i < f.rows; ++i) {
        for (unsigned k = 0; k < f.depth; ++k) {
            a[i * f.depth + k] = kNumbers[random.below(9)], b[i * f.depth + k] = kNumbers[random.below(9)];
            m.put_packed(kTileA, f.lane(i, k), f.number(k), kFormats[f.a]->width(),
                         code_of(*kFormats[f.a], a[i * f.depth + k]));
            m.put_packed(kTileB, f.lane(i, k), f.number(k), kFormats[f.b]->width(),
                         code_of(*kFormats[f.b], b[i * f.depth + k]));
        }
    }
    // Byte 2 of A's scales and byte 1 of B's.
    for (unsigned lane = 0; lane < 64; ++lane) {
        m.lane(kScaleA, lane) = (random.word() & 0xff00ffff) | (125 + random.below(5)) << 16;
        m.lane(kScaleB, lane) = (random.word() & 0xffff00ff) | (125 + random.below(5)) << 8;
    }
    m.exec(0x5555);
    const char* const name = f.rows == 16 ? "v_mfma_f32_16x16x128_f8f6f4" : "v_mfma_f32_32x32x64_f8f6f4";
    std::vector<u32> code;
    if (f.scaled) code = vop3("v_mfma_ld_scale_b32", 0, v(kScaleA), v(kScaleB), 0, 2u << 11, 1u << 27, kNewest);
    REQUIRE(m.run(code + vop3(name, kTileD, v(kTileA), v(kTileB), 244, f.a << 8 | (f.scaled ? kScaled : 0), f.b << 29,
                              kNewest)) == Stop::End);
    unsigned wrong = 0;
    for (unsigned i = 0; i < f.rows; ++i) {
        for (unsigned j = 0; j < f.rows; ++j) {
            double expected = 2;
            for (unsigned k = 0; k < f.depth; ++k) {
                const unsigned group = k / 32 * f.rows;
                const u32 scale_a = m.lane(kScaleA, group + i) >> 16 & 0xff,
                          scale_b = m.lane(kScaleB, group + j) >> 8 & 0xff;
                const int scale = f.scaled ? static_cast<int>(scale_a + scale_b) - 254 : 0;
                expected += std::ldexp(a[i * f.depth + k] * b[j * f.depth + k], scale);
            }
            const unsigned at = f.rows == 32 ? 4 * (i / 8) + i % 4 : i % 4;
            const unsigned lane = f.rows == 32 ? 32 * (i / 4 % 2) + j : 16 * (i / 4) + j;
            wrong += static_cast<double>(as_float(m.lane(kTileD + at, lane))) != expected;
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("matrices of every two formats, with scales and without", "[isa][gfx950]") {
    for (const Level level : levels())
        for (const unsigned rows : {16u, 32u})
            for (unsigned a = 0; a < 5; ++a)
                for (unsigned b = 0; b < 5; ++b)
                    for (const bool scaled : {false, true}) check_formats({rows, 2048 / rows, a, b, scaled}, level);
}

TEST_CASE("scales are for the next product alone, and one that is NaN makes NaN", "[isa][gfx950]") {
    Machine m{kNewest};
    for (unsigned n = 0; n < 8; ++n) m.vgpr(kTileA + n, 0x38383838);  // 1
    m.vgpr(kScaleA, 128), m.vgpr(kScaleB, 127);
    m.lane(kScaleA, 3) = 255;
    const char* const name = "v_mfma_f32_16x16x128_f8f6f4";
    const std::vector<u32> product = vop3(name, kTileD, v(kTileA), v(kTileA), 128, 0, 0, kNewest),
                           scaled = vop3(name, kTileD, v(kTileA), v(kTileA), 128, kScaled, 0, kNewest),
                           scales = vop3("v_mfma_ld_scale_b32", 0, v(kScaleA), v(kScaleB), 0, 0, 0, kNewest);
    REQUIRE(m.run(scales + scaled) == Stop::End);
    CHECK(as_float(m.lane(kTileD, 5)) == 256);
    CHECK(std::isnan(as_float(m.lane(kTileD + 3, 5))));
    REQUIRE(m.run(product) == Stop::End);
    CHECK(as_float(m.lane(kTileD + 3, 5)) == 128);
    CHECK(m.run(scaled) == Stop::Illegal);
    // ABID says whether the product takes them.
    REQUIRE(m.run(scales + product) == Stop::End);
    CHECK(as_float(m.lane(kTileD, 5)) == 128);
    CHECK(m.run(scaled) == Stop::Illegal);
}

TEST_CASE("fields that the instruction that loads scales does not have are zero", "[isa][gfx950]") {
    Machine m{kNewest};
    const auto load = [](u32 d, u32 low) {
        return vop3("v_mfma_ld_scale_b32", d, v(kScaleA), v(kScaleB), 0, low, 0, kNewest);
    };
    CHECK(m.run(load(0, 0)) == Stop::End);
    CHECK(m.run(load(0, 1u << 14)) == Stop::End);  // OP_SEL_HI of a third operand, which LLVM sets or clears
    CHECK(m.run(load(3, 0)) == Stop::Illegal);
    CHECK(m.run(load(0, 1u << 15)) == Stop::Illegal);
    CHECK(m.run(load(0, 1u << 13)) == Stop::Illegal);
}
