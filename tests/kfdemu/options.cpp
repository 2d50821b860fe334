#include "tools/kfdemu/base/options.hpp"

#include "tests/support/catch.hpp"
#include "tools/kfdemu/base/topology.hpp"

using namespace kfdemu;

namespace {
Options parsed_options(std::string_view text) {
    auto result = parse_options(text);
    INFO((std::holds_alternative<std::string>(result) ? std::get<std::string>(result) : ""));
    REQUIRE(std::holds_alternative<Options>(result));
    return std::get<Options>(result);
}
std::string refused(std::string_view text) {
    auto result = parse_options(text);
    REQUIRE(std::holds_alternative<std::string>(result));
    return std::get<std::string>(result);
}
}  // namespace

TEST_CASE("an empty KFDEMU emulates one gfx90a if there is no real device", "[kfdemu][options]") {
    const Options options = parsed_options("");
    CHECK(options.mode == Mode::automatic);
    CHECK(options.model == "gfx90a");
    CHECK(options.gpus == 1);
    CHECK(options.partition == Partition::spx);
    CHECK(make_topology(options).gpus.front().vram_bytes == std::uint64_t{8} << 30);
}

TEST_CASE("every option of KFDEMU is read, and written back the same", "[kfdemu][options]") {
    const Options options =
        parsed_options("on,gpu=gfx900,gpus=2,partition=cpx,vram=512M,vram-access=private,kfd=0.9,workers=3,log=debug");
    CHECK(options.mode == Mode::on);
    CHECK(options.model == "gfx900");
    CHECK(options.gpus == 2);
    CHECK(options.partition == Partition::cpx);
    CHECK(options.vram_bytes == 512u << 20);
    CHECK(options.private_vram());
    CHECK(options.kfd_major == 0);
    CHECK(options.kfd_minor == 9);
    CHECK(options.workers == 3);
    CHECK(options.jit);
    CHECK_FALSE(parsed_options("on,jit=off").jit);
    CHECK(parsed_options("on,jit=off,jit=on").jit);
    CHECK(parsed_options("on").waits_sleep);
    CHECK_FALSE(parsed_options("on,waits=spin").waits_sleep);
    CHECK(options.log == LogLevel::debug);
    CHECK(to_string(parsed_options(to_string(options))) == to_string(options));
}

TEST_CASE("checks are named one by one, joined or all at once", "[kfdemu][options]") {
    CHECK_FALSE(parsed_options("on").checks.any());
    CHECK(parsed_options("check").checks == Checks::cheap());
    CHECK(parsed_options("check=cheap").checks == Checks::cheap());
    CHECK_FALSE(Checks::cheap().has(Check::race));
    CHECK_FALSE(Checks::cheap().has(Check::lds_race));
    CHECK(parsed_options("check=cheap+lds-race").checks.has(Check::wait));
    CHECK(parsed_options("check=race").checks.has(Check::lds_race));
    CHECK_FALSE(Checks::cheap().has(Check::init));
    CHECK(parsed_options("check=all").checks == Checks::all());
    const Options options = parsed_options("check=wait,check-report=/tmp/found.json");
    CHECK(options.checks.has(Check::wait));
    CHECK(options.check_report == "/tmp/found.json");
    CHECK(options.check_limit == 100);
    CHECK_FALSE(options.check_stop);
    CHECK(to_string(parsed_options(to_string(options))) == to_string(options));
}

TEST_CASE("suppression files, the limit and the stop are options", "[kfdemu][options]") {
    const Options options = parsed_options("check,suppress=/tmp/a,suppress=/tmp/b,check-limit=7,check-stop");
    CHECK(options.suppressions == std::vector<std::string>{"/tmp/a", "/tmp/b"});
    CHECK(options.check_limit == 7);
    CHECK(options.check_stop);
    CHECK(to_string(parsed_options(to_string(options))) == to_string(options));
}

TEST_CASE("an invalid KFDEMU is refused with the valid choices", "[kfdemu][options]") {
    using test_support::Contains;
    CHECK_THAT(refused("yes"), Contains("auto, on, off"));
    CHECK_THAT(refused("gpu=gfx1200"), Contains("gfx90a"));
    CHECK_THAT(refused("gpus=0"), Contains("1 to 8"));
    CHECK_THAT(refused("gpus=9"), Contains("1 to 8"));
    CHECK_THAT(refused("vram=lots"), Contains("such as 8G"));
    CHECK_THAT(refused("vram=1M"), Contains("64M"));
    CHECK_THAT(refused("vram-access=maybe"), Contains("host or private"));
    CHECK_THAT(refused("vram-access=private,gpu=gfx1151"), Contains("gfx1151 is an APU"));
    CHECK_FALSE(parsed_options("strict,gpu=gfx1151").private_vram());
    for (const char* version : {"kfd=1", "kfd=.", "kfd=1.x"}) CHECK_THAT(refused(version), Contains("such as 1.15"));
    CHECK_THAT(refused("jit=maybe"), Contains("expected on or off"));
    CHECK_THAT(refused("waits=long"), Contains("expected sleep or spin"));
    CHECK_THAT(refused("log=loud"), Contains("debug"));
    CHECK_THAT(refused("check=speed"), Contains("'speed' is not a check; the names are all, cheap, "));
    CHECK_THAT(refused("check-report=/tmp/found.json"), Contains("nothing is checked; add check or check=NAME"));
    CHECK_THAT(refused("check-report="), Contains("the name of a file"));
    CHECK_THAT(refused("suppress="), Contains("the name of a file"));
    CHECK_THAT(refused("counters="), Contains("the name of a file"));
    CHECK_THAT(refused("check-limit=many"), Contains("a number"));
    CHECK_THAT(refused("speed=9"), Contains("no such option"));
}

TEST_CASE("the file of counters is an option", "[kfdemu][options]") {
    CHECK(parsed_options("on").counters.empty());
    const Options options = parsed_options(R"(on,counters=/tmp/a\,b.json)");
    CHECK(options.counters == "/tmp/a,b.json");
    CHECK(parsed_options(to_string(options)).counters == options.counters);
}

TEST_CASE("a backslash takes a comma into a file's name", "[kfdemu][options]") {
    const Options options = parsed_options(R"(check,check-report=/tmp/a\,b\\c,suppress=/d\,e)");
    CHECK(options.check_report == R"(/tmp/a,b\c)");
    REQUIRE(options.suppressions.size() == 1);
    CHECK(options.suppressions[0] == "/d,e");
    CHECK(parsed_options(to_string(options)).check_report == options.check_report);
}

TEST_CASE("sizes have units of 1024 and do not overflow", "[kfdemu][options]") {
    std::uint64_t bytes = 0;
    CHECK((parse_size("0", bytes) && bytes == 0));
    CHECK((parse_size("3K", bytes) && bytes == 3072));
    CHECK((parse_size("16777215T", bytes) && bytes == std::uint64_t{16777215} << 40));
    CHECK_FALSE(parse_size("16777216T", bytes));
    CHECK_FALSE(parse_size("", bytes));
    CHECK_FALSE(parse_size("G", bytes));
    CHECK_FALSE(parse_size("-1", bytes));
    CHECK_FALSE(parse_size("8GB", bytes));
}
