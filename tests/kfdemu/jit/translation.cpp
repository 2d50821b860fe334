// Translated code gives the interpreter's bits: registers, masks and the place where it ends.
#include "tests/kfdemu/jit/programs.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

using namespace test_jit;
using namespace test_isa;
using kfdemu::isa::kExec;
using kfdemu::isa::set_mode;

namespace {

enum class Values { numbers, some_nans, anything };

u32 value(Random& random, Values values) {
    constexpr u32 edges[] = {0,          1,          0x80000000, 0x7fffffff, 0xffffffff, 0x7f7fffff, 0x3f800000,
                             0xbf800000, 0x00000001, 0x00800000, 0x007fffff, 0x80000001, 0x4b000000, 31};
    constexpr u32 nans[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00123};
    const u32 noise = random.bits(30) << 2 ^ random.bits(16);
    if (values != Values::numbers && random.one_in(values == Values::anything ? 6 : 400)) return nans[noise % 5];
    if (random.one_in(6)) return edges[noise % std::size(edges)];
    if (random.one_in(6)) return noise % 64;
    return (noise & 0x807fffff) | (100 + (noise >> 23) % 56) << 23;
}

void fill(Machine& m, u64 seed, Values values) {
    Random random(seed);
    for (unsigned n = 0; n < 16 * 64; ++n) m.wave().v[n] = value(random, values);
    for (unsigned n = 0; n < 108; ++n) m.wave().s[n] = value(random, values);
    const u64 some = u64{random.bits(31)} << 33 | random.bits(31);
    const u64 masks[] = {kAll, kAll, some, 0xffff, u64{0xffff} << 32, 1, 0};
    m.exec(masks[random.below(std::size(masks))]);
    // Rounding and denormals of 32 bits.
    set_mode(m.wave(), 0x2c0 | random.below(4) | random.below(4) << 4);
}

void compare(Target target, Level level, unsigned lanes, Values values, unsigned programs, unsigned length) {
    Random random(static_cast<u64>(target) * 100 + static_cast<u64>(level) * 10 + static_cast<u64>(values));
    Machine interpreted{target, level, lanes}, translated{target, level, lanes};
    translated.use_translation();
    std::uint64_t ran = 0;
    for (unsigned n = 0; n < programs; ++n) {
        const Program program = random_program(target, random, 1 + random.below(length), lanes);
        fill(interpreted, n, values);
        fill(translated, n, values);
        translated.wave().translated = 0;
        INFO("program " << n << " of " << lanes << " lanes at " << kfdemu::isa::name(level) << ": " << program.text);
        REQUIRE(interpreted.run(program.words) == Stop::End);
        REQUIRE(translated.run(program.words) == Stop::End);
        REQUIRE(difference(translated, interpreted) == "");
        CHECK(translated.wave().pc == interpreted.wave().pc);
        ran += translated.wave().translated;
    }
    CHECK(ran > programs * length / 8);  // most of them were translated
}

}  // namespace

TEST_CASE("random programs give the same bits translated and interpreted", "[jit]") {
    const auto target =
        GENERATE(Target::gfx900, Target::gfx906, Target::gfx90a, Target::gfx1030, Target::gfx1100, Target::gfx1201);
    for (const unsigned lanes : widths())
        for (const Level level : levels()) {
            if (level == Level::V2) continue;
            compare(target, level, lanes, Values::numbers, 700, 24);
            compare(target, level, lanes, Values::some_nans, 700, 24);
            compare(target, level, lanes, Values::anything, 300, 12);
            compare(target, level, lanes, Values::numbers, 40, 400);
        }
}

TEST_CASE("more registers than the CPU has give the same bits", "[jit]") {
    for (const Level level : levels()) {
        if (level == Level::V2) continue;
        Machine interpreted{Target::gfx90a, level}, translated{Target::gfx90a, level};
        translated.use_translation();
        std::vector<u32> words;
        Random random(7);
        for (unsigned n = 0; n < 600; ++n)
            words = words + vop3("v_add3_u32", random.below(100), v(random.below(100)), v(random.below(100)),
                                 v(random.below(100)));
        for (Machine* const machine : {&interpreted, &translated}) {
            for (unsigned n = 0; n < 100; ++n) machine->number_lanes(n, n * 1000);
            CHECK(machine->run(words) == Stop::End);
        }
        CHECK(translated.wave().translated > 500);
        CHECK(difference(translated, interpreted) == "");
    }
}

TEST_CASE("a loop of translated code gives way after its slice", "[jit]") {
    if (kfdemu::isa::best_level() == Level::V2) SKIP_BECAUSE("nothing is translated at this level");
    std::vector<u32> loop;
    for (unsigned n = 0; n < 500; ++n) loop = loop + vop2("v_add_u32", n % 8, 129, n % 7);
    loop = loop + sopp("s_branch", 0u - 501);
    Machine machine;
    machine.use_translation();
    u64 before = 0;
    CHECK(machine.run(loop, 10'000) == Stop::Budget);
    for (unsigned slice = 0; slice < 5; ++slice) {
        const u64 executed = machine.wave().translated - before;
        CHECK(executed >= 9'000);
        CHECK(executed <= 11'000);
        before = machine.wave().translated;
        CHECK(machine.resume(10'000) == Stop::Budget);
    }
    CHECK(machine.lane(0, 0) != 0);
}

TEST_CASE("code whose data are full of NaNs is interpreted in the end", "[jit]") {
    if (kfdemu::isa::best_level() == Level::V2) SKIP_BECAUSE("nothing is translated at this level");
    Machine machine;
    machine.use_translation();
    machine.vgpr(1, 0x7fc00000);
    // A loop of 10,000 passes.
    const auto code = sop1("s_mov_b32", 0, 255) + std::vector<u32>{10'000} + sopp("s_nop") +
                      vop2("v_add_f32", 2, v(1), 3) + vop2("v_mul_f32", 4, v(2), 3) + sop2("s_sub_u32", 0, 0, 129) +
                      sopc("s_cmp_lg_u32", 0, 128) + sopp("s_cbranch_scc1", 0u - 5);
    CHECK(machine.run(code, 1'000'000) == Stop::End);
    CHECK(machine.wave().translated >= 2 * 4096);  // three instructions are one
    CHECK(machine.wave().translated < 2 * 5000);
    CHECK(machine.lane(4, 63) == 0x7fc00000);
}

TEST_CASE("a wave that is watched, ordered by a seed or indexed is interpreted", "[jit]") {
    Machine machine;
    machine.use_translation();
    const auto code = vop2("v_add_u32", 0, v(1), 2) + vop2("v_add_u32", 3, v(0), 1) + vop2("v_add_u32", 4, v(3), 1);
    machine.wave().interpreted = true;
    CHECK(machine.run(code) == Stop::End);
    CHECK(machine.wave().translated == 0);
    machine.wave().interpreted = false;
    machine.wave().slow = true;
    CHECK(machine.run(code) == Stop::End);
    CHECK(machine.wave().translated == 0);
    machine.wave().slow = false;
    CHECK(machine.run(code) == Stop::End);
    if (kfdemu::isa::best_level() != Level::V2) CHECK(machine.wave().translated == 2);
}
