// Suppressions, limits and stops of the report.
#include "tests/kfdemu/check/checked.hpp"

#include "tools/kfdemu/check/report/suppressions.hpp"

using namespace check_test;
using kfdemu::check::Report;
using kfdemu::check::Suppressions;
using test_support::Contains;

namespace {

Finding at(std::uint64_t pc, const std::string& function = "late", const std::string& file = "/src/late.cpp") {
    Finding finding;
    finding.rule = "read-before-wait";
    finding.what = "v1 is read";
    finding.at = {pc, 0, "v_mov_b32_e32 v0, v1", function, {{"load_late", file, 6}, {function, file, 18}}};
    return finding;
}

kfdemu::isa::Inst inst_at(std::uint64_t pc) {
    kfdemu::isa::Inst inst{};
    inst.pc = pc;
    return inst;
}

void report_once(Report& report, const Finding& finding) {
    if (report.is_new(finding.check, finding.rule, inst_at(finding.at.pc))) report.add(finding);
}

bool suppresses(const std::string& line, const Finding& finding) {
    Suppressions list;
    INFO(line);
    REQUIRE(list.add(line).empty());
    return list.match(finding);
}

}  // namespace

TEST_CASE("a suppression names a check and a function or file", "[check][suppress]") {
    const Finding finding = at(0x1000);
    for (const char* line : {"wait:late", "wait:l?te", "wait:load_*", "wait:*/late.cpp", "*:late", "wait : late # why",
                             "memory+wait:late", "wait:*", "\twait:late\r"})
        CHECK(suppresses(line, finding));
    for (const char* line : {"memory:late", "wait:lat", "wait:Late", "wait:late.cpp", "wait:late_*"})
        CHECK_FALSE(suppresses(line, finding));
    CHECK(suppresses("wait:void work<int>(*", at(0x1000, "_Z4workIiEvPT_")));
    CHECK(suppresses("wait:*", Finding{}));
    CHECK_FALSE(suppresses("wait:?*", Finding{}));
}

TEST_CASE("a wrong line is an error with its file and line, and the others hold", "[check][suppress]") {
    Suppressions list;
    const auto errors = list.add_lines("# comment\n\nspeed:late\nwait\nwait:\nwait:late\n  # another", "my.supp");
    REQUIRE(errors.size() == 3);
    CHECK_THAT(errors[0], Contains("my.supp:3: 'speed' is not a check; the names are all, cheap, memory"));
    CHECK_THAT(errors[1], Contains("my.supp:4: 'wait': expected CHECK:PATTERN"));
    CHECK_THAT(errors[2], Contains("my.supp:5: 'wait:': no pattern follows the colon"));
    CHECK(list.match(at(0x1000)));
}

TEST_CASE("suppressed findings are neither printed nor kept, but counted", "[check][suppress]") {
    std::vector<std::string> printed;
    Report report{[&](const std::string& text) { printed.push_back(text); }};
    REQUIRE(report.suppress("wait:late").empty());
    CHECK_THAT(report.suppress("wait"), Contains("expected CHECK:PATTERN"));
    for (int n = 0; n < 3; ++n) report_once(report, at(0x1000));
    CHECK(report.distinct() == 0);
    CHECK(report.occurrences() == 0);
    CHECK_THAT(report.summary({}), Contains("nothing found, 1 suppressed\n"));
    report_once(report, at(0x2000, "other"));
    CHECK(report.distinct() == 1);
    CHECK(printed.size() == 1);
    CHECK_THAT(report.summary({}), Contains("1 finding, 1 suppressed\n"));
}

TEST_CASE("beyond the limit, findings are counted only", "[check][report]") {
    std::vector<std::string> printed;
    Report report{[&](const std::string& text) { printed.push_back(text); }};
    report.set_limit(2);
    for (std::uint64_t pc = 1; pc <= 5; ++pc) report_once(report, at(pc));
    REQUIRE(printed.size() == 3);
    CHECK(printed[2] == "check: more than 2 findings: further ones are counted only\n");
    CHECK(report.findings().size() == 2);
    CHECK(report.distinct() == 5);
    CHECK_THAT(report.summary({}), Contains("5 findings\n"));
    CHECK_THAT(report.summary({}), Contains("    3 more are not listed\n"));
}

TEST_CASE("a suppressed finding does not count towards the limit, nor stop", "[check][report]") {
    unsigned stops = 0;
    std::vector<std::string> printed;
    Report report{[&](const std::string& text) { printed.push_back(text); }};
    report.set_stop([&] { ++stops; });
    REQUIRE(report.suppress("wait:late").empty());
    report_once(report, at(1));
    CHECK(stops == 0);
    report_once(report, at(2, "other"));
    CHECK(stops == 1);
    CHECK(printed.size() == 1);
    report_once(report, at(3, "another"));
    CHECK(stops == 1);
    CHECK(printed.size() == 1);
}

TEST_CASE("findings beyond the limit are named only if a suppression may match them", "[check][report]") {
    std::atomic<int> named{0};
    Report report{[](const std::string&) {}, [&](Finding&) { ++named; }};
    report.set_limit(1);
    REQUIRE(report.suppress("leak:*").empty());
    for (std::uint64_t pc = 0x1000; pc < 0x1004; ++pc) {
        Finding finding;
        finding.rule = "read-before-wait";
        finding.at.pc = pc;
        if (report.is_new(Check::wait, finding.rule, inst_at(pc))) report.add(finding);
    }
    report.settle();
    CHECK(report.distinct() == 4);
    CHECK(report.findings().size() == 1);
    CHECK(named == 1);
    REQUIRE(report.suppress("wait:*").empty());
    Finding finding;
    finding.rule = "read-before-wait";
    finding.at.pc = 0x2000;
    if (report.is_new(Check::wait, finding.rule, inst_at(0x2000))) report.add(finding);
    report.settle();
    CHECK(report.totals().suppressed == 1);
    CHECK(named == 2);
}
