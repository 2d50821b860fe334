#include "tools/hsadrv/bench/report_json.hpp"

namespace hsadrv_bench {
namespace {

using hsadrv_tool::Json;

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

Json of(const Summary& summary) { return {{"median", summary.median}, {"p5", summary.p5}, {"p95", summary.p95}}; }

Json of(const BenchReport& report, const Row& row) {
    Json json{{"group", row.group},
              {"name", row.name},
              {"engine", or_null(row.engine)},
              {"size_bytes", or_null(row.size_bytes)},
              {"work", text_of(row.work)},
              {"work_per_sample", row.work_per_sample},
              {"reading", row.reading == Reading::rate ? "rate" : "time"},
              {"samples", row.time_ns.samples},
              {"time_ns", of(row.time_ns)},
              {"rate_per_second", of(row.rate())},
              {"beside_baseline", or_null(report.beside_baseline(row))},
              {"instructions", or_null(row.instructions)},
              {"verified", !row.mismatch},
              {"mismatch", nullptr}};
    if (row.mismatch)
        json["mismatch"] = {
            {"where", row.mismatch->where}, {"got", row.mismatch->got}, {"wanted", row.mismatch->wanted}};
    return json;
}

}  // namespace

Json as_json(const BenchReport& report) {
    Json json = hsadrv_tool::json_report("bench");
    json["benchmark"] = report.benchmark;
    json["device"] = {
        {"label", report.device}, {"product_name", or_null(report.device_product)}, {"uuid", report.device_uuid}};
    json["peer"] = or_null(report.peer);
    json["runtime"] = report.runtime;
    json["hsa_enable_sdma"] = or_null(report.sdma_variable);
    json["warmup"] = report.warmup;
    json["samples_wanted"] = report.samples_wanted;
    json["limit_seconds"] = report.seconds_limit;
    json["baseline"] = or_null(report.baseline);
    json["notes"] = report.notes;
    json["all_verified"] = report.all_right();
    json["rows"] = Json::array();
    for (const Row& row : report.rows) json["rows"].push_back(of(report, row));
    return json;
}

}  // namespace hsadrv_bench
