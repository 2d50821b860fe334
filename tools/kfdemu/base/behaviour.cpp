#include "tools/kfdemu/base/behaviour.hpp"

namespace kfdemu {
namespace {

struct Row {
    std::string_view name;
    Behaviour behaviour;
};

constexpr Row kRows[] = {
    {"fault-stops-all", Behaviour::fault_stops_all}, {"doorbell", Behaviour::doorbell},
    {"invalid-headers", Behaviour::invalid_headers}, {"barrier-value", Behaviour::barrier_value},
    {"seeded-garbage", Behaviour::seeded_garbage},   {"seeded-order", Behaviour::seeded_order},
    {"private-vram", Behaviour::private_vram},       {"write-index", Behaviour::write_index},
    {"torn-packet", Behaviour::torn_packet},
};

bool change_one(Behaviours& behaviours, std::string_view word) {
    constexpr std::string_view kOff = "no-";
    if (word == "all" || word == "none") {
        behaviours = word == "all" ? Behaviours::all() : Behaviours{};
        return true;
    }
    const bool on = word.substr(0, kOff.size()) != kOff;
    if (!on) word.remove_prefix(kOff.size());
    for (const Row& row : kRows) {
        if (row.name != word) continue;
        behaviours.set(row.behaviour, on);
        return true;
    }
    return false;
}

}  // namespace

Behaviours Behaviours::all() {
    Behaviours result;
    for (const Row& row : kRows) result.set(row.behaviour, row.behaviour != Behaviour::torn_packet);
    return result;
}

std::string change(Behaviours& behaviours, std::string_view text) {
    for (;;) {
        const auto plus = text.find('+');
        const std::string_view word = text.substr(0, plus);
        if (!change_one(behaviours, word))
            return "'" + std::string{word} + "' is not a behaviour; the names are all, none, " + behaviour_names() +
                   "; prefix a behaviour with no- to disable it, and join names with +";
        if (plus == text.npos) return {};
        text.remove_prefix(plus + 1);
    }
}

std::string to_string(const Behaviours& behaviours) {
    if (behaviours == Behaviours::all()) return "all";
    std::string text;
    for (const Row& row : kRows) {
        const bool on = behaviours.has(row.behaviour);
        if (on == Behaviours::defaults().has(row.behaviour)) continue;
        text += (text.empty() ? "" : "+") + std::string{on ? "" : "no-"} + std::string{row.name};
    }
    return text;
}

std::string behaviour_names() {
    std::string names;
    for (const Row& row : kRows) names += (names.empty() ? "" : ", ") + std::string{row.name};
    return names;
}

}  // namespace kfdemu
