// Conversions of FP8 and BF8 against the values of all 256 codes, and what GFX940 adds to the vector and memory rows.
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kfdemu/isa/buffered.hpp"
#include "tests/kfdemu/isa/machine.hpp"
#include "tests/kfdemu/isa/random.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

constexpr Target kTarget = Target::gfx942;

/// E4M3FNUZ or E5M2FNUZ.
struct Small {
    const char* name;
    int mantissa, bias;

    double value(u32 code) const {
        const int exponent = static_cast<int>(code & 0x7f) >> mantissa,
                  fraction = static_cast<int>(code) & ((1 << mantissa) - 1);
        const double size = exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa)
                                          : std::ldexp((1 << mantissa) + fraction, exponent - bias - mantissa);
        if (code == 0x80) return std::numeric_limits<double>::quiet_NaN();
        return code < 0x80 ? size : -size;
    }
    /// The code of the nearest value, of two the even one; 0x80 beyond the greatest one.
    u32 nearest(float v, bool saturates) const {
        if (!std::isfinite(v)) return 0x80;
        const double size = std::fabs(static_cast<double>(v));
        u32 best = 0;
        for (u32 code = 0; code < 0x80; ++code) {
            const double nearer = std::fabs(value(code) - size) - std::fabs(value(best) - size);
            if (nearer < 0 || (nearer == 0 && code % 2 == 0)) best = code;
        }
        const double step = value(0x7f) - value(0x7e);
        if (size >= value(0x7f) + step / 2) return saturates ? 0x7fu | (v < 0 ? 0x80u : 0) : 0x80;
        return best == 0 ? 0 : best | (v < 0 ? 0x80u : 0);
    }
    u32 towards_zero(float v) const {
        const double size = std::fabs(static_cast<double>(v));
        u32 best = 0;
        for (u32 code = 0; code < 0x80; ++code)
            if (value(code) <= size) best = code;
        return best == 0 ? 0 : best | (v < 0 ? 0x80u : 0);
    }
};
constexpr Small kSmall[] = {{"fp8", 3, 8}, {"bf8", 2, 16}};

bool is(float result, double expected) {
    return std::isnan(expected) ? std::isnan(result)
                                : result == expected && std::signbit(result) == std::signbit(expected);
}

std::string named(const char* before, const Small& s, const char* after) {
    return std::string(before) + s.name + after;
}

}  // namespace

TEST_CASE("every FP8 and BF8 converts to its value", "[isa][small_floats]") {
    for (const Level level : levels()) {
        for (const Small& s : kSmall) {
            for (u32 first = 0; first < 256; first += 64) {
                Machine m{kTarget, level};
                for (unsigned lane = 0; lane < 64; ++lane) m.lane(2, lane) = (first + lane) * 0x01010101u;
                std::vector<u32> code = vop1(named("v_cvt_f32_", s, ""), 4, v(2), kTarget);
                const std::vector<u32> pair = vop1(named("v_cvt_pk_f32_", s, ""), 6, v(2), kTarget);
                code.insert(code.end(), pair.begin(), pair.end());
                REQUIRE(m.run(code) == Stop::End);
                for (unsigned lane = 0; lane < 64; ++lane) {
                    INFO(s.name << " " << first + lane);
                    for (const unsigned to : {4u, 6u, 7u}) CHECK(is(as_float(m.lane(to, lane)), s.value(first + lane)));
                }
            }
        }
    }
}

TEST_CASE("SDWA chooses the byte or the pair that converts", "[isa][small_floats]") {
    Machine m{kTarget};
    m.vgpr(2, 0x48443840);  // 4, 2, 0.5, 1
    const auto sdwa = [](u32 opcode, u32 d, u32 select) {
        return std::vector<u32>{0x7e000000u | d << 17 | opcode << 9 | 249, 2u | 6u << 8 | select << 16};
    };
    REQUIRE(m.run(sdwa(0x54, 4, 1) + sdwa(0x54, 5, 3) + sdwa(0x56, 6, 5)) == Stop::End);
    CHECK(as_float(m.lane(4, 0)) == 0.5f);
    CHECK(as_float(m.lane(5, 0)) == 2.0f);
    CHECK(as_float(m.lane(6, 0)) == 1.5f);
    CHECK(as_float(m.lane(7, 0)) == 2.0f);
}

TEST_CASE("floats convert to the nearest FP8 and BF8, of which OP_SEL chooses the half", "[isa][small_floats]") {
    Random random{5};
    for (const Level level : levels()) {
        for (const Small& s : kSmall) {
            for (const u32 mode : {0x2f0u, 0x8002f0u}) {  // FP16_OVFL
                Machine m{kTarget, level};
                m.wave().mode = mode;
                for (unsigned lane = 0; lane < 64; ++lane) {
                    const double between = (s.value(random.below(127)) + s.value(random.below(127))) / 2;
                    const u32 exponent = 127 - 24 + random.below(48);
                    m.lane(2, lane) = lane < 32 ? random.bits(1) << 31 | exponent << 23 | random.bits(12) << 11
                                                : bits(static_cast<float>(between));
                    m.lane(3, lane) = random.word();
                    m.lane(4, lane) = 0x11223344;
                }
                m.lane(2, 0) = 0x7f800000, m.lane(2, 1) = 0x7fc00000, m.lane(2, 2) = 0x80000000,
                          m.lane(2, 3) = 0x7f7fffff;
                REQUIRE(m.run(vop3(named("v_cvt_pk_", s, "_f32"), 4, v(2), v(3), 0, 8u << 11, 0, kTarget)) ==
                        Stop::End);
                for (unsigned lane = 0; lane < 64; ++lane) {
                    INFO(s.name << std::hex << " " << m.lane(2, lane) << " " << m.lane(3, lane) << " mode " << mode);
                    const u32 low = s.nearest(as_float(m.lane(2, lane)), mode != 0x2f0),
                              high = s.nearest(as_float(m.lane(3, lane)), mode != 0x2f0);
                    CHECK(m.lane(4, lane) == (0x3344u | low << 16 | high << 24));
                }
            }
        }
    }
}

TEST_CASE("stochastic rounding adds the upper bits of a random number, into the byte that OP_SEL chooses",
          "[isa][small_floats]") {
    for (const Small& s : kSmall) {
        for (u32 byte = 0; byte < 4; ++byte) {
            Machine m{kTarget};
            Random random{byte};
            for (unsigned lane = 0; lane < 64; ++lane) {
                m.lane(2, lane) = random.bits(1) << 31 | (125 + random.below(4)) << 23 | random.bits(16) << 7;
                m.lane(3, lane) = lane < 8 ? 0 : lane < 16 ? ~0u : random.word();
                m.lane(4, lane) = 0x11223344;
            }
            REQUIRE(m.run(vop3(named("v_cvt_sr_", s, "_f32"), 4, v(2), v(3), 0, byte << 13, 0, kTarget)) == Stop::End);
            for (unsigned lane = 0; lane < 64; ++lane) {
                const u32 raised = m.lane(2, lane) + (m.lane(3, lane) >> (9 + s.mantissa));
                const u32 expected = s.towards_zero(as_float(raised)) << 8 * byte;
                CHECK(m.lane(4, lane) == ((0x11223344 & ~(0xffu << 8 * byte)) | expected));
            }
        }
    }
}

TEST_CASE("v_lshl_add_u64 and v_mov_b64 work on 64 bits", "[isa][small_floats]") {
    Machine m{kTarget};
    m.vgpr64(2, 0x8000000180000001);
    m.vgpr(4, 0xfffffff9);  // three bits count: 1
    m.vgpr64(6, 0xffffffff);
    REQUIRE(m.run(vop3("v_lshl_add_u64", 8, v(2), v(4), v(6), 0, 0, kTarget) + vop1("v_mov_b64", 10, v(8), kTarget)) ==
            Stop::End);
    CHECK((m.lane(10, 3) | u64{m.lane(11, 3)} << 32) == 0x0000000400000001);
}

TEST_CASE("v_fmamk_f32 and v_fmaak_f32 round once", "[isa][small_floats]") {
    Machine m{kTarget};
    const float a = 1.0f + 0x1p-12f, k = 1.0f + 0x1p-12f;
    m.vgpr(2, bits(a));
    m.vgpr(3, bits(-1.0f));
    std::vector<u32> code = vop2("v_fmamk_f32", 4, v(2), 3, kTarget);
    code.push_back(bits(k));
    REQUIRE(m.run(code) == Stop::End);
    CHECK(as_float(m.lane(4, 0)) == 0x1p-11f + 0x1p-24f);
    m.vgpr(3, bits(a));
    code = vop2("v_fmaak_f32", 4, v(2), 3, kTarget);
    code.push_back(bits(-1.0f));
    REQUIRE(m.run(code) == Stop::End);
    CHECK(as_float(m.lane(4, 0)) == 0x1p-11f + 0x1p-24f);
}

TEST_CASE("packed atomics of BF16 add both halves", "[isa][small_floats]") {
    Buffered m{kfdemu::isa::best_level(), kTarget};
    m.put(0, 0x3f804000u);  // 1, 2
    m.machine.vgpr64(2, kBase);
    m.machine.vgpr(4, 0x40403b80);  // 3, and 2^-8: half of the last place of 2, to even
    m.machine.exec(1);
    REQUIRE(m.run({0xdc000000u | 0x52u << 18 | 2u << 14 | 1u << 16, 2u | 4u << 8 | 0x7fu << 16 | 6u << 24}) ==
            Stop::End);
    CHECK(m.machine.lane(6, 0) == 0x3f804000u);
    CHECK(m.at<u32>(0) == 0x40804000u);
}
