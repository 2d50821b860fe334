// The executors of all x86 levels agree bit for bit: every vector row, on random and edge values.
#include <algorithm>
#include <cstring>

#include "tests/kfdemu/isa/machine.hpp"
#include "tests/kfdemu/isa/samples.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

u64 next_random(u64& state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 16;
}

/// Edge values of every type, and noise.
u32 value(u64& state) {
    constexpr u32 edges[] = {0,          1,          0x80000000, 0x7fffffff, 0xffffffff, 0x7f800000, 0xff800000,
                             0x7fc00000, 0x7f800001, 0x3f800000, 0xbf800000, 0x00000001, 0x00800000, 0x3ff00000,
                             0x7ff00000, 0xfff80000, 0x00010000, 0x3c007c00, 0x0001fc00, 0x7e013555};
    const u64 r = next_random(state);
    if (r % 4 == 0) return edges[(r >> 8) % (sizeof edges / sizeof *edges)];
    if (r % 4 == 1) return static_cast<u32>(r >> 8) % 128;
    return static_cast<u32>(next_random(state));
}

void fill(Machine& m, u64 seed) {
    for (unsigned n = 0; n < 256 * 64; ++n) m.wave().v[n] = value(seed);
    for (unsigned n = 0; n < 108; ++n) m.wave().s[n] = value(seed);
    m.exec(seed % 3 ? kAll : seed);
}

}  // namespace

TEST_CASE("every vector row gives the same bits at every x86 level", "[isa][levels]") {
    const std::vector<Level> all = levels();
    if (all.size() < 2) SKIP_BECAUSE("only one level is built and runs on this CPU");
    for (const Target target : {Target::gfx900, Target::gfx90a}) {
        Machine reference{target, all.front()};
        std::vector<std::unique_ptr<Machine>> others;
        for (std::size_t n = 1; n < all.size(); ++n) others.push_back(std::make_unique<Machine>(target, all[n]));
        for (const Row& row : rows()) {
            if (!row.on(target) || !is_vector(row.format)) continue;
            u64 seed = row.opcodes.gfx9.number * 1000u + static_cast<u64>(row.format);
            for (const Words& words : samples(row, target)) {
                ++seed;
                fill(reference, seed);
                const Stop stop = reference.run(words);
                for (std::size_t n = 0; n < others.size(); ++n) {
                    INFO(row.name << " " << std::hex << words[0] << " " << words.back() << " on " << name(all[n + 1]));
                    fill(*others[n], seed);
                    CHECK(others[n]->run(words) == stop);
                    CHECK(std::memcmp(others[n]->wave().v, reference.wave().v, 256 * 256) == 0);
                    CHECK(std::memcmp(others[n]->wave().s, reference.wave().s, sizeof reference.wave().s) == 0);
                }
            }
        }
    }
}

namespace {

/// Numbers of every size and sign as both floats and doubles, small integers and zeros; no NaN.
u32 number(u64& state) {
    constexpr u32 edges[] = {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7fefffff, 0x3f800000};
    const u64 r = next_random(state);
    if (r % 8 == 0) return edges[(r >> 8) % (sizeof edges / sizeof *edges)];
    if (r % 8 == 1) return static_cast<u32>(r >> 8) % 128;
    const u32 noise = static_cast<u32>(next_random(state)), exponent = 100 + noise % 56;
    return (noise & 0x807fffff) | exponent << 23;
}

void fill_numbers(Machine& m, u64 seed, bool some_nan) {
    constexpr u32 modes[] = {0x2f0, 0x200, 0x0f5, 0x2ca, 0x030};
    set_mode(m.wave(), modes[seed % (sizeof modes / sizeof *modes)]);
    u64 state = seed;
    for (unsigned n = 0; n < 256 * 64; ++n) m.wave().v[n] = number(state);
    for (unsigned n = 0; n < 108; ++n) m.wave().s[n] = number(state);
    for (unsigned n = 0; some_nan && n < 256; ++n)
        m.lane(n, static_cast<unsigned>(next_random(state) % 64)) = 0x7fa00001;
    m.exec(seed % 3 ? kAll : next_random(state));
}

}  // namespace

TEST_CASE("a level that is not built is refused by name, and never the best", "[isa][levels]") {
    CHECK(no_level_message().empty());
    CHECK(supported(best_level()));
    unsigned missing = 0;
    for (const Level level : {Level::V2, Level::V3, Level::V4}) {
        const auto built = built_levels();
        if (std::find(built.begin(), built.end(), level) != built.end()) continue;
        ++missing;
        CHECK_FALSE(supported(level));
        CHECK_THROWS_WITH(handlers(level), test_support::Contains(name(level)));
    }
    if (missing == 0) SKIP_BECAUSE("every level is built");
}

TEST_CASE("a row's plain handler gives the same bits as its general one", "[isa][levels]") {
    unsigned plain = 0;
    for (const Level level : levels()) {
        Machine quick{Target::gfx90a, level}, general{Target::gfx90a, level};
        general.use_general_handlers();
        for (const Row& row : rows()) {
            if (!row.on(Target::gfx90a) || !is_vector(row.format)) continue;
            const Handlers& both = handlers(level);
            const auto index = static_cast<std::size_t>(&row - rows().data());
            if (both.plain[index] == both.general[index]) continue;
            ++plain;
            u64 seed = row.opcodes.gfx9.number * 1000u + static_cast<u64>(row.format);
            for (const Words& words : samples(row, Target::gfx90a)) {
                ++seed;
                fill_numbers(quick, seed, seed % 4 == 0);
                std::memcpy(general.wave().v, quick.wave().v, 256 * 256);
                std::memcpy(general.wave().s, quick.wave().s, sizeof quick.wave().s);
                set_mode(general.wave(), quick.wave().mode);
                INFO(row.name << " " << std::hex << words[0] << " " << words.back() << " on " << name(level));
                CHECK(quick.run(words) == general.run(words));
                CHECK(std::memcmp(quick.wave().v, general.wave().v, 256 * 256) == 0);
                CHECK(std::memcmp(quick.wave().s, general.wave().s, sizeof quick.wave().s) == 0);
            }
        }
    }
    CHECK(plain > 300 * levels().size());
}

TEST_CASE("a row without meaning stops loudly, every other one runs", "[isa][levels]") {
    std::string silent;
    for (const Target target : kTargets) {
        const unsigned width = traits_of(target).wave32 && is_built(32) ? 32 : kMostLanes;
        Machine m{target, best_level(), width};
        for (const Row& row : rows()) {
            if (!row.on(target) || !is_vector(row.format) || (row.format == Format::Vopd && width != 32)) continue;
            const std::vector<Words> all = samples(row, target, width);
            if (all.empty()) continue;
            const Words& words = all.front();
            fill(m, 7);
            const bool runs = m.run(words) == Stop::End;
            const bool unknown_meaning = std::strstr(row.name, "screen_partition");
            INFO(row.name << " on " << kfdemu::isa::name(target));
            if (!unknown_meaning) CHECK(runs);
        }
    }
}
