// `fence`: reads of what another work-group wrote, ordered, but with a cache or a store in between.
#include "tests/kfdemu/check/checked.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

using namespace check_test;

namespace {

constexpr const char* kNoAcquire[] = {"no_acquire",    "narrow_acquire",  "narrow_load",
                                      "early_acquire", "relaxed_counter", "lock"};
constexpr const char* kNoRelease[] = {"no_release", "narrow_release", "counted", "late_release"};
constexpr const char* kScalar = "scalar";
constexpr const char* kFenceCorrect[] = {"atomic_reader",        "acquired_by_another_wave", "relay",
                                         "store_after_release",  "store_before_count",       "released_by_another_wave",
                                         "stored_past_the_cache"};
constexpr const char* kNontemporal = "nontemporal_reader";

void require_rule(Checked& gpu, const CodeObject& code, const char* kernel, const std::string& rule) {
    gpu.forget();
    require_finished(run_groups(gpu, code, kernel), kernel);
    INFO(kernel << "\n" << gpu.text());
    REQUIRE_FALSE(gpu.rules().empty());
    for (const Finding& found : gpu.findings()) {
        REQUIRE(found.rule == rule);
        REQUIRE(found.related.front().what.find("written by ") == 0);
    }
}

void require_silent(Checked& gpu, const CodeObject& code, const std::string& kernel) {
    for (const unsigned threads : {1u, 3u}) require_silent_groups(gpu, code, kernel, threads);
}

/// A work-group may be on both compute units of a work-group processor: clang lets its stores happen, as for the agent.
bool is_enough(const Checked& gpu, std::string_view kernel) {
    return (kernel == "narrow_release" && kfdemu::isa::traits_of(gpu.variant).workgroup_processors) ||
           (kernel == "narrow_load" && has_one_scope(gpu.variant));
}

template <class Test>
void on_each_optimised(Test&& test) {
    on_each_build([&](Variant target, const char* level) {
        if (std::string{level} == "O0") return;
        Checked gpu{target, Check::fence};
        test(gpu, gpu.load("fence", level));
    });
}

}  // namespace

TEST_CASE("a reader that does not invalidate its cache after the synchronisation is reported", "[check][fence]") {
    on_each_build(Check::fence, "fence", [](Checked& gpu, const CodeObject& code) {
        for (const char* kernel : kNoAcquire)
            if (!is_enough(gpu, kernel)) require_rule(gpu, code, kernel, "no-acquire");
    });
}

TEST_CASE("a scalar load of what another work-group wrote is reported", "[check][fence]") {
    on_each_optimised([](Checked& gpu, const CodeObject& code) {
        require_rule(gpu, code, kScalar, "no-acquire");
        gpu.forget();
        require_silent(gpu, code, std::string{kScalar} + "_mended");
    });
}

TEST_CASE("a writer that does not wait for its store before it synchronises is reported", "[check][fence]") {
    on_each_optimised([](Checked& gpu, const CodeObject& code) {
        for (const char* kernel : kNoRelease)
            if (!is_enough(gpu, kernel)) require_rule(gpu, code, kernel, "no-release");
    });
}

TEST_CASE("with the fences of the memory model, they are silent", "[check][fence]") {
    on_each_build(Check::fence, "fence", [](Checked& gpu, const CodeObject& code) {
        for (const char* kernel : kNoAcquire) require_silent(gpu, code, std::string{kernel} + "_mended");
        for (const char* kernel : kNoRelease) require_silent(gpu, code, std::string{kernel} + "_mended");
        for (const char* kernel : kFenceCorrect) require_silent(gpu, code, kernel);
        const kfdemu::isa::Traits& traits = kfdemu::isa::traits_of(gpu.variant);
        if (!traits.scope_bits && !traits.workgroup_processors) return require_silent(gpu, code, kNontemporal);
        require_rule(gpu, code, kNontemporal, "no-acquire");  // neither NT nor SLC is a scope
    });
}

TEST_CASE("what a cache keeps is not released by a wait without a write-back", "[check][fence]") {
    on_each_optimised([](Checked& gpu, const CodeObject& code) {
        const bool scopes = kfdemu::isa::traits_of(gpu.machine.target()).scope_bits;
        for (const char* kernel : {"flag_by_another_wave", "volatile_between"}) {
            gpu.forget();
            scopes ? require_rule(gpu, code, kernel, "no-release") : require_silent(gpu, code, kernel);
        }
    });
}

TEST_CASE("what is a race is no finding of `fence`, and a missing fence none of `race`", "[check][fence]") {
    on_each_build([](Variant target, const char* level) {
        Checked fences{target, Check::fence};
        require_finished(run_groups(fences, fences.load("race_memory", level), "shift"), "shift");
        REQUIRE(fences.rules().empty());
        Checked races{target, Check::race};
        require_finished(run_groups(races, races.load("fence", level), "no_acquire"), "no_acquire");
        REQUIRE(races.rules().empty());
    });
}

TEST_CASE("kernels whose races are mended have the fences that they need", "[check][fence]") {
    on_each_build(Check::fence, "race_memory", [](Checked& gpu, const CodeObject& code) {
        for (const char* kernel : {"last_by_number_mended", "flagged_mended", "locked_mended", "volatile_flag"})
            require_silent(gpu, code, kernel);
    });
}
