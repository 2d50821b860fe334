// BenchReport: the results of a benchmark, independent of the output format (table, CSV, JSON, charts).
//
//     BenchReport report{.benchmark = "copy", .device = "gpu0 gfx90a"};
//     report.rows = measure(cases, sampling, watch);
//     session.print(as_table(report, session.terminal));
//
// Plain data. All samples of a row do the same amount of work; a row's rate is work divided by time. Thread safety:
// values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/hsadrv/bench/statistics.hpp"

namespace hsadrv_bench {

/// The unit of a sample's work.
enum class Work { bytes, operations, launches, pairs };

/// The main figure of a row: the rate, or the time of one unit of work.
enum class Reading { rate, time };

/// A wrong result.
struct Mismatch {
    std::string where, got, wanted;
};

struct Row {
    std::string group;  ///< rows of a group are compared and were sampled alternately
    std::string name;
    std::string engine;                       ///< the engine of a copy, if there is a choice; may be empty
    std::optional<std::uint64_t> size_bytes;  ///< if rows differ by size
    Work work = Work::bytes;
    double work_per_sample = 0;
    Reading reading = Reading::rate;
    Summary time_ns;                          ///< of a sample
    std::optional<double> instructions = {};  ///< of the calling thread, per launch
    std::optional<Mismatch> mismatch = {};

    Summary rate() const { return rate_of(work_per_sample, time_ns); }
    /// The time of one unit of work.
    Summary time_each_ns() const {
        return {time_ns.median / work_per_sample, time_ns.p5 / work_per_sample, time_ns.p95 / work_per_sample,
                time_ns.samples};
    }
};

struct BenchReport {
    std::string benchmark;  ///< "copy", "launch", "alloc", "kernel"
    std::string device, device_product, device_uuid;
    std::string peer;  ///< empty: none
    std::string runtime;
    std::string sdma_variable;  ///< HSA_ENABLE_SDMA; empty: not set
    unsigned warmup = 0, samples_wanted = 0;
    double seconds_limit = 0;             ///< per row
    std::vector<std::string> notes = {};  ///< how to read the figures
    std::vector<Row> rows = {};

    std::string baseline = {};  ///< the name of the rows that the others of their group are compared with

    /// The row's rate as a multiple of its baseline's, or the same for its time with Reading::time.
    std::optional<double> beside_baseline(const Row& row) const;

    bool all_right() const {
        for (const Row& row : rows)
            if (row.mismatch) return false;
        return true;
    }

  private:
    const Row* baseline_of(const Row& row) const;
};

/// "bytes", "operations", "launches", "pairs"
const char* text_of(Work work);

}  // namespace hsadrv_bench
