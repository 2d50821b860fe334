#include "tools/trace/report/summary.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trace {
namespace {

struct Interval {
    std::uint64_t begin, end;
};

/// Disjoint and in order.
std::vector<Interval> joined(std::vector<Interval> intervals) {
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    std::vector<Interval> disjoint;
    for (const Interval& next : intervals) {
        if (!disjoint.empty() && next.begin <= disjoint.back().end)
            disjoint.back().end = std::max(disjoint.back().end, next.end);
        else
            disjoint.push_back(next);
    }
    return disjoint;
}

std::uint64_t length_of(const std::vector<Interval>& disjoint) {
    return std::accumulate(disjoint.begin(), disjoint.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Interval& next) { return sum + (next.end - next.begin); });
}

/// In both; each is disjoint and in order.
std::uint64_t common_length(const std::vector<Interval>& a, const std::vector<Interval>& b) {
    std::uint64_t length = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const std::uint64_t begin = std::max(a[i].begin, b[j].begin), end = std::min(a[i].end, b[j].end);
        if (begin < end) length += end - begin;
        if (a[i].end < b[j].end)
            ++i;
        else
            ++j;
    }
    return length;
}

bool is_kernel(const WorkEvent& work) { return work.stage == "kernel"; }
bool is_timed(const WorkEvent& work) { return work.times.empty(); }

std::uint64_t number(const WorkEvent& work, const char* name) {
    const auto found = work.numbers.find(name);
    return found == work.numbers.end() ? 0 : found->second;
}

GpuSummary summary_of_gpu(std::uint32_t gpu, const std::vector<const WorkEvent*>& all) {
    std::vector<Interval> kernels, copies;
    for (const WorkEvent* work : all)
        if (is_timed(*work)) (is_kernel(*work) ? kernels : copies).push_back({work->begin_ns, work->end_ns});
    kernels = joined(std::move(kernels));
    copies = joined(std::move(copies));
    std::vector<Interval> both = kernels;
    both.insert(both.end(), copies.begin(), copies.end());
    both = joined(std::move(both));
    GpuSummary summary;
    summary.gpu = gpu;
    if (both.empty()) return summary;
    summary.span_ns = both.back().end - both.front().begin;
    summary.kernels_ns = length_of(kernels);
    summary.copies_ns = length_of(copies);
    summary.overlap_ns = common_length(kernels, copies);
    summary.idle_ns = summary.span_ns - length_of(both);
    std::vector<std::uint64_t> gaps;
    for (std::size_t n = 1; n < both.size(); ++n) gaps.push_back(both[n].begin - both[n - 1].end);
    summary.gaps = distribution_of(std::move(gaps));
    return summary;
}

template <class Part>
void longest_first(std::vector<Part>& parts) {
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
        return a.times.total_ns != b.times.total_ns ? a.times.total_ns > b.times.total_ns : a.name < b.name;
    });
}

void summarize_work(const Events& events, Summary& summary) {
    std::map<std::string, std::vector<std::uint64_t>> kernel_times, copy_times;
    std::map<std::string, KernelSummary> kernels;
    std::map<std::string, CopySummary> copies;
    std::map<std::uint32_t, std::vector<const WorkEvent*>> gpus;
    std::vector<std::uint64_t> latencies;
    for (const WorkEvent& work : events.work) {
        gpus[work.gpu].push_back(&work);
        const std::uint64_t took = work.end_ns - work.begin_ns;
        if (!is_timed(work)) ++summary.untimed;
        if (is_kernel(work)) {
            ++summary.dispatches;
            ++kernels[work.name].dispatches;
            if (!is_timed(work)) continue;
            kernel_times[work.name].push_back(took);
            const std::uint64_t enqueued = number(work, "enqueued_ns");
            if (enqueued != 0 && work.begin_ns >= enqueued) latencies.push_back(work.begin_ns - enqueued);
        } else {
            ++summary.copies;
            CopySummary& kind = copies[work.name];
            ++kind.copies;
            kind.bytes += number(work, "bytes");
            if (!is_timed(work)) continue;
            kind.timed_bytes += number(work, "bytes");
            copy_times[work.name].push_back(took);
        }
    }
    for (auto& [name, kernel] : kernels) {
        kernel.name = name;
        kernel.times = distribution_of(std::move(kernel_times[name]));
        summary.kernels.push_back(std::move(kernel));
    }
    for (auto& [name, kind] : copies) {
        kind.name = name;
        kind.times = distribution_of(std::move(copy_times[name]));
        summary.copy_kinds.push_back(std::move(kind));
    }
    longest_first(summary.kernels);
    longest_first(summary.copy_kinds);
    summary.launch_latency = distribution_of(std::move(latencies));
    for (const auto& [gpu, all] : gpus) summary.gpus.push_back(summary_of_gpu(gpu, all));
}

}  // namespace

Distribution distribution_of(std::vector<std::uint64_t> times) {
    Distribution d;
    if (times.empty()) return d;
    std::sort(times.begin(), times.end());
    d.count = times.size();
    d.total_ns = std::accumulate(times.begin(), times.end(), std::uint64_t{0});
    d.least_ns = times.front();
    d.median_ns = times[times.size() / 2];
    d.p95_ns = times[std::min(times.size() - 1, times.size() * 95 / 100)];
    d.most_ns = times.back();
    return d;
}

double CopySummary::bytes_per_second() const {
    return times.total_ns == 0 ? 0 : static_cast<double>(timed_bytes) * 1e9 / static_cast<double>(times.total_ns);
}

Summary summarize(const Events& events) {
    Summary summary;
    summary.processes = events.processes;
    summary.problem = events.problem;
    summary.instants = events.instants;
    summarize_work(events, summary);
    std::map<std::string, std::vector<std::uint64_t>> calls;
    for (const CallEvent& call : events.calls) calls[call.name].push_back(call.end_ns - call.begin_ns);
    for (auto& [name, times] : calls) summary.calls.push_back({name, distribution_of(std::move(times))});
    longest_first(summary.calls);
    for (const CounterEvent& counter : events.counters) {
        std::int64_t& peak = summary.peak_bytes[counter.name];
        peak = std::max(peak, counter.value);
    }
    return summary;
}

}  // namespace trace
