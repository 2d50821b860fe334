// Samples several cases alternately, so that drift affects all of them.
//
//     std::vector<Case> cases{…};
//     std::vector<Row> rows = measure(cases, {.warmup = 3, .samples = 21}, [&](const Row&, Stage) { stop.check(); });
//
// Warm-ups first; then rounds in the order A B C C B A. A case is no longer sampled when its time is used up and it has
// least_samples. All cases are verified at the end. Thread safety: one thread. Throws: what the cases and `between`
// throw; the samples are lost then.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "tools/hsadrv/bench/report.hpp"

namespace hsadrv_bench {

struct Case {
    Row row;                         ///< all but its time and its mismatch
    std::function<double()> sample;  ///< does the work once; returns its time in nanoseconds
    std::function<std::optional<Mismatch>()> verify;
};

struct Sampling {
    unsigned warmup = 3, samples = 21;
    double seconds = 1;  ///< for the samples of a row

    static constexpr unsigned least_samples = 5;  ///< taken regardless of their time, unless fewer are requested
};

enum class Stage { warmup, sampling, verifying };

/// Called before every sample and every verification.
using Between = std::function<void(const Row&, Stage)>;

std::vector<Row> measure(const std::vector<Case>& cases, const Sampling& sampling, const Between& between);

/// The duration of a call, in nanoseconds of the steady clock.
template <class Function>
double time_ns(Function&& function) {
    const auto begin = std::chrono::steady_clock::now();
    function();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace hsadrv_bench
