#include "tools/hsadrv/trace/report.hpp"

namespace hsadrv_tool::trace {
namespace {

Json as_json(const ::trace::Distribution& d) {
    return {{"count", d.count},         {"total_ns", d.total_ns}, {"least_ns", d.least_ns},
            {"median_ns", d.median_ns}, {"p95_ns", d.p95_ns},     {"most_ns", d.most_ns}};
}

template <class Parts, class Convert>
Json list_of(const Parts& parts, Convert&& convert) {
    Json list = Json::array();
    for (const auto& part : parts) list.push_back(convert(part));
    return list;
}

}  // namespace

Json as_json(const ::trace::Summary& summary) {
    Json report = json_report("trace");
    report["processes"] = Json::array();
    for (const auto& [pid, command] : summary.processes)
        report["processes"].push_back({{"pid", pid}, {"command", command}});
    report["dispatches"] = summary.dispatches;
    report["copies"] = summary.copies;
    report["without_times"] = summary.untimed;
    report["gpus"] = list_of(summary.gpus, [](const ::trace::GpuSummary& gpu) -> Json {
        return {{"gpu", gpu.gpu},
                {"span_ns", gpu.span_ns},
                {"kernels_ns", gpu.kernels_ns},
                {"copies_ns", gpu.copies_ns},
                {"overlap_ns", gpu.overlap_ns},
                {"idle_ns", gpu.idle_ns},
                {"gaps", as_json(gpu.gaps)}};
    });
    report["kernels"] = list_of(summary.kernels, [](const ::trace::KernelSummary& kernel) -> Json {
        return {{"name", kernel.name}, {"dispatches", kernel.dispatches}, {"times", as_json(kernel.times)}};
    });
    report["copy_kinds"] = list_of(summary.copy_kinds, [](const ::trace::CopySummary& kind) -> Json {
        return {{"name", kind.name},
                {"copies", kind.copies},
                {"bytes", kind.bytes},
                {"times", as_json(kind.times)},
                {"bytes_per_second", kind.bytes_per_second()}};
    });
    report["launch_latency"] = as_json(summary.launch_latency);
    report["calls"] = list_of(summary.calls, [](const ::trace::CallSummary& call) -> Json {
        return {{"name", call.name}, {"times", as_json(call.times)}};
    });
    report["peaks"] = list_of(summary.peak_bytes,
                              [](const auto& peak) -> Json { return {{"name", peak.first}, {"bytes", peak.second}}; });
    report["instants"] = list_of(summary.instants, [](const ::trace::InstantEvent& instant) -> Json {
        Json values = Json::object();
        for (const auto& [name, value] : instant.values) values[name] = value;
        return {{"name", instant.name}, {"at_ns", instant.at_ns}, {"values", values}};
    });
    report["problem"] = summary.problem.empty() ? Json(nullptr) : Json(summary.problem);
    return report;
}

}  // namespace hsadrv_tool::trace
