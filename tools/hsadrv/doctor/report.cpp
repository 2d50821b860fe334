#include "tools/hsadrv/doctor/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/table.hpp"
#include "tools/hsadrv/doctor/probe.hpp"

namespace hsadrv_tool::doctor {
namespace {

constexpr std::size_t verdict_columns = 9;  // "skipped" and a gap

Ink ink_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::ok:
            return Ink::good;
        case Verdict::note:
            return Ink::heading;
        case Verdict::warning:
            return Ink::warning;
        case Verdict::fault:
            return Ink::bad;
        case Verdict::skipped:
            return Ink::faint;
    }
    return Ink::faint;
}

class Report {
  public:
    Report(const Terminal& terminal, bool verbose, std::size_t title_columns)
        : terminal_(terminal),
          verbose_(verbose),
          width_(std::clamp<std::size_t>(terminal.columns, 72, 100)),
          title_columns_(title_columns),
          margin_(verdict_columns + title_columns + 2) {}

    void add(const Row& row) {
        const std::string verdict = fmt::format("{:{}}", name_of(row.verdict), verdict_columns);
        // A long title, such as a variable with its value, has the line to itself.
        const bool fits = row.title.size() <= title_columns_;
        text_ += terminal_.paint(ink_of(row.verdict), verdict);
        text_ += fits ? fmt::format("{:{}}", row.title, title_columns_ + 2) : row.title + "\n";
        const std::string found = tools::wrapped(std::string(margin_, ' '), row.found, width_);
        text_ += fits ? found.substr(margin_) : found;
        if (!row.remedy.empty())
            text_ += tools::wrapped(std::string(verdict_columns + 2, ' ') + "-> ",
                                    row.remedy + (row.commands.empty() ? "" : ":"), width_);
        for (const std::string& command : row.commands)
            text_ += std::string(verdict_columns + 7, ' ') + terminal_.paint(Ink::heading, command) + "\n";
        if (!verbose_) return;
        for (const auto& [name, value] : row.evidence)
            text_ += faint(fmt::format("{}{}: {}", std::string(verdict_columns + 2, ' '), name, value)) + "\n";
    }

    void conclude(const Diagnosis& diagnosis) {
        std::string sentence = tools::wrapped("", diagnosis.sentence, width_);
        sentence.pop_back();  // its line end: outside of the colour
        text_ += "\n" + terminal_.paint(diagnosis.healthy() ? Ink::good : Ink::bad, sentence) + "\n";
    }

    const std::string& text() const { return text_; }

  private:
    std::string faint(const std::string& text) const { return terminal_.paint(Ink::faint, text); }

    const Terminal& terminal_;
    bool verbose_;
    std::size_t width_, title_columns_, margin_;
    std::string text_;
};

}  // namespace

std::string report_text(const Diagnosis& diagnosis, const Terminal& terminal, bool verbose) {
    constexpr std::size_t widest_title = 25;
    std::size_t title_columns = 0;
    for (const Row& row : diagnosis.rows)
        if (row.title.size() <= widest_title) title_columns = std::max(title_columns, row.title.size());
    Report report(terminal, verbose, title_columns);
    for (const Row& row : diagnosis.rows) report.add(row);
    report.conclude(diagnosis);
    return report.text();
}

Json report_json(const Diagnosis& diagnosis) {
    Json report = json_report("doctor");
    report["healthy"] = diagnosis.healthy();
    report["diagnosis"] = diagnosis.sentence;
    const Row* cause = first_fault(diagnosis.rows);
    report["cause"] = cause ? Json(cause->id) : Json(nullptr);
    report["checks"] = Json::array();
    for (const Row& row : diagnosis.rows) report["checks"].push_back(as_json(row));
    return report;
}

}  // namespace hsadrv_tool::doctor
