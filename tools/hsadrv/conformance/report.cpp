#include "tools/hsadrv/conformance/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/common/process.hpp"
#include "tools/hsadrv/info/units.hpp"

namespace hsadrv_tool {
namespace {

std::string duration_text(double seconds) {
    if (seconds < 60) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<unsigned long>(seconds + 0.5);
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

std::string row_text(const char* name, const Counts& counts, const Terminal& terminal) {
    const std::string failed = fmt::format("{:>8}", counts.failures());
    return fmt::format("{:<14}{:>8}{}{:>9}{:>9}  {:>10}\n", name, counts.passed,
                       counts.failures() ? terminal.paint(Ink::bad, failed) : failed, counts.skipped, counts.not_run,
                       duration_text(counts.seconds));
}

std::string table_text(const TestReport& report, const Terminal& terminal) {
    std::string text = terminal.paint(Ink::heading, fmt::format("{:<14}{:>8}{:>8}{:>9}{:>9}  {:>10}", "area", "passed",
                                                                "failed", "skipped", "not run", "time"));
    text += '\n';
    for (const char* area : areas)
        if (const Counts counts = count(report, area); counts.all() > 0) text += row_text(area, counts, terminal);
    return text + row_text("all", count(report), terminal);
}

/// "  12  there is one GPU", the most frequent first.
std::string skips_text(const TestReport& report, const Terminal& terminal) {
    std::vector<std::pair<std::string, unsigned>> reasons;
    for (const TestResult& test : report.tests) {
        if (test.outcome != Outcome::skipped) continue;
        const auto found = std::find_if(reasons.begin(), reasons.end(),
                                        [&](const auto& reason) { return reason.first == test.message; });
        if (found == reasons.end())
            reasons.emplace_back(test.message, 1);
        else
            ++found->second;
    }
    if (reasons.empty()) return "";
    std::sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::string text = "\n" + terminal.paint(Ink::heading, "skipped") + "\n";
    for (const auto& [reason, times] : reasons) text += fmt::format("{:>4}  {}\n", times, reason);
    return text;
}

std::string indented(std::string_view text, std::string_view with) {
    std::string result;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        result.append(with).append(text.substr(begin, end - begin)).append("\n");
        begin = end + 1;
    }
    return result;
}

std::string failure_text(const TestResult& test, const Terminal& terminal) {
    std::string text =
        fmt::format("\n{} {}: {}\n", terminal.paint(Ink::bad, to_string(test.outcome)), test.area, test.name);
    text += indented(test.message, "    ");
    if (!test.output.empty()) text += "    it printed\n" + indented(test.output, "    | ");
    return text;
}

std::string stress_text(const TestReport& report) {
    if (!report.stress) return "";
    const StressRounds& stress = *report.stress;
    std::string text = fmt::format("\nstress: {} in {:g} min, seeds {} to {}", counted(stress.rounds, "round"),
                                   stress.minutes, stress.first_seed, stress.last_seed);
    if (stress.before && stress.after)
        text += fmt::format("; memory {} KiB, then {} KiB; descriptors {}, then {}", stress.before->resident_kb,
                            stress.after->resident_kb, stress.before->descriptors, stress.after->descriptors);
    return text + "\n";
}

std::string verdict_text(const TestReport& report, const Terminal& terminal) {
    const Counts counts = count(report);
    const std::string_view word = verdict(report);
    std::string text = word == "passed" ? terminal.paint(Ink::good, "passed") : terminal.paint(Ink::bad, word);
    if (report.interrupted_by) text += " by " + tools::signal_name(report.interrupted_by);
    text += counts.failures() ? fmt::format(": {} of {} failed", counts.failures(), counted(counts.all(), "test"))
                              : ": no test failed";
    if (counts.crashed) text += fmt::format(", {} of them crashed", counts.crashed);
    if (counts.timed_out) text += fmt::format(", {} of them took too long", counts.timed_out);
    text += fmt::format("; {} passed, {} skipped", counts.passed, counts.skipped);
    if (counts.not_run) text += fmt::format(", {} not run", counts.not_run);
    return text + fmt::format(", in {}\n", duration_text(report.seconds));
}

Json counts_json(const Counts& counts) {
    return {{"passed", counts.passed},       {"failed", counts.failed},   {"crashed", counts.crashed},
            {"timed_out", counts.timed_out}, {"skipped", counts.skipped}, {"not_run", counts.not_run},
            {"time_s", counts.seconds}};
}

Json footprint_json(const std::optional<StressRounds::Footprint>& footprint) {
    if (!footprint) return nullptr;
    return {{"resident_kib", footprint->resident_kb}, {"descriptors", footprint->descriptors}};
}

Json test_json(const TestResult& test) {
    const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    return {{"area", test.area},
            {"file", or_null(test.file)},
            {"name", test.name},
            {"outcome", to_string(test.outcome)},
            {"message", or_null(test.message)},
            {"time_s", test.seconds},
            {"output", or_null(test.output)}};
}

}  // namespace

std::string as_text(const TestReport& report, const Terminal& terminal) {
    const TestedDevice device = report.device.value_or(TestedDevice{});
    std::string text =
        fmt::format("conformance of gpu{} {} ({}), {}\n\n", device.index, device.name, device.product, device.runtime);
    text += table_text(report, terminal) + stress_text(report) + skips_text(report, terminal);
    for (const TestResult& test : report.tests)
        if (is_failure(test.outcome)) text += failure_text(test, terminal);
    return text + "\n" + verdict_text(report, terminal);
}

std::string list_text(const TestReport& report) {
    std::string text;
    for (const TestResult& test : report.tests) text += fmt::format("{:<14}{}\n", test.area, test.name);
    return text;
}

Json as_json(const TestReport& report) {
    Json json = json_report("test");
    json["verdict"] = verdict(report);
    json["interrupted_by"] = report.interrupted_by ? Json(tools::signal_name(report.interrupted_by)) : Json(nullptr);
    json["started"] = report.started.empty() ? Json(nullptr) : Json(report.started);
    json["time_s"] = report.seconds;
    json["device"] = nullptr;
    if (const auto& device = report.device)
        json["device"] = {{"index", device->index},
                          {"name", device->name},
                          {"product", device->product},
                          {"uuid", device->uuid},
                          {"runtime", device->runtime}};
    json["all"] = counts_json(count(report));
    json["areas"] = Json::array();
    for (const char* area : areas)
        if (const Counts counts = count(report, area); counts.all() > 0) {
            Json one{{"area", area}};
            one.update(counts_json(counts));
            json["areas"].push_back(one);
        }
    json["stress"] = nullptr;
    if (const auto& stress = report.stress)
        json["stress"] = {{"minutes", stress->minutes},
                          {"rounds", stress->rounds},
                          {"first_seed", stress->first_seed},
                          {"last_seed", stress->last_seed},
                          {"before", footprint_json(stress->before)},
                          {"after", footprint_json(stress->after)}};
    json["tests"] = Json::array();
    for (const TestResult& test : report.tests) json["tests"].push_back(test_json(test));
    return json;
}

}  // namespace hsadrv_tool
