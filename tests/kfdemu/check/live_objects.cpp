// `leak`: what is alive, in groups, and whose it is.
#include "tools/kfdemu/check/leak/live_objects.hpp"

#include "tests/kfdemu/check/checked.hpp"

using namespace kfdemu::check;
using test_support::Contains;

TEST_CASE("objects are grouped by kind and place, the largest first", "[check][leak]") {
    LiveObjects objects;
    objects.made({ObjectKind::Signal, 1}, {.made = 7});
    objects.made({ObjectKind::Signal, 2}, {.made = 7});
    objects.made({ObjectKind::Signal, 3}, {.made = 8});
    objects.made({ObjectKind::Queue, 1}, {.made = 7});
    objects.made({ObjectKind::Memory, 0x1000}, {.bytes = 100, .made = 7});
    objects.made({ObjectKind::Memory, 0x2000}, {.bytes = 200, .made = 7});
    const auto groups = objects.groups();
    REQUIRE(groups.size() == 4);
    CHECK(groups[0].kind == ObjectKind::Memory);
    CHECK(groups[0].bytes == 300);
    CHECK(groups[1].kind == ObjectKind::Signal);
    CHECK(groups[1].count == 2);
}

TEST_CASE("what is destroyed is no leak, and a handle may be used again", "[check][leak]") {
    LiveObjects objects;
    objects.made({ObjectKind::Signal, 1}, {});
    CHECK(objects.take({ObjectKind::Signal, 1}));
    CHECK_FALSE(objects.take({ObjectKind::Signal, 1}));
    CHECK_FALSE(objects.take({ObjectKind::Queue, 1}));
    objects.made({ObjectKind::Queue, 1}, {});
    objects.made({ObjectKind::Queue, 1}, {});
    CHECK(objects.groups().size() == 1);
    Report report;
    report_leaks(objects, report);
    REQUIRE(report.distinct() == 1);
    CHECK(report.findings().front().count == 1);
    CHECK(report.findings().front().what == "1 queue is never destroyed");
}

TEST_CASE("memory that is locked twice and unlocked once is a leak", "[check][leak]") {
    LiveObjects objects;
    objects.made({ObjectKind::LockedRange, 0x1000}, {.bytes = 100, .made = 7});
    objects.made({ObjectKind::LockedRange, 0x1000}, {.bytes = 50, .made = 8});
    CHECK(objects.take({ObjectKind::LockedRange, 0x1000})->bytes == 50);
    REQUIRE(objects.groups().size() == 1);
    CHECK(objects.groups().front().bytes == 100);
    CHECK(objects.take({ObjectKind::LockedRange, 0x1000}));
    CHECK_FALSE(objects.take({ObjectKind::LockedRange, 0x1000}));
}

TEST_CASE("what is alive at each end of the runtime is a finding", "[check][leak]") {
    Report report;
    for (unsigned n = 1; n < 3; ++n) {
        LiveObjects objects;
        objects.made({ObjectKind::Signal, n}, {});
        report_leaks(objects, report);
        REQUIRE(report.distinct() == n);
        REQUIRE(report.findings().size() == n);
        CHECK(report.findings().back().count == 1);
    }
}

TEST_CASE("what a runtime library keeps is distinguished by the library's name", "[check][leak]") {
    for (const char* name :
         {"libamdhip64.so.5", "libgomp-plugin-gcn.so.1", "libomptarget.rtl.amdgpu.so", "libpocl.so.2"})
        CHECK(is_runtime_library(name));
    for (const char* name : {"program", "libhsadrv.so.0", "libgomp.so.1", "myamdhip64", ""})
        CHECK_FALSE(is_runtime_library(name));
}

TEST_CASE("what a library keeps is told in few notes", "[check][leak]") {
    std::vector<kfdemu::check::Kept> kept;
    for (unsigned n = 0; n < 20; ++n)
        kept.push_back({{ObjectKind::Signal, n, 3, 0}, {{{"hipLaunch", "", 0}, "libamdhip64.so.5"}}});
    Report report;
    note_kept(kept, report);
    const std::vector<std::string> notes = report.notes();
    REQUIRE(notes.size() == 9);
    CHECK(notes.front() == "libamdhip64.so.5 keeps 3 signals");
    CHECK(notes.back() == "libamdhip64.so.5 keeps 36 more objects, of 0 bytes in all, made at 12 other places");
}

TEST_CASE("a note is printed and in the JSON, and is no finding", "[check][report]") {
    std::vector<std::string> printed;
    Report report{[&](const std::string& text) { printed.push_back(text); }};
    report.note("libamdhip64.so.5 keeps 3 signals");
    CHECK(printed == std::vector<std::string>{"check: libamdhip64.so.5 keeps 3 signals\n"});
    CHECK(report.distinct() == 0);
    CHECK_THAT(to_json({report.findings(), report.notes(), report.totals()}, {}, {}),
               Contains("\"notes\": [\"libamdhip64.so.5 keeps 3 signals\"]"));
}
