// hsadrv bench's parts that are functions of values: sizes, statistics, turns, options.
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tools/common/failure.hpp"
#include "tools/hsadrv/bench/copy_direction.hpp"
#include "tools/hsadrv/bench/instructions.hpp"
#include "tools/hsadrv/bench/options.hpp"
#include "tools/hsadrv/bench/run.hpp"
#include "tools/hsadrv/bench/sampler.hpp"
#include "tools/hsadrv/bench/sizes.hpp"
#include "tools/hsadrv/bench/statistics.hpp"

namespace hsadrv_bench {

using hsadrv_tool::Terminal;
using test_support::Contains;

namespace {

using Sizes = std::vector<std::uint64_t>;

std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const tools::Failure& failure) {
        CHECK(failure.status() == 2);
        return failure.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("sizes are numbers, units, lists and ranges", "[bench]") {
    CHECK(parse_sizes("100") == Sizes{100});
    CHECK(parse_sizes("4K,1m,2GiB,3TB") == Sizes{4096, 1 << 20, 2ull << 30, 3ull << 40});
    CHECK(parse_sizes("4K..64K") == Sizes{4096, 16384, 65536});
    CHECK(parse_sizes("4K..40K") == Sizes{4096, 16384, 40960});
    CHECK(parse_sizes("1..10*3") == Sizes{1, 3, 9, 10});
    CHECK(parse_sizes("7..7") == Sizes{7});
    CHECK(parse_sizes("64K,4K..64K,4K") == Sizes{65536, 4096, 16384});
    CHECK(parse_sizes("4611686018427387904..18446744073709551615") == Sizes{1ull << 62, UINT64_MAX});
}

TEST_CASE("invalid sizes are refused with the reason", "[bench]") {
    struct Refused {
        const char *text, *why;
    };
    const Refused rows[] = {
        {"", "'': a size is a number"},
        {"4K,", "'': a size is a number"},
        {"0", "a size of zero"},
        {"0..4K", "a size of zero"},
        {"3..1", "'3..1': the range ends before it begins"},
        {"4X", "'4X': a size is a number"},
        {"4KB2", "a size is a number"},
        {"-4", "a size is a number"},
        {"1.5M", "a size is a number"},
        {"4K..", "a size is a number"},
        {"1..9*1", "2 or more"},
        {"1..9*x", "2 or more"},
        {"99999999999999999999", "no memory has so many bytes"},
        {"99999999T", "no memory has so many bytes"},
    };
    for (const Refused& row : rows) {
        CAPTURE(row.text);
        CHECK_THAT(refusal([&] { parse_sizes(row.text); }), Contains(row.why));
    }
    CHECK_THAT(refusal([] { parse_sizes("4X", "--size"); }), Contains("--size: '4X'"));
}

TEST_CASE("a size is printed in its unit", "[bench]") {
    CHECK(size_text(100) == "100 B");
    CHECK(size_text(4096) == "4 KiB");
    CHECK(size_text(3 << 19) == "1.5 MiB");
    CHECK(size_text(5ull << 40) == "5 TiB");
}

TEST_CASE("percentiles lie between samples in proportion", "[bench]") {
    const Summary summary = summarize({5, 1, 4, 2, 3});
    CHECK(summary.median == 3);
    CHECK(summary.p5 == Approx(1.2));
    CHECK(summary.p95 == Approx(4.8));
    CHECK(summary.samples == 5);
    CHECK(summarize({7}).p95 == 7);
    CHECK(summarize({1, 2}).median == 1.5);
    CHECK(summarize({}).samples == 0);
}

TEST_CASE("the slow end of the times is the low end of the rates", "[bench]") {
    const Summary rate = rate_of(1000, {10, 5, 20, 21});
    CHECK(rate.median == Approx(1e11));
    CHECK(rate.p5 == Approx(5e10));
    CHECK(rate.p95 == Approx(2e11));
}

TEST_CASE("cases run in turns, forward and backward, after warm-ups, and are verified at the end", "[bench]") {
    std::string order;
    std::vector<Case> cases;
    for (const char* name : {"a", "b", "c"}) {
        Case one;
        one.row.name = name;
        one.sample = [&order, name] { return order += name, 1.0; };
        one.verify = [&order, name]() -> std::optional<Mismatch> {
            order += '(' + std::string(name) + ')';
            if (name[0] == 'b') return Mismatch{"there", "1", "2"};
            return std::nullopt;
        };
        cases.push_back(one);
    }
    const std::vector<Row> rows = measure(cases, {.warmup = 1, .samples = 2}, [](const Row&, Stage) {});
    CHECK(order == "abcabccba(a)(b)(c)");
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].time_ns.samples == 2);
    CHECK(!rows[0].mismatch);
    REQUIRE(rows[1].mismatch);
    CHECK(rows[1].mismatch->got == "1");
}

TEST_CASE("a case that exceeds its time gets five samples, the others all", "[bench]") {
    std::vector<Case> cases(2);
    cases[0].sample = [] {
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
        while (std::chrono::steady_clock::now() < until) {
        }
        return 2e6;
    };
    cases[1].sample = [] { return 1.0; };
    for (Case& one : cases) one.verify = [] { return std::optional<Mismatch>(); };
    const std::vector<Row> rows =
        measure(cases, {.warmup = 0, .samples = 30, .seconds = 0.001}, [](const Row&, Stage) {});
    CHECK(rows[0].time_ns.samples == Sampling::least_samples);
    CHECK(rows[1].time_ns.samples > Sampling::least_samples);
}

TEST_CASE("the function called between samples may end the run", "[bench]") {
    std::vector<Case> cases(1);
    int samples = 0;
    cases[0].sample = [&] { return ++samples, 1.0; };
    cases[0].verify = [] { return std::optional<Mismatch>(); };
    CHECK_THROWS_AS(measure(cases, {},
                            [&](const Row&, Stage) {
                                if (samples == 4) throw 1;
                            }),
                    int);
    CHECK(samples == 4);
}

TEST_CASE("options that cannot be combined are named", "[bench]") {
    CommonOptions common;
    CHECK(refusal([&] { check(common); }) == "accepted");
    common.csv = common.json = true;
    CHECK_THAT(refusal([&] { check(common); }), Contains("--csv and --json cannot be combined"));
    common.json = false, common.plot = true;
    CHECK_THAT(refusal([&] { check(common); }), Contains("--csv and --plot cannot be combined"));
    common.csv = false, common.json = true;
    CHECK_THAT(refusal([&] { check(common); }), Contains("--json and --plot cannot be combined"));

    CopyOptions copy;
    copy.engine = "all", copy.directions = {"to-device", "pageable-to-device"};
    CHECK_THAT(refusal([&] { check(copy); }),
               Contains("--engine all and --direction pageable-to-device cannot be combined"));
    copy.engine = "auto";
    CHECK(refusal([&] { check(copy); }) == "accepted");
    copy.directions = {"sideways"};
    CHECK_THAT(refusal([&] { check(copy); }),
               Contains("--direction sideways: unknown; expected one of host, to-device"));
    LaunchOptions launch;
    launch.instructions = true, launch.counted = "raw";
    CHECK_THAT(refusal([&] { check(launch); }), Contains("--instructions and --counted"));
}

TEST_CASE("numbers out of range are refused with the range", "[bench]") {
    const auto with = [](auto change) {
        LaunchOptions options;
        change(options);
        return refusal([&] { check(options); });
    };
    CHECK_THAT(with([](auto& o) { o.sampling.samples = 0; }), Contains("--samples 0"));
    CHECK_THAT(with([](auto& o) { o.sampling.samples = 2'000'000; }),
               Contains("--samples 2e+06: not from 1 to 1000000"));
    CHECK_THAT(with([](auto& o) { o.sampling.seconds = 0; }), Contains("--seconds 0: not from 0.001"));
    CHECK_THAT(with([](auto& o) { o.sampling.seconds = NAN; }), Contains("--seconds nan"));
    CHECK_THAT(with([](auto& o) { o.timeout_seconds = -1; }), Contains("--timeout -1"));
    CHECK_THAT(with([](auto& o) { o.batch = 513; }), Contains("--batch 513: not from 1 to 512"));
    CHECK_THAT(refusal([] { parse_engine("fast"); }), Contains("--engine fast: auto, all or a number"));
    CHECK_THAT(refusal([] { parse_engine("32"); }), Contains("--engine 32"));
    CHECK(parse_engine("7").number == 7);
}

TEST_CASE("the first byte that differs is named", "[bench]") {
    std::vector<unsigned char> got(1000), wanted(1000);
    fill_pattern(got.data(), got.size(), 1);
    fill_pattern(wanted.data(), wanted.size(), 1);
    CHECK(!compare("memory", got.data(), wanted.data(), 1000));
    wanted[999] = static_cast<unsigned char>(got[999] + 1);
    const auto wrong = compare("memory", got.data(), wanted.data(), 1000);
    REQUIRE(wrong);
    CHECK(wrong->where == "memory, byte 999 of 1000");
    CHECK(wrong->got != wrong->wanted);
    fill_pattern(wanted.data(), wanted.size(), 2);
    CHECK(compare("memory", got.data(), wanted.data(), 1000)->where == "memory, byte 0 of 1000");
}

TEST_CASE("callgrind's totals are found in its output", "[bench]") {
    CHECK(instructions_in("events: Ir\nfn=(1)\n12 3\nsummary: 1200\ntotals: 24064\n") == 24064);
    CHECK(instructions_in("events: Ir\n") == 0);
}

}  // namespace hsadrv_bench
