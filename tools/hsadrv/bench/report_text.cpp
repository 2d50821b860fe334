#include "tools/hsadrv/bench/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/table.hpp"
#include "tools/hsadrv/bench/sizes.hpp"

namespace hsadrv_bench {
namespace {

using hsadrv_tool::Ink;
using hsadrv_tool::Terminal;

using Line = std::vector<std::string>;

/// Aligns the first `words` columns left and figures right; columns that are empty in every line are left out.
std::string aligned(const std::vector<Line>& lines, std::size_t words, const Terminal& terminal) {
    std::vector<Line> shown(lines.size());
    std::vector<std::size_t> right;
    for (std::size_t column = 0; column < lines.front().size(); ++column) {
        if (std::all_of(lines.begin() + 1, lines.end(), [&](const Line& line) { return line[column].empty(); }))
            continue;
        if (column >= words) right.push_back(shown.front().size());
        for (std::size_t line = 0; line < lines.size(); ++line) shown[line].push_back(lines[line][column]);
    }
    const std::string text = tools::aligned(shown, 0, right);
    const std::size_t head = text.find('\n');
    return terminal.paint(Ink::heading, text.substr(0, head)) + text.substr(head);
}

/// How a rate is printed: its unit, and the scale of that unit.
struct RateUnit {
    const char* name;
    double one;
};

RateUnit rate_unit(Work work) {
    switch (work) {
        case Work::bytes:
            return {"GB/s", 1e9};
        case Work::operations:
            return {"GFLOP/s", 1e9};
        case Work::launches:
            return {"launches/s", 1};
        case Work::pairs:
            return {"pairs/s", 1};
    }
    return {"", 1};
}

std::string ratio_text(const BenchReport& report, const Row& row) {
    const auto ratio = report.beside_baseline(row);
    return ratio ? fmt::format("{}x", figure(*ratio)) : "";
}

std::string name_of(const Row& row) { return row.name + (row.mismatch ? " (WRONG)" : ""); }

std::string size_of(const Row& row) { return row.size_bytes ? size_text(*row.size_bytes) : ""; }

const char* baseline_heading(const BenchReport& report) {
    return report.benchmark == "copy" ? "/memcpy" : report.benchmark == "alloc" ? "/malloc" : "/raw";
}

/// Rows with the same unit.
std::string section(const BenchReport& report, const std::vector<const Row*>& rows, const Terminal& terminal) {
    const bool rates = rows.front()->reading == Reading::rate;
    const RateUnit unit = rates ? rate_unit(rows.front()->work) : RateUnit{"us", 1e3};
    std::vector<Line> lines{{report.benchmark == "copy"     ? "copy"
                             : report.benchmark == "kernel" ? "kernel"
                                                            : "what",
                             "engine", "size", unit.name, "p5", "p95", baseline_heading(report), rates ? "time" : "",
                             "n"}};
    for (const Row* row : rows) {
        const Summary value = rates ? row->rate() : row->time_each_ns();
        const auto in_unit = [&](double number) { return figure(number / unit.one); };
        lines.push_back({name_of(*row), row->engine, size_of(*row), in_unit(value.median), in_unit(value.p5),
                         in_unit(value.p95), ratio_text(report, *row), rates ? time_text(row->time_ns.median) : "",
                         std::to_string(value.samples)});
    }
    return aligned(lines, 2, terminal);
}

std::string sections(const BenchReport& report, const Terminal& terminal) {
    std::vector<const Row*> left;
    for (const Row& row : report.rows) left.push_back(&row);
    std::string text;
    while (!left.empty()) {
        const Row& first = *left.front();
        const auto alike = [&](const Row* row) { return row->reading == first.reading && row->work == first.work; };
        std::vector<const Row*> together;
        std::copy_if(left.begin(), left.end(), std::back_inserter(together), alike);
        text += (text.empty() ? "" : "\n") + section(report, together, terminal);
        std::erase_if(left, alike);
    }
    return text;
}

/// Launches: one line per way, with latency and rate side by side.
std::string launch_table(const BenchReport& report, const Terminal& terminal) {
    std::vector<Line> lines{
        {"way", "launch+wait us", "p5", "p95", "/raw", "launches/s", "p5", "p95", "/raw", "instructions", "n"}};
    for (const Row& latency : report.rows) {
        if (latency.reading != Reading::time) continue;
        const auto rate = std::find_if(report.rows.begin(), report.rows.end(), [&](const Row& row) {
            return row.reading == Reading::rate && row.name == latency.name;
        });
        Line line(11);
        const Summary each = latency.time_each_ns();
        line[0] = name_of(latency);
        line[1] = figure(each.median / 1e3), line[2] = figure(each.p5 / 1e3), line[3] = figure(each.p95 / 1e3);
        line[4] = ratio_text(report, latency);
        if (rate != report.rows.end()) {
            const Summary a_second = rate->rate();
            line[5] = figure(a_second.median), line[6] = figure(a_second.p5), line[7] = figure(a_second.p95);
            line[8] = ratio_text(report, *rate);
            if (rate->instructions) line[9] = fmt::format("{:.0f}", *rate->instructions);
        }
        line[10] = std::to_string(each.samples);
        lines.push_back(line);
    }
    return aligned(lines, 1, terminal);
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n") == text.npos) return text;
    std::string quoted = "\"";
    for (char c : text) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + "\"";
}

}  // namespace

std::string figure(double value) {
    const double size = value < 0 ? -value : value;
    return fmt::format("{:.{}f}", value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

std::string time_text(double ns) {
    if (ns < 1e3) return figure(ns) + " ns";
    if (ns < 1e6) return figure(ns / 1e3) + " us";
    if (ns < 1e9) return figure(ns / 1e6) + " ms";
    return figure(ns / 1e9) + " s";
}

std::string title_of(const Row& row) {
    return row.name + (row.engine.empty() ? "" : ", engine " + row.engine) +
           (row.size_bytes ? ", " + size_text(*row.size_bytes) : "");
}

std::string as_table(const BenchReport& report, const Terminal& terminal) {
    std::string text = fmt::format("{} on {}{}{}, {}\n", report.benchmark, report.device,
                                   report.device_product.empty() ? "" : " (" + report.device_product + ")",
                                   report.peer.empty() ? "" : " and " + report.peer, report.runtime);
    for (const std::string& note : report.notes)
        text += terminal.paint(Ink::faint, tools::wrapped("", note, std::clamp(terminal.columns, 40u, 100u)));
    text += "\n" + (report.benchmark == "launch" ? launch_table(report, terminal) : sections(report, terminal));
    for (const Row& row : report.rows)
        if (row.mismatch)
            text +=
                terminal.paint(Ink::bad, fmt::format("WRONG: {}: {} is {} and should be {}", title_of(row),
                                                     row.mismatch->where, row.mismatch->got, row.mismatch->wanted)) +
                "\n";
    return text;
}

std::string as_csv(const BenchReport& report) {
    std::string text =
        "benchmark,group,name,engine,size_bytes,work,work_per_sample,time_median_ns,time_p5_ns,time_p95_ns,"
        "rate_median_per_second,rate_p5_per_second,rate_p95_per_second,samples,beside_baseline,instructions,"
        "verified\n";
    for (const Row& row : report.rows) {
        const Summary rate = row.rate();
        const auto ratio = report.beside_baseline(row);
        text +=
            fmt::format("{},{},{},{},{},{},{},{:.1f},{:.1f},{:.1f},{:.6g},{:.6g},{:.6g},{},{},{},{}\n",
                        csv_field(report.benchmark), csv_field(row.group), csv_field(row.name), csv_field(row.engine),
                        row.size_bytes ? std::to_string(*row.size_bytes) : "", text_of(row.work), row.work_per_sample,
                        row.time_ns.median, row.time_ns.p5, row.time_ns.p95, rate.median, rate.p5, rate.p95,
                        row.time_ns.samples, ratio ? fmt::format("{:.6g}", *ratio) : "",
                        row.instructions ? fmt::format("{:.1f}", *row.instructions) : "", !row.mismatch);
    }
    return text;
}

}  // namespace hsadrv_bench
