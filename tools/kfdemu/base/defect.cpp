#include "tools/kfdemu/base/defect.hpp"

#include <utility>

namespace kfdemu {
namespace {

constexpr std::pair<std::string_view, DefectKind> kDefectNames[] = {{"interrupts", DefectKind::interrupts},
                                                                    {"copies", DefectKind::copies},
                                                                    {"dispatches", DefectKind::dispatches},
                                                                    {"queues", DefectKind::queues},
                                                                    {"engines", DefectKind::engines}};

bool is_of_all(DefectKind kind) { return kind == DefectKind::queues || kind == DefectKind::engines; }

}  // namespace

std::variant<Defect, std::string> parse_defect(std::string_view text) {
    const auto colon = text.find(':');
    for (const auto& [name, kind] : kDefectNames) {
        if (text.substr(0, colon) != name) continue;
        Defect defect{kind, {.nth = 1, .count = Turns::kAll}};
        if (colon == text.npos && is_of_all(kind)) return defect;
        if (colon != text.npos && !is_of_all(kind) && parse_turns(text.substr(colon + 1), defect.turns)) return defect;
        return is_of_all(kind)
                   ? std::string{name} + ": applies to all of them: nothing may follow the name"
                   : std::string{name} +
                         ": expected which of them, counted from 1: 3, 3-5, or 3- for the third and all after it";
    }
    return std::string{"expected interrupts:WHICH, copies:WHICH, dispatches:WHICH, queues or engines"};
}

std::string to_string(const Defect& defect) {
    for (const auto& [name, kind] : kDefectNames)
        if (kind == defect.kind) return std::string{name} + (is_of_all(kind) ? "" : ":" + to_string(defect.turns));
    return {};
}

}  // namespace kfdemu
