// V_CVT_SCALEF32 and the other conversions of gfx950, against the formats' definition.
#include <functional>
#include <vector>

#include "tests/kfdemu/isa/machine.hpp"
#include "tests/kfdemu/isa/number_formats.hpp"
#include "tests/kfdemu/isa/random.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

constexpr Target kScaledTarget = Target::gfx950;
constexpr u32 kSaturates = 0x8002f0, kPlain = 0x2f0;  // MODE, with FP16_OVFL and without
constexpr unsigned kCount = 32;

/// The wide ones: 32-bit floats, or one of the two of 16 bits.
const NumberFormat* const kHalves[] = {&kHalf, &kBrain};

/// Of exponents at which `f` has numbers, and some beyond, once it is divided by 2^(scale - 127).
float number_for(const NumberFormat& f, u32 scale, Random& random) {
    const int range = (1 << (f.exponent - 1)) + f.mantissa + 3;
    const int exponent = static_cast<int>(random.below(2 * static_cast<u32>(range))) - range;
    const u32 raw = random.bits(1) << 31 | 127u << 23 | (random.one_in(2) ? random.bits(4) << 19 : random.bits(23));
    return std::ldexp(as_float(raw), exponent + static_cast<int>(scale) - 127);
}
u32 scale_of_lane(unsigned lane) { return 107 + lane % 41; }
/// Its sign and its fraction do not count.
u32 scale_float(unsigned lane, Random& random) {
    return scale_of_lane(lane) << 23 | random.bits(1) << 31 | random.bits(23);
}
double divided(double v, unsigned lane) { return std::ldexp(v, 127 - static_cast<int>(scale_of_lane(lane))); }
double multiplied(double v, unsigned lane) { return std::ldexp(v, static_cast<int>(scale_of_lane(lane)) - 127); }
u32 next_random(u32 v) { return (v << 1) ^ (v >> 31 != 0 ? 197 : 0); }

/// A source of 16 bits that is near the float, and its value.
u32 narrowed(const NumberFormat& source, float v) { return source.nearest(static_cast<double>(v), true); }
double value_of(u32 raw) { return static_cast<double>(as_float(raw)); }

std::string named(const std::string& operation, const NumberFormat& to, const std::string& from) {
    return "v_cvt_scalef32_" + operation + "_" + to.name + "_" + from;
}

/// Runs body(machine, mode is saturating) at every level in both modes, with v5 the scales and v3 random numbers.
void each_machine(u64 seed, const std::function<void(Machine&, Random&, bool)>& body) {
    for (const Level level : levels()) {
        for (const u32 mode : {kPlain, kSaturates}) {
            Machine m{kScaledTarget, level};
            Random random{seed};
            m.wave().mode = mode;
            for (unsigned lane = 0; lane < 64; ++lane) {
                m.lane(5, lane) = scale_float(lane, random);
                m.lane(3, lane) = lane < 4 ? 0 : lane < 8 ? ~0u : random.word();
                m.lane(9, lane) = 0x11223344;
            }
            body(m, random, mode == kSaturates);
        }
    }
}

u32 inserted(u32 old, u32 shift, u32 width, u32 number) {
    const u32 places = ((1u << width) - 1) << shift;
    return (old & ~places) | number << shift;
}

}  // namespace

TEST_CASE("pairs of floats are scaled and become the nearest FP8, BF8 and FP4", "[isa][scaled_floats]") {
    for (const NumberFormat* f : {&kOcpFp8, &kOcpBf8, &kFp4}) {
        each_machine(1, [&](Machine& m, Random& random, bool saturates) {
            for (unsigned lane = 0; lane < 64; ++lane) {
                m.lane(2, lane) = bits(number_for(*f, scale_of_lane(lane), random));
                m.lane(4, lane) = bits(number_for(*f, scale_of_lane(lane), random));
            }
            m.lane(2, 0) = 0x7f800000, m.lane(2, 1) = 0xff800000, m.lane(2, 2) = 0x80000000, m.lane(2, 3) = 0x7f7fffff;
            const u32 half = 2, shift = f == &kFp4 ? 8 * half : 16;
            const u32 low = f == &kFp4 ? half << 13 : 8u << 11;
            REQUIRE(m.run(vop3(named("pk", *f, "f32"), 9, v(2), v(4), v(5), low, 0, kScaledTarget)) == Stop::End);
            for (unsigned lane = 0; lane < 64; ++lane) {
                INFO(f->name << std::hex << " " << m.lane(2, lane) << " " << m.lane(4, lane) << " lane " << lane);
                const u32 first = f->nearest(divided(value_of(m.lane(2, lane)), lane), saturates),
                          second = f->nearest(divided(value_of(m.lane(4, lane)), lane), saturates);
                CHECK(m.lane(9, lane) == inserted(0x11223344, shift, 2 * f->width(), first | second << f->width()));
            }
        });
    }
}

TEST_CASE("pairs of halves are scaled and become the nearest FP8, BF8 and FP4", "[isa][scaled_floats]") {
    for (const NumberFormat* source : kHalves) {
        for (const NumberFormat* f : {&kOcpFp8, &kOcpBf8, &kFp4}) {
            each_machine(2, [&](Machine& m, Random& random, bool saturates) {
                const auto number = [&](unsigned lane) {
                    return narrowed(*source, number_for(*f, scale_of_lane(lane), random));
                };
                for (unsigned lane = 0; lane < 64; ++lane) m.lane(2, lane) = number(lane) | number(lane) << 16;
                REQUIRE(m.run(vop3(named("pk", *f, source->name), 9, v(2), v(5), 0, 0, 0, kScaledTarget)) == Stop::End);
                for (unsigned lane = 0; lane < 64; ++lane) {
                    INFO(f->name << std::hex << " of " << source->name << " " << m.lane(2, lane) << " lane " << lane);
                    const u32 first = f->nearest(divided(source->value(m.lane(2, lane) & 0xffff), lane), saturates),
                              second = f->nearest(divided(source->value(m.lane(2, lane) >> 16), lane), saturates);
                    CHECK(m.lane(9, lane) == inserted(0x11223344, 0, 2 * f->width(), first | second << f->width()));
                }
            });
        }
    }
}

TEST_CASE("stochastic rounding to FP8 and BF8 goes into the byte that OP_SEL chooses", "[isa][scaled_floats]") {
    for (const NumberFormat* f : {&kOcpFp8, &kOcpBf8}) {
        for (const NumberFormat* source : {static_cast<const NumberFormat*>(nullptr), kHalves[0], kHalves[1]}) {
            each_machine(3, [&](Machine& m, Random& random, bool saturates) {
                for (unsigned lane = 0; lane < 64; ++lane) {
                    const float number = number_for(*f, scale_of_lane(lane), random);
                    m.lane(2, lane) = source == nullptr ? bits(number) : narrowed(*source, number) | 0x77770000;
                }
                const std::string from = source == nullptr ? "f32" : source->name;
                REQUIRE(m.run(vop3(named("sr", *f, from), 9, v(2), v(3), v(5), 3 << 13, 0, kScaledTarget)) ==
                        Stop::End);
                for (unsigned lane = 0; lane < 64; ++lane) {
                    INFO(f->name << std::hex << " of " << from << " " << m.lane(2, lane) << " by " << m.lane(3, lane));
                    const double number =
                        source == nullptr ? value_of(m.lane(2, lane)) : source->value(m.lane(2, lane) & 0xffff);
                    CHECK(m.lane(9, lane) ==
                          inserted(0x11223344, 24, 8, f->by_random(divided(number, lane), m.lane(3, lane), saturates)));
                }
            });
        }
    }
}

TEST_CASE("stochastic rounding to pairs of FP4 takes a second random number", "[isa][scaled_floats]") {
    for (const NumberFormat* source : {static_cast<const NumberFormat*>(nullptr), kHalves[0], kHalves[1]}) {
        each_machine(4, [&](Machine& m, Random& random, bool saturates) {
            const auto number = [&](unsigned lane) { return number_for(kFp4, scale_of_lane(lane), random); };
            for (unsigned lane = 0; lane < 64; ++lane) {
                if (source == nullptr)
                    m.lane(6, lane) = bits(number(lane)), m.lane(7, lane) = bits(number(lane));
                else
                    m.lane(6, lane) = narrowed(*source, number(lane)) | narrowed(*source, number(lane)) << 16;
            }
            const std::string from = source == nullptr ? "f32" : source->name;
            REQUIRE(m.run(vop3(named("sr_pk", kFp4, from), 9, v(6), v(3), v(5), 1 << 13, 0, kScaledTarget)) ==
                    Stop::End);
            for (unsigned lane = 0; lane < 64; ++lane) {
                const auto value = [&](unsigned n) {
                    if (source == nullptr) return value_of(m.lane(6 + n, lane));
                    return source->value(m.lane(6, lane) >> 16 * n & 0xffff);
                };
                const u32 first = kFp4.by_random(divided(value(0), lane), m.lane(3, lane), saturates),
                          second = kFp4.by_random(divided(value(1), lane), next_random(m.lane(3, lane)), saturates);
                CHECK(m.lane(9, lane) == inserted(0x11223344, 8, 8, first | second << 4));
            }
        });
    }
}

TEST_CASE("FP8, BF8 and FP4 become floats and halves, and are scaled", "[isa][scaled_floats]") {
    for (const NumberFormat* f : {&kOcpFp8, &kOcpBf8, &kFp4}) {
        each_machine(5, [&](Machine& m, Random& random, bool) {
            for (unsigned lane = 0; lane < 64; ++lane) m.lane(2, lane) = random.word();
            const bool small = f == &kFp4;
            const u32 low = small ? 2u << 11 : 1u << 11, shift = 16;  // the upper word, or byte 2
            std::vector<u32> code =
                vop3(std::string("v_cvt_scalef32_pk_f32_") + f->name, 10, v(2), v(5), 0, low, 0, kScaledTarget) +
                vop3(std::string("v_cvt_scalef32_pk_f16_") + f->name, 12, v(2), v(5), 0, low, 0, kScaledTarget) +
                vop3(std::string("v_cvt_scalef32_pk_bf16_") + f->name, 13, v(2), v(5), 0, low, 0, kScaledTarget);
            if (!small) {
                code =
                    code +
                    vop3(std::string("v_cvt_scalef32_f32_") + f->name, 14, v(2), v(5), 0, 3u << 11, 0, kScaledTarget) +
                    vop3(std::string("v_cvt_scalef32_f16_") + f->name, 9, v(2), v(5), 0, 11u << 11, 0, kScaledTarget);
            }
            REQUIRE(m.run(code) == Stop::End);
            for (unsigned lane = 0; lane < 64; ++lane) {
                INFO(f->name << std::hex << " " << m.lane(2, lane) << " lane " << lane);
                for (unsigned n = 0; n < 2; ++n) {
                    const u32 raw = m.lane(2, lane) >> (shift + n * f->width()) & ((1u << f->width()) - 1);
                    const double expected = multiplied(f->value(raw), lane);
                    if (std::isnan(expected)) {
                        CHECK(std::isnan(as_float(m.lane(10 + n, lane))));
                        continue;
                    }
                    CHECK(m.lane(10 + n, lane) == bits(static_cast<float>(expected)));
                    CHECK((m.lane(12, lane) >> 16 * n & 0xffff) == kHalf.nearest(expected, false));
                    CHECK((m.lane(13, lane) >> 16 * n & 0xffff) == kBrain.nearest(expected, false));
                }
                const double last = multiplied(f->value(m.lane(2, lane) >> 24), lane);
                if (small || std::isnan(last)) continue;
                CHECK(m.lane(14, lane) == bits(static_cast<float>(last)));
                CHECK(m.lane(9, lane) == (0x3344 | kHalf.nearest(last, false) << 16));
            }
        });
    }
}

namespace {

constexpr unsigned kIn = 32, kSecond = 64, kOut = 100;

}  // namespace

TEST_CASE("32 numbers are scaled and become FP6 and BF6, to nearest or by random numbers", "[isa][scaled_floats]") {
    for (const NumberFormat* f : {&kFp6, &kBf6}) {
        for (const NumberFormat* source : {static_cast<const NumberFormat*>(nullptr), kHalves[0], kHalves[1]}) {
            each_machine(6, [&](Machine& m, Random& random, bool saturates) {
                const unsigned width = source == nullptr ? 32 : 16;
                for (unsigned lane = 0; lane < 64; ++lane) {
                    for (unsigned n = 0; n < kCount; ++n) {
                        const float number = number_for(*f, scale_of_lane(lane), random);
                        m.put_packed(kIn, lane, n, width, source == nullptr ? bits(number) : narrowed(*source, number));
                    }
                }
                const std::string from = source == nullptr ? "f32" : source->name;
                std::vector<u32> code = vop3(named("sr_pk32", *f, from), kOut, v(kIn), v(3), v(5), 0, 0, kScaledTarget);
                if (source != nullptr)
                    code = code + vop3(named("pk32", *f, from), kOut + 8, v(kIn), v(5), 0, 0, 0, kScaledTarget);
                m.exec(~u64{2});
                m.lane(kOut, 1) = 77;
                REQUIRE(m.run(code) == Stop::End);
                CHECK(m.lane(kOut, 1) == 77);
                for (unsigned lane = 0; lane < 64; ++lane) {
                    u32 number = m.lane(3, lane);
                    for (unsigned n = 0; n < kCount && lane != 1; ++n, number = next_random(number)) {
                        const u32 raw = m.packed(kIn, lane, n, width);
                        const double value = divided(source == nullptr ? value_of(raw) : source->value(raw), lane);
                        INFO(f->name << std::hex << " of " << from << " " << raw << " by " << number);
                        CHECK(m.packed(kOut, lane, n, 6) == f->by_random(value, number, saturates));
                        if (source != nullptr) CHECK(m.packed(kOut + 8, lane, n, 6) == f->nearest(value, saturates));
                    }
                }
            });
        }
    }
}

TEST_CASE("two sources of 16 floats become FP6 and BF6 in turn", "[isa][scaled_floats]") {
    for (const NumberFormat* f : {&kFp6, &kBf6}) {
        each_machine(7, [&](Machine& m, Random& random, bool saturates) {
            for (unsigned lane = 0; lane < 64; ++lane)
                for (unsigned n = 0; n < kCount; ++n)
                    m.lane((n % 2 == 0 ? kIn : kSecond) + n / 2, lane) =
                        bits(number_for(*f, scale_of_lane(lane), random));
            REQUIRE(m.run(vop3(named("2xpk16", *f, "f32"), kOut, v(kIn), v(kSecond), v(5), 0, 0, kScaledTarget)) ==
                    Stop::End);
            for (unsigned lane = 0; lane < 64; ++lane) {
                for (unsigned n = 0; n < kCount; ++n) {
                    const double value = value_of(m.lane((n % 2 == 0 ? kIn : kSecond) + n / 2, lane));
                    CHECK(m.packed(kOut, lane, n, 6) == f->nearest(divided(value, lane), saturates));
                }
            }
        });
    }
}

TEST_CASE("32 of FP6 and BF6 become floats and halves", "[isa][scaled_floats]") {
    for (const NumberFormat* f : {&kFp6, &kBf6}) {
        each_machine(8, [&](Machine& m, Random& random, bool) {
            for (unsigned lane = 0; lane < 64; ++lane)
                for (unsigned n = 0; n < 6; ++n) m.lane(kIn + n, lane) = random.word();
            const auto convert = [&](unsigned d, const char* to) {
                return vop3(std::string("v_cvt_scalef32_pk32_") + to + "_" + f->name, d, v(kIn), v(5), 0, 0, 0,
                            kScaledTarget);
            };
            REQUIRE(m.run(convert(kOut, "f32") + convert(kOut + 32, "f16") + convert(kOut + 48, "bf16")) == Stop::End);
            for (unsigned lane = 0; lane < 64; ++lane) {
                for (unsigned n = 0; n < kCount; ++n) {
                    const double expected = multiplied(f->value(m.packed(kIn, lane, n, 6)), lane);
                    CHECK(m.lane(kOut + n, lane) == bits(static_cast<float>(expected)));
                    CHECK(m.packed(kOut + 32, lane, n, 16) == kHalf.nearest(expected, false));
                    CHECK(m.packed(kOut + 48, lane, n, 16) == kBrain.nearest(expected, false));
                }
            }
        });
    }
}

TEST_CASE("a scale that is NaN makes NaN, of formats that have it", "[isa][scaled_floats]") {
    Machine m{kScaledTarget};
    m.vgpr(2, 0x38383838);
    m.vgpr(5, 0x7f800000);
    m.vgpr(9, 0);
    REQUIRE(m.run(vop3("v_cvt_scalef32_pk_f32_fp8", 10, v(2), v(5), 0, 0, 0, kScaledTarget) +
                  vop3("v_cvt_scalef32_pk_fp8_f32", 9, v(10), v(10), v(5), 0, 0, kScaledTarget)) == Stop::End);
    CHECK(std::isnan(as_float(m.lane(10, 7))));
    CHECK((m.lane(9, 7) & 0x7f7f) == 0x7f7f);
}

TEST_CASE("floats become halves by random numbers, and pairs of them to nearest", "[isa][scaled_floats]") {
    each_machine(9, [&](Machine& m, Random& random, bool saturates) {
        for (unsigned lane = 0; lane < 64; ++lane) {
            m.lane(2, lane) = random.bits(1) << 31 | (100 + random.below(50)) << 23 | random.bits(23);
            m.lane(4, lane) = m.lane(2, lane) & 0xffffe000;
            m.lane(10, lane) = m.lane(9, lane);
        }
        REQUIRE(m.run(vop3("v_cvt_sr_f16_f32", 9, v(2), v(3), 0, 8u << 11, 0, kScaledTarget) +
                      vop3("v_cvt_sr_bf16_f32", 10, v(2), v(3), 0, 0, 0, kScaledTarget) +
                      vop3("v_cvt_pk_f16_f32", 11, v(2), v(4), 0, 0, 0, kScaledTarget) +
                      vop3("v_cvt_pk_bf16_f32", 12, v(2), v(4), 0, 0, 0, kScaledTarget)) == Stop::End);
        for (unsigned lane = 0; lane < 64; ++lane) {
            const double first = value_of(m.lane(2, lane)), second = value_of(m.lane(4, lane));
            INFO(std::hex << m.lane(2, lane) << " by " << m.lane(3, lane));
            CHECK(m.lane(9, lane) == (0x3344 | kHalf.by_random(first, m.lane(3, lane), saturates) << 16));
            CHECK(m.lane(10, lane) == (0x11220000 | kBrain.by_random(first, m.lane(3, lane), saturates)));
            CHECK(m.lane(11, lane) == (kHalf.nearest(first, false) | kHalf.nearest(second, false) << 16));
            CHECK(m.lane(12, lane) == (kBrain.nearest(first, false) | kBrain.nearest(second, false) << 16));
        }
    });
}
