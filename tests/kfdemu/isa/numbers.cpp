// Numbers and how they are made: MODE, halves and packed halves, mixed precision, division.
#include "tests/kfdemu/isa/machine.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

TEST_CASE("MODE rounds and flushes by size", "[isa][forms]") {
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

TEST_CASE("op_sel chooses halves and keeps the other half", "[isa][forms]") {
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

TEST_CASE("packed instructions work on both halves", "[isa][forms]") {
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

TEST_CASE("mixed precision reads halves according to op_sel_hi", "[isa][forms]") {
    Machine m;
    m.vgpr(1, 0x40003c00);  // 2, 1
    m.vgpr(2, bits(3.0f));
    m.vgpr(3, 0xaaaabbbb);
    m.run(vop3("v_fma_mix_f32", 0, v(1), v(2), v(2), 1u << 11, 1u << 27));
    CHECK(as_float(m.lane(0, 1)) == 9.0f);
    m.run(vop3("v_fma_mixhi_f16", 3, v(1), v(2), v(2), 0, 1u << 27));
    CHECK(m.lane(3, 1) == 0x4600bbbb);
}

TEST_CASE("v_div_fmas scales back with one rounding", "[isa][forms]") {
    // A sum halfway between the largest denormal number and the smallest normal one, and an addend.
    const struct {
        double added;
        u32 single;
        u64 whole;
    } rows[] = {{-0x1p-60, 0x007fffff, 0x000fffffffffffff},
                {0x0p0, 0x00800000, 0x0010000000000000},
                {0x1p-60, 0x00800000, 0x0010000000000000}};
    for (const Level level : levels())
        for (const auto& row : rows) {
            INFO(name(level) << " " << row.added);
            Machine m{Target::gfx90a, level};
            m.wave().set_s64(106, ~u64{0});
            m.vgpr(1, bits(static_cast<float>(row.added)));
            m.vgpr(2, bits(0x1p-60f));
            m.vgpr(3, bits(0x1.fffffep-63f));
            m.run(vop3("v_div_fmas_f32", 4, v(1), v(2), v(3)));
            CHECK(m.lane(4, 8) == row.single);
            const double operands[] = {row.added, 0x1p-940, 0x1.fffffffffffffp-895};
            for (unsigned n = 0; n < 3; ++n) {
                m.vgpr(10 + 2 * n, static_cast<u32>(bits(operands[n])));
                m.vgpr(11 + 2 * n, static_cast<u32>(bits(operands[n]) >> 32));
            }
            m.run(vop3("v_div_fmas_f64", 16, v(10), v(12), v(14)));
            CHECK((m.lane(16, 8) | u64{m.lane(17, 8)} << 32) == row.whole);
        }
}

TEST_CASE("division by div_scale, rcp, fmas and fixup is division", "[isa][forms]") {
    const float numbers[] = {
        1.0f,     3.0f,           -7.0f,     0x1p-149f,        0x1.8p-130f,    0x1.fffffep127f, 0x1.23456p-126f,
        0x1p127f, 0x1.abcdep100f, -0x1p-20f, 0x1.fffffcp-127f, -0x1.fffffep-1f};
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
