// A machine whose kernels run under checks, and what the checks find.
//
//     Checked gpu{Target::gfx90a, Check::wait};
//     gpu.load("wait").launch("global_load", {.grid = {64}, .group = {64}}, in, out);
//     REQUIRE(gpu.rules() == Rules{"read-before-wait"});
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/kfdemu/dispatch/machine.hpp"
#include "tests/support/turn.hpp"

namespace check_test {

using namespace dispatch_test;
using kfdemu::Check;
using kfdemu::check::Finding;
using Rules = std::vector<std::string>;

/// A target, and the width of the waves that kernels of this folder are compiled for.
struct Variant {
    Target target;
    bool wide = false;  ///< 64 lanes, where the target has both

    constexpr Variant(Target of, bool with_64 = false) : target{of}, wide{with_64} {}
    constexpr operator Target() const { return target; }
};
/// Of targets().
std::vector<Variant> variants();
/// "gfx90a", "gfx1030w64".
std::string name_of(const Variant& variant);
/// An instruction of GFX9 and of 64 lanes, as it is called there.
std::string spelled(const Variant& variant, std::string instruction);

class Checked {
  public:
    Checked(Variant variant, Check check);

    /// A source of kernels/ in assembly.
    CodeObject load(const std::string& source);
    /// One in C++.
    CodeObject load(const std::string& source, const std::string& level);
    /// A source of ../dispatch/kernels.
    CodeObject load_dispatch(const std::string& source, const std::string& level);

    std::vector<Finding> findings() const { return report.findings(); }
    Rules rules() const;
    /// Everything found, as text, for messages of failed tests.
    std::string text() const;
    void forget() { report.clear(); }
    /// Announces memory of the machine as an allocation of so many bytes.
    void announce(const void* memory, std::size_t bytes) {
        allocations.allocated(reinterpret_cast<std::uint64_t>(memory), bytes);
    }

    const Variant variant;
    kfdemu::check::Report report;
    kfdemu::check::Allocations allocations;
    Machine machine;
};

/// Runs a kernel of a defect source in 64 work-items of one work-group with an `in` and an `out` array.
Outcome run_defect(Checked& gpu, const CodeObject& code, const std::string& kernel);

/// Runs a kernel in 8 work-groups of 2 waves with an `in` of 256 elements and an `out` of 4096.
Outcome run_groups(Checked& gpu, const CodeObject& code, const std::string& kernel, unsigned threads = 1);
/// Requires that it finds nothing, in that number of threads.
inline void require_silent_groups(Checked& gpu, const CodeObject& code, const std::string& kernel, unsigned threads) {
    require_finished(run_groups(gpu, code, kernel, threads), kernel);
    INFO(kernel << " in " << threads << " threads\n" << gpu.text());
    REQUIRE(gpu.rules().empty());
}

inline bool has_matrix(Target target) { return target >= Target::gfx908 && target < Target::gfx1030; }
/// Of targets(), those with matrix instructions.
std::vector<Target> matrix_targets();
inline constexpr std::string_view kOfGfx11[] = {"upper_half", "tiles", "silent_tiles", "answer"},
                                  kOfDual[] = {"dual", "silent_dual", "second_operation"};
inline constexpr std::string_view kOfRdna[] = {"counts_no_stores",
                                               "own_instruction",
                                               "vector_relative",
                                               "other_row",
                                               "moved",
                                               "sum_of_three",
                                               "silent_one_register",
                                               "silent_flat_in_order",
                                               "silent_null",
                                               "eight_lanes",
                                               "vector_number",
                                               "lane_numbers",
                                               "high_scalar",
                                               "silent_last_register",
                                               "inactive_lanes",
                                               "silent_inactive_lanes",
                                               "silent_beyond_record",
                                               "silent_beyond_bytes",
                                               "within_record",
                                               "beyond_record",
                                               "any_record"};
/// Whether the target has this kernel of an assembly source.
inline bool has_kernel(const Variant& target, std::string_view kernel) {
    const auto among = [&](const auto& kernels) { return std::ranges::find(kernels, kernel) != std::end(kernels); };
    const bool gfx12 = target == Target::gfx1201,
               gfx11 = target == Target::gfx1100 || target == Target::gfx1151 || gfx12;
    if (kernel == "stack_address") return target == Target::gfx942 || target == Target::gfx950;
    if (kernel == "scales" || kernel == "silent_scales" || kernel == "silent_table") return target == Target::gfx950;
    if (kernel == "counted_by_register") return target == Target::gfx1030;
    if (kernel == "barrier_state") return gfx12;
    if (kernel.ends_with("swapped_halves")) return gfx11 && !gfx12;
    if (kernel == "silent_halves") return (gfx11 && !gfx12) || target == Target::gfx1030;
    if (among(kOfRdna)) return gfx11 || target == Target::gfx1030;
    if (among(kOfGfx11)) return gfx11;
    if (among(kOfDual)) return gfx11 && !target.wide;
    return kernel != "matrix" || has_matrix(target);
}
/// GFX11: loads for the work-group are those for the agent.
bool has_one_scope(const Variant& target);

/// The kernels of matrix.cpp that such a target has.
std::vector<std::string> matrix_kernels(Target target);
/// Runs one of them in a wave.
Outcome run_matrix(Checked& gpu, const CodeObject& code, const std::string& kernel, std::uint32_t turns);

/// The levels that the C++ sources of kernels/ are compiled at.
inline constexpr const char* kCompiled[] = {"O0", "O1", "O2", "O3"};

/// Calls test(variant, level) for each build of a C++ source that has its turn.
template <class Test>
void on_each_build(Test&& test) {
    unsigned first = 0;  // of the levels: another for each target
    for (const Variant target : variants()) {
        unsigned part = first++;
        for (const char* level : kCompiled) {
            if (!test_support::has_turn(part++, 2)) continue;
            INFO(name_of(target) << " at -" << level);
            test(target, level);
        }
    }
}

/// Calls test(gpu, code) for each build of that source, on a machine with that check.
template <class Test>
void on_each_build(Check check, const std::string& source, Test&& test) {
    on_each_build([&](Variant target, const char* level) {
        Checked gpu{target, check};
        test(gpu, gpu.load(source, level));
    });
}

}  // namespace check_test
