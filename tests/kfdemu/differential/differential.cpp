#include "tests/kfdemu/differential/differential.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/kfdemu/differential/host_group.hpp"
#include "tests/kfdemu/differential/inputs.hpp"
#include "tests/kfdemu/dispatch/machine.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/turn.hpp"

namespace differential {
namespace {

using Bytes = std::vector<std::byte>;
using dispatch_test::Target;

/// Scratch of a lane, near the limit of a queue (13 bits of KiB per wave), and for the waves of one large group.
constexpr std::uint32_t kStackBytes = 96 * 1024, kWavesAtOnce = 16;
constexpr unsigned kLimitSeconds = 20;  ///< for one kernel, which takes milliseconds

struct Build {
    std::string clang, target, level;
    std::string name() const { return "clang-" + clang + "." + target + "." + level; }
    bool can(const Options& o) const {
        const unsigned long gfx = std::stoul(target.substr(3), nullptr, 16);
        if (std::stoul(clang) < o.from_clang) return false;
        const Options every;
        if (gfx >= 0x1000) return o.from_gfx == every.from_gfx && o.before_gfx == every.before_gfx;
        return gfx >= o.from_gfx && gfx < o.before_gfx;
    }
};

WaveShape shape_of(const Build& build) {
    const bool either = build.target.starts_with("gfx1"), wide = !either || build.target.ends_with("w64");
    const bool in_halves = either && !build.target.starts_with("gfx12");  // moves of ds_bpermute_b32
    return {wide ? 64u : 32u, in_halves || !wide ? 32u : 64u};
}

struct Builds {
    std::string folder;
    std::vector<Build> all;
    std::map<std::string, std::string> targets;  ///< of units that not all have

    std::vector<Build> of(const Case& test) const {
        const auto narrowed = targets.find(test.unit);
        std::vector<Build> result;
        for (const Build& build : all)
            if (build.can(test.options) &&
                (narrowed == targets.end() || narrowed->second.find(build.target) != std::string::npos))
                result.push_back(build);
        return result;
    }
};

/// "folder: 19.gfx90a.O2 … UNIT=gfx90a …"
Builds read_builds(const std::string& text) {
    const std::size_t colon = text.find(": ");
    Builds builds{text.substr(0, colon), {}, {}};
    std::istringstream words{colon == std::string::npos ? "" : text.substr(colon + 2)};
    for (std::string word; words >> word;) {
        if (const std::size_t equals = word.find('='); equals != std::string::npos) {
            builds.targets[word.substr(0, equals)] = word.substr(equals + 1);
            continue;
        }
        const std::size_t first = word.find('.'), last = word.rfind('.');
        if (first == last) throw std::runtime_error{"KFDEMU_DIFFERENTIAL: \"" + word + "\" is no CLANG.TARGET.LEVEL"};
        builds.all.push_back({word.substr(0, first), word.substr(first + 1, last - first - 1), word.substr(last + 1)});
    }
    if (builds.all.empty()) throw std::runtime_error{"KFDEMU_DIFFERENTIAL names no code objects: \"" + text + "\""};
    return builds;
}

const Builds& builds() {
    static const Builds the_builds = [] {
        const char* text = std::getenv("KFDEMU_DIFFERENTIAL");
        if (text == nullptr) throw std::runtime_error{"KFDEMU_DIFFERENTIAL names no code objects: see matrix.sh"};
        return read_builds(text);
    }();
    return the_builds;
}

std::vector<std::uint64_t> seeds() {
    const char* text = std::getenv("KFDEMU_DIFFERENTIAL_SEEDS");
    std::istringstream words{text != nullptr ? text : "1"};
    std::vector<std::uint64_t> result;
    for (std::uint64_t seed; words >> seed;) result.push_back(seed);
    return result;
}

Target target_named(const std::string& name) {
    for (Target target : kfdemu::isa::kTargets)
        if (name.substr(0, name.find('w')) == kfdemu::isa::name(target)) return target;
    throw std::runtime_error{"KFDEMU_DIFFERENTIAL: no target " + name};
}

Extent grid_of(const Options& o) { return o.grid[0] != 0 ? o.grid : Extent{o.items, 1, 1}; }
Extent groups_of(const Options& o) { return o.grid[0] != 0 ? o.groups : Extent{o.group, 1, 1}; }
std::uint32_t items_of(const Options& o) {
    const Extent grid = grid_of(o);
    return grid[0] * grid[1] * grid[2];
}

struct Arrays {
    Bytes a, b, out;
};

Arrays arrays_of(const Case& test, std::uint64_t seed) {
    const Options& o = test.options;
    const std::size_t items = items_of(o), out = items * o.out;
    return {inputs(test.a, o.a_values, items * o.a, seed * 3), inputs(test.b, o.b_values, items * o.b, seed * 3 + 1),
            o.out_random ? inputs(test.out, Values::Any, out, seed * 3 + 2) : Bytes(out * bytes_of(test.out))};
}

Bytes on_host(const Case& test, Arrays arrays) {
    const Options& o = test.options;
    HostGroup::run_grid(grid_of(o), groups_of(o),
                        [&] { test.twin(arrays.a.data(), arrays.b.data(), arrays.out.data(), items_of(o)); });
    return arrays.out;
}

/// The device's `out`; empty if it did not finish, which has been reported.
Bytes on_device(const Case& test, const dispatch_test::CodeObject& code, const Arrays& arrays,
                const std::string& where) {
    const Options& o = test.options;
    dispatch_test::Machine& gpu = code.machine();
    std::byte* out = gpu.copy(arrays.out);
    const Extent grid = grid_of(o), groups = groups_of(o);
    const auto outcome = code.try_launch(test.kernel,
                                         {.grid = {grid.begin(), grid.end()},
                                          .group = {groups.begin(), groups.end()},
                                          .lds_bytes = o.lds_bytes,
                                          .stack_bytes = o.stack_bytes,
                                          .limit_seconds = kLimitSeconds},
                                         gpu.copy(arrays.a), gpu.copy(arrays.b), out, items_of(o));
    if (outcome.state == kfdemu::Dispatch::State::Finished) return Bytes(out, out + arrays.out.size());
    if (outcome.state == kfdemu::Dispatch::State::Aborted)
        FAIL_CHECK(where << ": not at its end after " << kLimitSeconds << " s");
    else
        FAIL_CHECK(where << ": " << kfdemu::describe(outcome.fault));
    return {};
}

std::uint64_t element(const Bytes& from, std::size_t index, std::size_t bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from.data() + index * bytes, bytes);
    return bits;
}

bool is_nan(Kind kind, std::uint64_t bits) {
    switch (kind) {
        case Kind::F16:
            return (bits & 0x7fff) > 0x7c00;
        case Kind::F32:
            return (bits & 0x7fffffff) > 0x7f800000;
        case Kind::F64:
            return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
        default:
            return false;
    }
}

bool equal(const Case& test, std::uint64_t x, std::uint64_t y) {
    if (x == y) return true;
    if (is_nan(test.out, x) || is_nan(test.out, y)) return is_nan(test.out, x) && is_nan(test.out, y);
    if (test.options.ulps == 0) return false;
    // As many steps from zero, up or down.
    const std::uint64_t sign = std::uint64_t{1} << (bytes_of(test.out) * 8 - 1);
    const std::uint64_t p = x & (sign - 1), q = y & (sign - 1);
    return ((x ^ y) & sign ? p + q : p > q ? p - q : q - p) <= test.options.ulps;
}

void compare(const Case& test, const Bytes& expected, const Bytes& got, const std::string& where) {
    const std::size_t bytes = bytes_of(test.out), count = expected.size() / bytes;
    std::size_t differ = 0, first = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (!equal(test, element(expected, i, bytes), element(got, i, bytes)) && differ++ == 0) first = i;
    if (differ == 0) return;
    char values[128];
    std::snprintf(values, sizeof values, "expected 0x%0*" PRIx64 ", got 0x%0*" PRIx64, int(bytes * 2),
                  element(expected, first, bytes), int(bytes * 2), element(got, first, bytes));
    FAIL_CHECK(where << ": " << differ << " of " << count << " elements differ, first [" << first << "]: " << values);
}

using kfdemu::isa::Level;

struct Expectations {
    std::vector<std::uint64_t> seeds;
    std::vector<Arrays> arrays;
    std::vector<Bytes> results;
};

/// Of the twin in waves like the build's.
const Expectations& expectations(const Case& test, const Build& build) {
    static std::string of;
    static Expectations expected;
    if (of == test.kernel && wave_shape == shape_of(build)) return expected;
    of = test.kernel;
    wave_shape = shape_of(build);
    expected = {seeds(), {}, {}};
    REQUIRE_FALSE(expected.seeds.empty());
    for (std::uint64_t seed : expected.seeds) {
        expected.arrays.push_back(arrays_of(test, seed));
        expected.results.push_back(on_host(test, expected.arrays.back()));
        // A kernel without output would always agree.
        REQUIRE(expected.results.back() != expected.arrays.back().out);
    }
    return expected;
}

void check_build(const Case& test, const Build& build, Level x86, const Expectations& expected) {
    const std::uint32_t waves = kWavesAtOnce * kfdemu::isa::kMostLanes / shape_of(build).lanes;
    dispatch_test::Machine gpu{target_named(build.target), kStackBytes, waves, x86};
    const auto code = gpu.load_file(builds().folder + "/" + test.unit + "." + build.name() + ".hsaco");
    for (std::size_t n = 0; n < expected.seeds.size(); ++n) {
        std::ostringstream where;
        where << test.kernel << " (" << test.unit << "), " << build.target << ", -" << build.level << ", clang-"
              << build.clang << ", seed " << expected.seeds[n] << ", on x86-64-v" << static_cast<int>(x86) + 2;
        const Bytes got = on_device(test, code, expected.arrays[n], where.str());
        if (!got.empty()) compare(test, expected.results[n], got, where.str());
    }
}

}  // namespace

std::size_t bytes_of(Kind kind) {
    switch (kind) {
        case Kind::U8:
        case Kind::I8:
            return 1;
        case Kind::U16:
        case Kind::I16:
        case Kind::F16:
            return 2;
        case Kind::U32:
        case Kind::I32:
        case Kind::F32:
            return 4;
        default:
            return 8;
    }
}

void check(const Case& test) {
    const std::vector<Build> able = builds().of(test);
    if (able.empty()) SKIP_BECAUSE("no code object of it for any of these targets and compilers");
    if (test_support::sanitizer && !test_support::has_turn(std::hash<std::string>{}(test.kernel), 4))
        SKIP_BECAUSE("with sanitizers a quarter of the kernels takes minutes, and other turns have the others");
    const Level best = kfdemu::isa::best_level();
    for (const Build& build : able) check_build(test, build, best, expectations(test, build));
    // The executors of each x86 level of this CPU are compiled separately.
    for (Level x86 : {Level::V2, Level::V3, Level::V4})
        if (kfdemu::isa::supported(x86) && x86 != best)
            check_build(test, able.back(), x86, expectations(test, able.back()));
}

}  // namespace differential
