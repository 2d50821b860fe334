// `race`: accesses of memory by two waves or work-groups of a dispatch that nothing orders.
#include "tests/kfdemu/check/checked.hpp"
#include "tools/kfdemu/check/race/memory_shadow.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

using namespace check_test;

namespace {

constexpr const char* kMemoryRaces[] = {"shift",  "one_element",    "sum",     "overlapping_rows", "reverse",
                                        "narrow", "last_by_number", "flagged", "exchange",         "locked",
                                        "cells",  "cleared",        "scope"};
constexpr const char* kMemoryCorrect[] = {"own_elements", "only_atomics", "found", "volatile_flag", "greatest"};

}  // namespace

TEST_CASE("accesses of memory that nothing orders are reported with both sides", "[check][race]") {
    on_each_build(Check::race, "race_memory", [](Checked& gpu, const CodeObject& code) {
        for (const std::string kernel : kMemoryRaces) {
            if (kernel == "scope" && has_one_scope(gpu.variant)) continue;
            gpu.forget();
            require_finished(run_groups(gpu, code, kernel), kernel);
            INFO(kernel << "\n" << gpu.text());
            REQUIRE_FALSE(gpu.rules().empty());
            for (const Finding& found : gpu.findings()) {
                REQUIRE(std::string{found.rule} == "memory-race");
                REQUIRE(found.related.size() == 1);
                REQUIRE(found.related.front().what.find(" of work-group (") != std::string::npos);
            }
        }
    });
}

TEST_CASE("mended, they are silent", "[check][race]") {
    on_each_build(Check::race, "race_memory", [](Checked& gpu, const CodeObject& code) {
        for (const char* kernel : kMemoryRaces)
            for (const unsigned threads : {1u, 3u})
                require_silent_groups(gpu, code, std::string{kernel} + "_mended", threads);
    });
}

TEST_CASE("correct kernels that share memory are silent", "[check][race]") {
    on_each_build(Check::race, "race_memory", [](Checked& gpu, const CodeObject& code) {
        const kfdemu::isa::Traits& traits = kfdemu::isa::traits_of(gpu.variant);
        for (const unsigned threads : {1u, 3u})  // elsewhere, a load that looks for its work-group's stores is plain
            if (traits.scope_bits || traits.workgroup_processors)
                require_silent_groups(gpu, code, "flag_in_group", threads);
        for (const char* kernel : kMemoryCorrect)
            for (const unsigned threads : {1u, 3u}) require_silent_groups(gpu, code, kernel, threads);
    });
}

TEST_CASE("beyond its limit, memory is not watched, and kernels run on", "[check][race]") {
    using kfdemu::check::MemoryShadow;
    for (const Variant target : variants()) {
        Checked gpu{target, Check::race};
        const CodeObject code = gpu.load("race_memory", "O2");
        MemoryShadow::set_limit(1);
        for (const unsigned threads : {1u, 3u}) require_silent_groups(gpu, code, "shift", threads);
        MemoryShadow::set_limit(0);
        REQUIRE(gpu.report.notes().size() == (target == targets().front() ? 1 : 0));  // said once
        require_finished(run_groups(gpu, code, "shift"), "shift");
        REQUIRE_FALSE(gpu.rules().empty());
    }
}

TEST_CASE("the limit is that of all shadows together", "[check][race]") {
    using kfdemu::check::MemoryShadow;
    MemoryShadow::set_limit(2 * sizeof(MemoryShadow::Page));
    MemoryShadow first;
    REQUIRE(first.page(0x1000) != nullptr);
    {
        MemoryShadow second;
        REQUIRE(second.page(0x1000) != nullptr);
        REQUIRE(second.page(0x2000) == nullptr);
        REQUIRE(first.page(0x2000) == nullptr);
        REQUIRE(first.page(0x1004) == first.page(0x1000));
    }
    REQUIRE(first.page(0x2000) != nullptr);
    MemoryShadow::set_limit(0);
}
