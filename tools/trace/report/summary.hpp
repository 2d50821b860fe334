// Summary: what a trace's events amount to: kernels and copies by time, gaps, latencies, overlap, calls, memory.
//
//     const Summary summary = summarize(read_trace(bytes));
//
// Times are nanoseconds. Work without times of its own (WorkEvent::times) is counted, and left out of sums. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/trace/format/trace_reader.hpp"

namespace trace {

/// Of times, all 0 if there are none.
struct Distribution {
    std::uint64_t count = 0, total_ns = 0, least_ns = 0, median_ns = 0, p95_ns = 0, most_ns = 0;
    double mean_ns() const { return count == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(count); }
};
Distribution distribution_of(std::vector<std::uint64_t> times);

struct KernelSummary {
    std::string name;
    std::uint64_t dispatches = 0;
    Distribution times;
};

struct CopySummary {
    std::string name;  ///< "copy host to gpu0"
    std::uint64_t copies = 0, bytes = 0;
    std::uint64_t timed_bytes = 0;  ///< of those that have times
    Distribution times;
    /// Of the timed copies; 0 if there are none.
    double bytes_per_second() const;
};

/// From the first work of a GPU to the end of its last.
struct GpuSummary {
    std::uint32_t gpu = 0;
    std::uint64_t span_ns = 0;
    std::uint64_t kernels_ns = 0, copies_ns = 0;  ///< when at least one runs
    std::uint64_t overlap_ns = 0;                 ///< when kernels and copies run
    std::uint64_t idle_ns = 0;
    Distribution gaps;  ///< in which nothing runs
};

struct CallSummary {
    std::string name;
    Distribution times;
};

struct Summary {
    std::map<std::uint32_t, std::string> processes;
    std::uint64_t dispatches = 0, copies = 0, untimed = 0;
    std::vector<KernelSummary> kernels;  ///< by total time, the longest first; so are the next
    std::vector<CopySummary> copy_kinds;
    std::vector<CallSummary> calls;
    std::vector<GpuSummary> gpus;
    Distribution launch_latency;  ///< of kernels: from the doorbell to their begin
    std::map<std::string, std::int64_t> peak_bytes;
    std::vector<InstantEvent> instants;  ///< faults and errors
    std::string problem;
};

Summary summarize(const Events& events);

}  // namespace trace
