// `memory`: accesses outside of allocations, of freed memory, and outside of LDS, scratch and arguments.
#include "tests/kfdemu/check/checked.hpp"

using namespace check_test;

namespace {

/// A kernel of bounds.cpp; `in` has 100 bytes, and is accessed by the work-items from element `index` on.
struct BoundsDefect {
    const char* kernel;
    std::int32_t bad, good;
    const char *rule, *place;
    std::uint32_t workitems = 1;
};

constexpr BoundsDefect kBoundsDefects[] = {
    {"read_word", 28, 24, "out-of-bounds", "12 bytes past the end of 100 bytes allocated at"},
    {"read_word", 25, 0, "out-of-bounds", "just past the end of 100 bytes allocated at"},
    {"read_uniform", 26, 24, "out-of-bounds", "4 bytes past the end of 100 bytes allocated at"},
    {"read_byte", 101, 99, "out-of-bounds", "1 byte past the end of 100 bytes allocated at"},
    {"read_wide", 22, 21, "out-of-bounds", "just past the end of 100 bytes allocated at"},
    {"write_word", 27, 24, "out-of-bounds", "8 bytes past the end of 100 bytes allocated at"},
    {"write_half", 50, 49, "out-of-bounds", "just past the end of 100 bytes allocated at"},
    {"add_word", 27, 24, "out-of-bounds", "8 bytes past the end of 100 bytes allocated at"},
    {"one_lane", 25, 24, "out-of-bounds", "just past the end of 100 bytes allocated at", 16},
    {"in_function", 28, 24, "out-of-bounds", "12 bytes past the end of 100 bytes allocated at"},
    {"read_lds", 64, 48, "lds-out-of-bounds", "offset 256 of 256 bytes of LDS", 16},
    {"write_lds", 70, 48, "lds-out-of-bounds", "offset 280 of 256 bytes of LDS", 16},
    {"read_scratch", 1500, 15, "scratch-out-of-bounds", "offset 6"},
    {"write_scratch", 1500, 15, "scratch-out-of-bounds", "offset 6"},
};

Outcome run_bounds(Checked& gpu, const CodeObject& code, const BoundsDefect& defect, std::int32_t index,
                   bool freed = false) {
    // A page of memory, of which 100 bytes were asked for: what follows is slack.
    auto* page = gpu.machine.allocate<std::uint32_t>(1024);
    gpu.announce(page, 100);
    if (freed) gpu.allocations.freed(reinterpret_cast<std::uint64_t>(page));
    auto* out = gpu.machine.allocate<std::uint32_t>(64);
    return code.try_launch(defect.kernel, {.grid = {defect.workitems}, .group = {defect.workitems}}, page, out, index);
}

/// Runs each kernel with that index, and `test` on what was found.
template <class Test>
void on_each_bounds_defect(std::int32_t BoundsDefect::* index, Test&& test) {
    on_each_build([&](Variant target, const char* level) {
        for (const BoundsDefect& defect : kBoundsDefects) {
            Checked gpu{target, Check::memory};
            INFO(defect.kernel << " with " << defect.*index);
            require_finished(run_bounds(gpu, gpu.load("bounds", level), defect, defect.*index), defect.kernel);
            INFO(gpu.text());
            test(gpu, defect);
        }
    });
}

}  // namespace

TEST_CASE("each access out of bounds is reported with its distance", "[check][memory]") {
    on_each_bounds_defect(&BoundsDefect::bad, [](Checked& gpu, const BoundsDefect& defect) {
        REQUIRE(gpu.rules() == Rules{defect.rule});
        REQUIRE(gpu.findings().front().place.find(defect.place) != std::string::npos);
    });
}

TEST_CASE("accesses within bounds are silent", "[check][memory]") {
    on_each_bounds_defect(&BoundsDefect::good, [](Checked& gpu, const BoundsDefect&) { REQUIRE(gpu.rules().empty()); });
}

TEST_CASE("freed memory is reported, and silent again when it is allocated again", "[check][memory]") {
    on_each_build([](Variant target, const char* level) {
        Checked gpu{target, Check::memory};
        const BoundsDefect& defect = kBoundsDefects[0];
        const CodeObject code = gpu.load("bounds", level);
        require_finished(run_bounds(gpu, code, defect, 9, true), defect.kernel);
        INFO(gpu.text());
        REQUIRE(gpu.rules() == Rules{"use-after-free"});
        REQUIRE(gpu.findings().front().place.find("at offset 36 of 100 bytes") == 0);
        REQUIRE(gpu.findings().front().place.find("(allocation 1, freed)") != std::string::npos);
        gpu.forget();
        require_finished(run_bounds(gpu, code, defect, 9), defect.kernel);
        REQUIRE(gpu.rules().empty());
    });
}

TEST_CASE("each kind of access is judged where it happens, and what compilers widen is not", "[check][memory]") {
    struct Case {
        const char *kernel, *rule, *place;
    };
    constexpr Case kCases[] = {
        {"silent_widened", "", ""},
        {"across_the_end", "out-of-bounds", "just past the end of 100 bytes"},
        {"buffer_scalar", "out-of-bounds", "just past the end of 100 bytes"},
        {"silent_buffer", "", ""},
        {"buffer_cut", "out-of-bounds", "just past the end of 100 bytes"},
        {"append", "lds-out-of-bounds", "offset 256 of 256 bytes of LDS"},
        {"silent_append", "", ""},
        {"by_lane", "lds-out-of-bounds", "offset 256 of 256 bytes of LDS"},
        {"silent_beyond_record", "", ""},
        {"silent_beyond_bytes", "", ""},
        {"within_record", "out-of-bounds", "4 bytes past the end of 100 bytes"},
        {"beyond_record", "out-of-bounds", "8 bytes past the end of 100 bytes"},
        {"any_record", "out-of-bounds", "4 bytes past the end of 100 bytes"},
    };
    for (const Variant target : variants())
        for (const Case& each : kCases) {
            if (!has_kernel(target, each.kernel)) continue;
            Checked gpu{target, Check::memory};
            const CodeObject code = gpu.load("memory");
            INFO(each.kernel << " on " << name_of(target));
            auto* page = gpu.machine.allocate<std::uint32_t>(1024);
            gpu.announce(page, 100);
            require_finished(code.try_launch(each.kernel, {.grid = {64}, .group = {64}}, page, page), each.kernel);
            INFO(gpu.text());
            REQUIRE(gpu.rules() == (*each.rule == 0 ? Rules{} : Rules{each.rule}));
            if (*each.rule != 0) REQUIRE(gpu.findings().front().place.find(each.place) == 0);
        }
}

TEST_CASE("an access is counted once, however many of its lanes are wrong", "[check][memory]") {
    Checked gpu{targets().back(), Check::memory};
    const BoundsDefect& defect = kBoundsDefects[0];
    require_finished(run_bounds(gpu, gpu.load("bounds", "O2"), {"read_word", 25, 0, "", "", 32}, 25), defect.kernel);
    REQUIRE(gpu.report.occurrences() == 1);
}

TEST_CASE("other code at the same address has findings of its own", "[check][memory]") {
    Checked gpu{targets().back(), Check::memory};
    CodeObject code = gpu.load("arguments");
    require_finished(run_defect(gpu, code, "beyond_arguments"), "beyond_arguments");
    for (std::uint32_t& dword : code.text())
        if ((dword & 0xffff) == 0x14) dword ^= 0x14 ^ 0x18;  // the offset
    require_finished(run_defect(gpu, code, "beyond_arguments"), "beyond_arguments");
    INFO(gpu.text());
    REQUIRE(gpu.report.distinct() == 2);
}

TEST_CASE("the lane that goes astray is named", "[check][memory]") {
    Checked gpu{targets().back(), Check::memory};
    require_finished(run_bounds(gpu, gpu.load("bounds", "O2"), {"one_lane", 25, 0, "", "", 16}, 25), "one_lane");
    REQUIRE(gpu.findings().size() == 1);
    REQUIRE(gpu.findings().front().lane == 5);
}

TEST_CASE("a fault is explained by the nearest allocation", "[check][memory]") {
    Checked gpu{targets().back(), Check::memory};
    auto* page = gpu.machine.allocate<std::uint32_t>(1024);  // an unmapped page follows
    gpu.announce(page, 4096);
    auto* out = gpu.machine.allocate<std::uint32_t>(64);
    const Outcome outcome =
        gpu.load("bounds", "O2").try_launch("read_word", {.grid = {1}, .group = {1}}, page, out, 1026);
    REQUIRE(outcome.state == kfdemu::Dispatch::State::Failed);
    INFO(gpu.text());
    REQUIRE(gpu.rules() == Rules{"fault"});
    REQUIRE(gpu.findings().front().place.find("8 bytes past the end of 4096 bytes allocated at") == 0);
}

TEST_CASE("reads beyond the kernel's arguments are reported", "[check][memory]") {
    for (const Variant target : variants()) {
        Checked gpu{target, Check::memory};
        const CodeObject code = gpu.load("arguments");
        require_finished(run_defect(gpu, code, "within_arguments"), "within_arguments");
        REQUIRE(gpu.rules().empty());
        require_finished(run_defect(gpu, code, "beyond_arguments"), "beyond_arguments");
        INFO(gpu.text());
        REQUIRE(gpu.rules() == Rules{"arguments-out-of-bounds"});
        REQUIRE(gpu.findings().front().place.find("offset 20 of 16 bytes of arguments") == 0);
    }
}

TEST_CASE("addresses in words", "[check][memory]") {
    kfdemu::check::Allocations all;
    REQUIRE(all.describe(0x1000) == "in no known allocation");
    all.allocated(0x10000, 100);
    REQUIRE(all.describe(0x10070) == "12 bytes past the end of 100 bytes allocated at 0x10000 (allocation 1)");
    REQUIRE(all.describe(0x10064) == "just past the end of 100 bytes allocated at 0x10000 (allocation 1)");
    REQUIRE(all.describe(0xffff) == "1 byte before 100 bytes allocated at 0x10000 (allocation 1)");
    REQUIRE(all.describe(0x10010) == "at offset 16 of 100 bytes allocated at 0x10000 (allocation 1)");
    REQUIRE(all.describe(0x900000) == "in no known allocation");
    REQUIRE(all.freed(0x10000) == kfdemu::check::Allocations::Was::Live);
    REQUIRE(all.freed(0x10000) == kfdemu::check::Allocations::Was::Freed);
    REQUIRE(all.freed(0x20000) == kfdemu::check::Allocations::Was::Unknown);
    REQUIRE(all.describe(0x10010) == "at offset 16 of 100 bytes allocated at 0x10000 (allocation 1, freed)");
}

TEST_CASE("spans change as memory is allocated, freed and allocated again", "[check][memory]") {
    using kfdemu::check::Span;
    kfdemu::check::Allocations all;
    const auto kind = [&](std::uint64_t va) { return all.span(va).kind; };
    REQUIRE(kind(0x10000) == Span::Unknown);
    all.allocated(0x10000, 100);
    REQUIRE(kind(0x10063) == Span::Live);
    REQUIRE(kind(0x10064) == Span::Slack);
    REQUIRE(kind(0x10fff) == Span::Slack);
    REQUIRE(kind(0x11000) == Span::Unknown);
    REQUIRE(kind(0xffff) == Span::Unknown);
    all.freed(0x10000);
    REQUIRE(kind(0x10000) == Span::Freed);
    all.released(0x10000);
    REQUIRE(kind(0x10000) == Span::Unknown);
    REQUIRE(all.describe(0x10010).find(", freed)") != std::string::npos);
    all.allocated(0xf000, 0x3000);  // over it
    REQUIRE(kind(0x10000) == Span::Live);
    REQUIRE(all.span(0x10000).begin == 0xf000);
}
