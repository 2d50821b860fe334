#include "tools/hsadrv/doctor/row.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace hsadrv_tool::doctor {
namespace {

constexpr const char* verdict_names[] = {"ok", "note", "warning", "fault", "skipped"};

std::string to_do(const Row& row) {
    if (row.commands.empty()) return row.remedy.empty() ? "" : "What to do: " + row.remedy + ".";
    return fmt::format("What to do: {}: {}", row.remedy, fmt::join(row.commands, "; "));
}

}  // namespace

const char* name_of(Verdict verdict) { return verdict_names[static_cast<int>(verdict)]; }

std::optional<Verdict> verdict_of(std::string_view name) {
    const auto found = std::find(std::begin(verdict_names), std::end(verdict_names), name);
    if (found == std::end(verdict_names)) return std::nullopt;
    return static_cast<Verdict>(found - std::begin(verdict_names));
}

const Row* first_fault(const Rows& rows) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.verdict == Verdict::fault; });
    return found == rows.end() ? nullptr : &*found;
}

Diagnosis conclude(Rows rows, const std::vector<std::string>& gpus) {
    Diagnosis diagnosis{std::move(rows), ""};
    if (const Row* cause = first_fault(diagnosis.rows)) {
        const std::string whole = to_do(*cause);
        diagnosis.sentence =
            fmt::format("The cause: {}: {}.{}{}", cause->title, cause->found, whole.empty() ? "" : " ", whole);
        return diagnosis;
    }
    const auto count = [&](Verdict verdict) {
        return std::count_if(diagnosis.rows.begin(), diagnosis.rows.end(),
                             [&](const Row& row) { return row.verdict == verdict; });
    };
    diagnosis.sentence = fmt::format("All is well: {} work{}", fmt::join(gpus, ", "), gpus.size() == 1 ? "s" : "");
    if (const auto warnings = count(Verdict::warning))
        diagnosis.sentence += fmt::format("; {} warning{} above", warnings, warnings == 1 ? "" : "s");
    diagnosis.sentence += ".";
    return diagnosis;
}

}  // namespace hsadrv_tool::doctor
