// The parts of hsadrv test that are functions of what was read: the journal, the listing, growth, the reports.
#include "tests/conformance/journal.hpp"
#include "tests/support/catch.hpp"
#include "tools/hsadrv/conformance/report.hpp"
#include "tools/hsadrv/conformance/runner.hpp"
#include "tools/hsadrv/conformance/suite.hpp"

#include <algorithm>

using namespace hsadrv_tool;
using test_support::Contains;

namespace {

const char* const journal_text = R"~({"begin":"one","output":0}
{"end":"one","outcome":"passed","reason":"","seconds":0.5,"output":3}
{"begin":"two","output":3}
{"failure":"a.cpp:1: CHECK(x)"}
{"failure":"a.cpp:2: CHECK(y)"}
{"end":"two","outcome":"failed","reason":"","seconds":1,"output":9}
{"begin":"three","output":9}
{"end":"three","outcome":"skipped","reason":"there is one GPU","seconds":0,"output":9}
{"round":4,"resident_kb":1000,"descriptors":9}
)~";

TestReport sample() {
    TestReport report;
    report.device = TestedDevice{1, "gfx90a", "a <GPU> & \"more\"", "GPU-1", "ROCR 1.5"};
    report.started = "2026-01-02T03:04:05Z";
    report.seconds = 75;
    report.tests = {{"memory", "hsadrv/memory.cpp", "good", Outcome::passed, "", 1.5},
                    {"memory", "hsadrv/memory.cpp", "bad", Outcome::failed, "a.cpp:1: CHECK(a < b)\n    with 2 < 1",
                     0.25, "\x1b[31mred\xff\nline"},
                    {"queues", "hsadrv/queue.cpp", "killed", Outcome::crashed,
                     "the suite's program ended with SIGSEGV in the middle of it"},
                    {"queues", "hsadrv/queue.cpp", "slow", Outcome::timed_out, "nothing happened for 3 s"},
                    {"queues", "hsadrv/queue.cpp", "lonely", Outcome::skipped, "there is one GPU"},
                    {"queues", "hsadrv/queue.cpp", "later", Outcome::not_run, "interrupted before it"}};
    return report;
}

}  // namespace

TEST_CASE("a journal has the results of ended test cases") {
    JournalReader reader("", 4);
    reader.take(journal_text);
    REQUIRE(reader.ended().size() == 3);
    CHECK(reader.ended()[0].outcome == Outcome::passed);
    CHECK(reader.ended()[0].output_end == 3);
    CHECK(reader.ended()[1].message == "a.cpp:1: CHECK(x)\na.cpp:2: CHECK(y)");
    CHECK(reader.ended()[1].seed == 4);
    CHECK(reader.ended()[2].message == "there is one GPU");
    CHECK_FALSE(reader.running());
    CHECK(reader.rounds().size() == 1);
    CHECK(reader.seed() == 5);
}

TEST_CASE("a journal may be read at any byte, and may end at any byte") {
    const std::string text = journal_text;
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        CAPTURE(cut);
        JournalReader reader("");
        reader.take(std::string_view(text).substr(0, cut));
        const auto lines =
            static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(cut), '\n'));
        CHECK(reader.running().has_value() == (lines == 1 || (lines >= 3 && lines < 6) || lines == 7));
        reader.take(std::string_view(text).substr(cut));
        CHECK(reader.ended().size() == 3);
    }
}

TEST_CASE("after a signal the running test case is the failed one") {
    JournalReader reader("");
    reader.take(
        "{\"begin\":\"one\",\"output\":0}\n{\"fatal\":\"SIGSEGV at a.cpp:3\"}\n"
        "{\"end\":\"one\",\"outcome\":\"failed\",\"reason\":\"\",\"seconds\":1,\"output\":0}\n");
    REQUIRE(reader.running());
    CHECK(reader.running()->fatal == "SIGSEGV at a.cpp:3");
    CHECK(reader.ended().empty());
}

TEST_CASE("the end of a program is described in words") {
    CHECK(ending_of(3) == "exit status 3");
    CHECK(ending_of(128 + 11) == "SIGSEGV");
    CHECK(ending_of(128 + 6) == "SIGABRT");
    CHECK(ending_of(255) == "exit status 255");
}

TEST_CASE("memory and descriptors that grow between rounds are reported") {
    StressRounds stress;
    CHECK(growth({{0, {1000, 5}}, {1, {9000, 9}}, {2, {99000, 99}}}, stress).empty());  // too few rounds
    CHECK_FALSE(stress.before);
    CHECK(growth({{0, {1000, 5}}, {1, {9000, 9}}, {2, {9100, 9}}, {3, {9200, 9}}}, stress).empty());
    CHECK(stress.before->descriptors == 9);
    CHECK(stress.after->resident_kb == 9200);
    CHECK_THAT(growth({{0, {1000, 5}}, {1, {9000, 9}}, {2, {9100, 9}}, {3, {9200, 11}}}, stress),
               Contains("2 descriptors more than 2 rounds before"));
    CHECK_THAT(growth({{0, {1000, 5}}, {1, {9000, 9}}, {2, {9100, 9}}, {3, {99000, 9}}}, stress),
               Contains("90000 KiB of memory more"));
}

TEST_CASE("a listing is ordered by area and by file, and refused if it is another version's") {
    const auto line = [](const char* area, const char* file, const char* name) {
        return std::string("{\"area\":\"") + area + "\",\"file\":\"" + file + "\",\"name\":\"" + name + "\"}\n";
    };
    const std::string head = "{\"suite\":\"hsadrv\",\"version\":\"" HSADRV_VERSION_TEXT "\"}\n";
    const auto tests = tests_of(head + line("stress", "b.cpp", "1") + line("memory", "a.cpp", "2") +
                                line("memory", "b.cpp", "3") + line("memory", "a.cpp", "4"));
    std::string order;
    for (const TestResult& test : tests) order += test.name;
    CHECK(order == "3241");
    CHECK_THROWS_WITH(tests_of("{\"version\":\"9.9\"}\n"), Contains("of version 9.9"));
    CHECK_THROWS_WITH(tests_of(head + line("cookery", "a.cpp", "1")), Contains("no area 'cookery'"));
    CHECK_THROWS_WITH(tests_of(head), Contains("there are none"));
    CHECK_THROWS_WITH(tests_of("Segmentation fault"), Contains("it printed: Segmentation"));
}

TEST_CASE("the text has areas, reasons, failures and a verdict") {
    const std::string text = as_text(sample(), {});
    CHECK_THAT(text, Contains("conformance of gpu1 gfx90a"));
    CHECK_THAT(text, Contains("memory               1       1        0        0       1.8 s\n"));
    CHECK_THAT(text, Contains("queues               0       2        1        1       0.0 s\n"));
    CHECK_THAT(text, Contains("   1  there is one GPU\n"));
    CHECK_THAT(text, Contains("\nfailed memory: bad\n    a.cpp:1: CHECK(a < b)\n        with 2 < 1\n"));
    CHECK_THAT(text, Contains("\ncrashed queues: killed\n"));
    CHECK_THAT(text, Contains("\nfailed: 3 of 6 tests failed, 1 of them crashed, 1 of them took too long; 1 "
                              "passed, 1 skipped, 1 not run, in 1 min 15 s\n"));
    TestReport interrupted = sample();
    interrupted.interrupted_by = 2;
    CHECK_THAT(as_text(interrupted, {}), Contains("\ninterrupted by SIGINT: 3 of 6 tests failed"));
}

TEST_CASE("the JUnit text escapes characters invalid in XML, and has counts") {
    const std::string xml = as_junit(sample());
    CHECK_THAT(xml, Contains("<testsuites name=\"hsadrv test\" tests=\"6\" failures=\"1\" errors=\"2\" "
                             "skipped=\"2\" time=\"75.000\">"));
    CHECK_THAT(xml, Contains("<testsuite name=\"queues\" tests=\"4\" failures=\"0\" errors=\"2\" skipped=\"2\""));
    CHECK_THAT(xml, Contains("value=\"a &lt;GPU&gt; &amp; &quot;more&quot;\""));
    CHECK_THAT(xml, Contains("<failure type=\"failed\" message=\"a.cpp:1: CHECK(a &lt; b)\">a.cpp:1: CHECK(a "
                             "&lt; b)&#10;    with 2 &lt; 1</failure>"));
    CHECK_THAT(xml, Contains("<system-out>\xef\xbf\xbd[31mred\xef\xbf\xbd&#10;line</system-out>"));
    CHECK_THAT(xml, Contains("<error type=\"crashed\""));
    CHECK_THAT(xml, Contains("<skipped message=\"not run: interrupted before it\"/>"));
}

TEST_CASE("multi-byte characters are kept, broken ones are replaced") {
    TestReport report = sample();
    for (const auto& [given, wanted] :
         {std::pair<std::string, std::string>{"\xc3\xa4\xe2\x80\xa6\xf0\x9f\x9a\x80",
                                              "\xc3\xa4\xe2\x80\xa6\xf0\x9f\x9a\x80"},
          {"\xc3", "\xef\xbf\xbd"},                                  // cut short
          {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},                  // an overlong encoding
          {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // half of a surrogate pair
          {"\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}}) {
        report.tests[0].name = "<" + given + ">";
        CHECK_THAT(as_junit(report), Contains("name=\"&lt;" + wanted + "&gt;\""));
    }
}
