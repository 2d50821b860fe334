// The report: folding, text, JSON, summary.
#include "tests/kfdemu/check/checked.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

using namespace check_test;
using test_support::Contains;

TEST_CASE("a finding that repeats is printed once and counted", "[check][report]") {
    std::vector<std::string> printed;
    kfdemu::check::Report report{[&](const std::string& text) { printed.push_back(text); }};
    kfdemu::isa::Inst inst{};
    inst.pc = 0x1000;
    for (int n = 0; n < 3; ++n)
        if (report.is_new(Check::wait, "read-before-wait", inst)) {
            Finding finding;
            finding.rule = "read-before-wait";
            finding.what = "v1 is read";
            finding.at = {0x1000, 0, "v_mov_b32_e32 v0, v1", {}, {}};
            report.add(finding);
        }
    REQUIRE(printed.size() == 1);
    REQUIRE(report.distinct() == 1);
    REQUIRE(report.occurrences() == 3);
    REQUIRE(report.findings().front().count == 3);
    kfdemu::Checks checks;
    checks.set(Check::wait);
    REQUIRE(report.summary(checks).find("1 finding\n    wait, 3 times: v1 is read at v_mov_b32_e32 v0, v1") !=
            std::string::npos);
}

TEST_CASE("a stack tells once of a stripped library's own functions in a row", "[check][report]") {
    using Frame = kfdemu::check::HostFrame;
    const Frame own{{}, "libstripped.so"}, exported{{"exported", "", 0}, "libstripped.so"},
        user{{"main", "", 0}, "user"};
    Finding finding;
    finding.stacks = {{"allocated", {own, own, exported, own, own, own, user}, 0}};
    CHECK_THAT(kfdemu::check::to_text(finding), Contains("    allocated at unknown code, libstripped.so\n"
                                                         "        from exported, libstripped.so\n"
                                                         "        from unknown code, libstripped.so\n"
                                                         "        from main, user\n"));
    finding.stacks = {{"allocated", {user, user, user}, 0}};  // calls itself
    CHECK_THAT(kfdemu::check::to_text(finding), Contains("        from main, user\n        from main, user\n"));
}

TEST_CASE("the summary says what was checked although nothing was found", "[check][report]") {
    kfdemu::check::Report report;
    report.coverage.dispatches += 2;
    kfdemu::Checks checks;
    checks.set(Check::wait);
    REQUIRE(report.summary(checks) == "check: wait in 2 kernels, 0 waves, 0 instructions: nothing found\n");
}

TEST_CASE("JSON escapes text and leaves out what a finding has not", "[check][report]") {
    Finding finding;
    finding.rule = "read-before-wait";
    finding.what = "a \"quoted\"\nline";
    finding.at = {0xfedcba9876543210, 0, "v_nop", "kernel", {{"f", "a\\b.cpp", 7}}};
    const std::string json = kfdemu::check::to_json({{finding}, {}, {}}, {}, {});
    REQUIRE(json.find(R"("what": "a \"quoted\"\u000aline")") != std::string::npos);
    REQUIRE(json.find(R"("pc": "0xfedcba9876543210")") != std::string::npos);
    REQUIRE(json.find(R"("source": [{"function": "f", "file": "a\\b.cpp", "line": 7}])") != std::string::npos);
    REQUIRE(json.find("lane") == std::string::npos);
    REQUIRE(json.find("address") == std::string::npos);
}

TEST_CASE("JSON is UTF-8, whatever bytes names have", "[check][report]") {
    const struct {
        const char *name, *quoted;
    } rows[] = {
        {"gr\xc3\xb6\xc3\x9f"
         "e",
         "\"gr\xc3\xb6\xc3\x9f"
         "e\""},  // two bytes each
        {"\xe2\x82\xac", "\"\xe2\x82\xac\""},
        {"\xf0\x9d\x84\x9e", "\"\xf0\x9d\x84\x9e\""},
        {"bad\xffname", R"("bad\ufffdname")"},
        {"cut\xe2\x82", R"("cut\ufffd\ufffd")"},
        {"\xc0\xaf", R"("\ufffd\ufffd")"},            // longer than needed
        {"\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},  // a surrogate
    };
    for (const auto& row : rows) {
        Finding finding;
        finding.what = row.name;
        const std::string json = kfdemu::check::to_json({{finding}, {}, {}}, {}, {});
        INFO(json);
        CHECK(json.find(std::string{"\"what\": "} + row.quoted) != std::string::npos);
    }
}

TEST_CASE("a finding names instruction, lane, wave and work-group", "[check][report]") {
    Checked gpu{targets().back(), Check::wait};
    require_finished(run_defect(gpu, gpu.load("wait"), "global_load"), "global_load");
    const std::string text = gpu.text();
    INFO(text);
    const bool split = kfdemu::isa::traits_of(gpu.variant).split_counters;
    const std::string missing = split ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)";
    REQUIRE(text.find("check wait: v1 is read while a load may still write v1: " + missing + " is missing\n") == 0);
    REQUIRE(text.find(": " + spelled(gpu.variant, "v_add_u32_e32 v2, 1, v1") + "\n") != std::string::npos);
    REQUIRE(text.find("lane 0 of wave 0 of work-group (0, 0, 0)") != std::string::npos);
    REQUIRE(text.find("the load 0x") != std::string::npos);
}
