#include <fmt/format.h>

#include "tools/common/table.hpp"
#include "tools/hsadrv/bench/report_text.hpp"
#include "tools/hsadrv/info/units.hpp"
#include "tools/hsadrv/trace/report.hpp"

namespace hsadrv_tool::trace {
namespace {

using tools::Align;
using tools::Table;
using ::trace::Distribution;
using ::trace::Summary;

std::string time_text(std::uint64_t ns) { return hsadrv_bench::time_text(static_cast<double>(ns)); }

std::string share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

template <class Part>
std::uint64_t total_of(const std::vector<Part>& parts) {
    std::uint64_t total = 0;
    for (const Part& part : parts) total += part.times.total_ns;
    return total;
}

/// The rows that are shown, and how many are not.
std::size_t shown(std::size_t rows, unsigned most) { return most == 0 || rows <= most ? rows : most; }
std::string left_out(std::size_t rows, unsigned most) {
    const std::size_t rest = rows - shown(rows, most);
    return rest == 0 ? "" : fmt::format("  and {} more (--all)\n", rest);
}

std::string kernels_text(const Summary& summary, unsigned most) {
    Table table({{"kernel"},
                 {"dispatches", Align::right},
                 {"total", Align::right},
                 {"share", Align::right},
                 {"mean", Align::right},
                 {"least", Align::right},
                 {"most", Align::right}});
    const std::uint64_t total = total_of(summary.kernels);
    for (std::size_t n = 0; n < shown(summary.kernels.size(), most); ++n) {
        const auto& kernel = summary.kernels[n];
        const Distribution& times = kernel.times;
        table.add({kernel.name, std::to_string(kernel.dispatches), time_text(times.total_ns),
                   share(times.total_ns, total), hsadrv_bench::time_text(times.mean_ns()), time_text(times.least_ns),
                   time_text(times.most_ns)});
    }
    return table.text() + left_out(summary.kernels.size(), most);
}

std::string copies_text(const Summary& summary) {
    Table table({{"copies"},
                 {"number", Align::right},
                 {"bytes", Align::right},
                 {"total", Align::right},
                 {"bandwidth", Align::right}});
    for (const auto& kind : summary.copy_kinds)
        table.add({kind.name, std::to_string(kind.copies), size_text(kind.bytes), time_text(kind.times.total_ns),
                   fmt::format("{:.2f} GB/s", kind.bytes_per_second() / 1e9)});
    return table.text();
}

std::string gpus_text(const Summary& summary) {
    Table table({{"GPU"},
                 {"from first to last", Align::right},
                 {"kernels", Align::right},
                 {"copies", Align::right},
                 {"both", Align::right},
                 {"idle", Align::right},
                 {"gaps", Align::right},
                 {"longest gap", Align::right}});
    for (const auto& gpu : summary.gpus)
        table.add({fmt::format("gpu{}", gpu.gpu), time_text(gpu.span_ns), share(gpu.kernels_ns, gpu.span_ns),
                   share(gpu.copies_ns, gpu.span_ns), share(gpu.overlap_ns, gpu.span_ns),
                   share(gpu.idle_ns, gpu.span_ns), std::to_string(gpu.gaps.count), time_text(gpu.gaps.most_ns)});
    return table.text();
}

std::string calls_text(const Summary& summary, unsigned most) {
    Table table(
        {{"call"}, {"number", Align::right}, {"total", Align::right}, {"mean", Align::right}, {"most", Align::right}});
    for (std::size_t n = 0; n < shown(summary.calls.size(), most); ++n) {
        const auto& call = summary.calls[n];
        table.add({call.name, std::to_string(call.times.count), time_text(call.times.total_ns),
                   hsadrv_bench::time_text(call.times.mean_ns()), time_text(call.times.most_ns)});
    }
    return table.text() + left_out(summary.calls.size(), most);
}

}  // namespace

std::string as_text(const Summary& summary, const Terminal& terminal, unsigned most) {
    std::string text;
    for (const auto& [pid, command] : summary.processes) text += fmt::format("process {}: {}\n", pid, command);
    text += fmt::format("{} dispatches, {} copies", summary.dispatches, summary.copies);
    if (summary.untimed != 0) text += fmt::format(", {} of them without times of the device", summary.untimed);
    text += "\n";
    if (!summary.problem.empty()) text += terminal.paint(Ink::warning, summary.problem) + "\n";
    if (!summary.gpus.empty()) text += "\n" + gpus_text(summary);
    if (!summary.kernels.empty()) text += "\n" + kernels_text(summary, most);
    const Distribution& latency = summary.launch_latency;
    if (latency.count != 0)
        text += fmt::format("  from the doorbell to the begin: median {}, 95 % within {}, at most {}\n",
                            time_text(latency.median_ns), time_text(latency.p95_ns), time_text(latency.most_ns));
    if (!summary.copy_kinds.empty()) text += "\n" + copies_text(summary);
    if (!summary.calls.empty()) text += "\n" + calls_text(summary, most);
    if (!summary.peak_bytes.empty()) text += "\n";
    for (const auto& [name, bytes] : summary.peak_bytes)
        text += fmt::format("  {}: at most {}\n", name, size_text(static_cast<std::uint64_t>(bytes)));
    for (const auto& instant : summary.instants) {
        text += terminal.paint(Ink::bad, "  " + instant.name);
        for (const auto& [name, value] : instant.values) text += fmt::format(", {} {}", name, value);
        text += "\n";
    }
    return text;
}

}  // namespace hsadrv_tool::trace
