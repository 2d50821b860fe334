// Translated loads of LDS give the interpreter's bits, wherever their addresses are.
#include <array>

#include "tests/kfdemu/isa/machine.hpp"
#include "tests/kfdemu/isa/random.hpp"
#include "tests/kfdemu/jit/programs.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/jit/run_plan.hpp"

using namespace test_isa;

namespace {

constexpr u32 kLdsBytes = 2048;

std::vector<u32> ds(const std::string& mnemonic, u32 dst, u32 address, u32 offset, u32 data = 0) {
    return {0xd8000000u | row_of(mnemonic).opcodes.gfx9.number << 17 | offset, dst << 24 | data << 8 | address};
}

constexpr const char* loads[] = {"ds_read_b32",  "ds_read_b64",      "ds_read_b96",  "ds_read_b128",
                                 "ds_read2_b32", "ds_read2st64_b32", "ds_read2_b64", "ds_read2st64_b64"};

enum class LdsWhere : std::uint8_t { adjacent, same, apart, unaligned, anywhere, mixed };

u32 address(LdsWhere where, u32 base, u32 lane, Random& random) {
    switch (where) {
        case LdsWhere::adjacent:
            return base * 4 + lane * 4;
        case LdsWhere::same:
            return base * 4;
        case LdsWhere::apart:
            return random.below(256) * 4;
        case LdsWhere::unaligned:
            return random.below(1024);
        case LdsWhere::anywhere:
            return random.one_in(40) ? 0u - random.below(64) : random.below(kLdsBytes + 8);
        case LdsWhere::mixed:
            break;
    }
    return lane < 16 ? base * 4 + lane * 4 : lane < 32 ? base * 4 : lane < 48 ? lane * 8 : 4 * random.below(200);
}

struct LdsWave {
    LdsWave(Level level, bool translates, unsigned lanes = 64) : machine(Target::gfx90a, level, lanes) {
        if (translates) machine.use_translation();
        for (u32 n = 0; n < kLdsBytes / 4; ++n) lds[n] = 0x3f800000u + n * 0x1003;
        machine.wave().lds = reinterpret_cast<std::byte*>(lds.data());
        machine.wave().lds_size_bytes = kLdsBytes;
    }
    void fill(u64 seed) {
        Random random(seed);
        for (u32 n = 8; n < 24; ++n) machine.number_lanes(n, n * 0x1000000);
        for (u32 n = 0; n < 4; ++n) {
            const auto where = static_cast<LdsWhere>(random.below(6));
            const u32 base = random.one_in(5) ? 448 + random.below(20) : random.below(100);
            for (u32 lane = 0; lane < machine.wave().width; ++lane)
                machine.lane(n, lane) = address(where, base, lane, random);
        }
        const u64 some = u64{random.bits(31)} << 33 | random.bits(31);
        const u64 masks[] = {kAll, kAll, kAll, some, 0xffff, u64{0xff} << 40, 1, 0};
        machine.exec(masks[random.below(std::size(masks))]);
        machine.wave().translated = 0;
    }
    Machine machine;
    alignas(64) std::array<u32, kLdsBytes / 4> lds{};
};

/// Loads into v[8:23], now and then into their address, and what uses them.
std::vector<u32> program(Random& random, std::string& text) {
    std::vector<u32> words;
    for (u32 left = 2 + random.below(12); left > 0; --left) {
        const u32 a = 8 + random.below(13), b = 8 + random.below(13);
        if (random.one_in(4)) {
            words = words + vop3("v_fma_f32", a, v(b), v(8 + random.below(13)), v(a));
            text += "fma; ";
        } else if (random.one_in(8)) {
            words = words + vop2("v_and_b32", random.below(4), 128 + 60, b);
            text += "and; ";
        } else {
            const char* const name = loads[random.below(std::size(loads))];
            const bool two = std::string_view{name}.starts_with("ds_read2");
            const u32 offset = two                ? random.below(8) | random.below(3) << 8
                               : random.one_in(3) ? 0
                                                  : 4 * random.below(64);
            words = words + ds(name, random.one_in(6) ? random.below(4) : a, random.below(4), offset);
            text += std::string(name) + "; ";
        }
    }
    return words;
}

}  // namespace

TEST_CASE("loads of LDS give the same bits translated and interpreted", "[jit][lds]") {
    const unsigned lanes = GENERATE(from_range(widths()));
    for (const Level level : levels()) {
        if (level == Level::V2) continue;
        LdsWave interpreted(level, false, lanes), translated(level, true, lanes);
        Random random(static_cast<u64>(level));
        u64 ran = 0;
        for (unsigned n = 0; n < 3000; ++n) {
            std::string text;
            const std::vector<u32> code = program(random, text);
            interpreted.fill(n);
            translated.fill(n);
            INFO("program " << n << " of " << lanes << " lanes at " << kfdemu::isa::name(level) << ": " << text);
            REQUIRE(interpreted.machine.run(code) == Stop::End);
            REQUIRE(translated.machine.run(code) == Stop::End);
            REQUIRE(test_jit::difference(translated.machine, interpreted.machine) == "");
            ran += translated.machine.wave().translated;
        }
        CHECK(ran > 3000 * 4);
    }
}

TEST_CASE("a store of LDS ends a stretch, so that all lanes load what was there before or after", "[jit][lds]") {
    if (kfdemu::isa::best_level() == Level::V2) SKIP_BECAUSE("nothing is translated at this level");
    // Each lane stores its number, and loads what the lane 16 before it has stored.
    const auto code = ds("ds_read2_b32", 8, 0, 0x100) + ds("ds_write_b32", 0, 1, 0, 2) +
                      ds("ds_read2_b32", 10, 3, 0x100) + vop2("v_add_u32", 12, v(10), 11);
    for (const bool translates : {false, true}) {
        LdsWave wave(kfdemu::isa::best_level(), translates);
        Machine& m = wave.machine;
        for (u32 lane = 0; lane < 64; ++lane) {
            m.lane(0, lane) = m.lane(1, lane) = 4 * lane;
            m.lane(3, lane) = 4 * ((lane + 16) % 48);
        }
        m.number_lanes(2, 100);
        m.exec(kAll);
        REQUIRE(m.run(code) == Stop::End);
        CHECK((m.wave().translated > 0) == translates);
        CHECK(m.lane(8, 5) == 0x3f800000 + 5 * 0x1003);
        for (u32 lane = 0; lane < 64; ++lane) REQUIRE(m.lane(12, lane) == 2 * (100 + (lane + 16) % 48) + 1);
    }
}

TEST_CASE("GDS, and loads into registers that do not exist, are not translated", "[jit][lds]") {
    const auto operations = [](std::vector<u32> words) {
        std::vector<kfdemu::jit::LaneOp> ops;
        const Inst inst = Decoder{Target::gfx90a}.decode(kCodeBase, words);
        append_operations(inst, {kfdemu::jit::Width::bits512}, ops);
        return ops.size();
    };
    CHECK(operations(ds("ds_read_b32", 1, 0, 0)) == 1);
    CHECK(operations(ds("ds_read_b128", 1, 0, 0)) == 4);
    CHECK(operations(ds("ds_read_b128", 253, 0, 0)) == 0);
    auto gds = ds("ds_read_b32", 1, 0, 0);
    gds[0] |= 1u << 16;
    CHECK(operations(gds) == 0);
}
