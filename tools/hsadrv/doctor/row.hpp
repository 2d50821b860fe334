// Row: one check of the doctor: what was found, what it means, what to do.
//
//     Row row = fault("dev-kfd", "/dev/kfd", "Permission denied: …");
//     row.remedy = "put alice into the group, then log out and in again";
//     row.commands = {"sudo usermod -aG render alice"};
//     Diagnosis diagnosis = conclude(std::move(rows));       // the sentence at the end
//
// Values. Thread safety: plain values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hsadrv_tool::doctor {

enum class Verdict {
    ok,
    note,     ///< for information; nothing is wrong
    warning,  ///< may be wrong, and does not stop a GPU from being used
    fault,
    skipped,  ///< not checked: `found` says why
};

/// "ok", "note", "warning", "fault", "skipped".
const char* name_of(Verdict verdict);
std::optional<Verdict> verdict_of(std::string_view name);

struct Row {
    std::string id;     ///< stable, for programs: "dev-kfd"
    std::string title;  ///< "/dev/kfd"
    Verdict verdict = Verdict::ok;
    std::string found;
    std::string remedy = {};                                         ///< what to do; may be empty
    std::vector<std::string> commands = {};                          ///< to be typed verbatim
    std::vector<std::pair<std::string, std::string>> evidence = {};  ///< paths, modes, numbers: name and value

    Row& because(std::string name, std::string value) {
        evidence.emplace_back(std::move(name), std::move(value));
        return *this;
    }
    Row& advise(std::string text, std::vector<std::string> typed = {}) {
        remedy = std::move(text);
        commands = std::move(typed);
        return *this;
    }
};

inline Row row_of(Verdict verdict, std::string id, std::string title, std::string found) {
    return {std::move(id), std::move(title), verdict, std::move(found)};
}
inline Row ok(std::string id, std::string title, std::string found) {
    return row_of(Verdict::ok, std::move(id), std::move(title), std::move(found));
}
inline Row note(std::string id, std::string title, std::string found) {
    return row_of(Verdict::note, std::move(id), std::move(title), std::move(found));
}
inline Row warning(std::string id, std::string title, std::string found) {
    return row_of(Verdict::warning, std::move(id), std::move(title), std::move(found));
}
inline Row fault(std::string id, std::string title, std::string found) {
    return row_of(Verdict::fault, std::move(id), std::move(title), std::move(found));
}
/// Shows the kernel log's lines about GPUs.
inline constexpr const char* look_at_log = "sudo dmesg | grep -iE 'amdgpu|kfd'";

/// "not checked, because …"
inline Row skipped(std::string id, std::string title, const std::string& why) {
    return row_of(Verdict::skipped, std::move(id), std::move(title), "not checked, because " + why);
}

using Rows = std::vector<Row>;

/// The first fault; null if there is none.
const Row* first_fault(const Rows& rows);

struct Diagnosis {
    Rows rows;
    std::string sentence;  ///< the first cause and its remedy, or that all is well
    bool healthy() const { return first_fault(rows) == nullptr; }
};

/// `gpus`: the labels of the examined GPUs.
Diagnosis conclude(Rows rows, const std::vector<std::string>& gpus);

}  // namespace hsadrv_tool::doctor
