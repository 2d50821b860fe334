#include "tools/kfdemu/base/checks.hpp"

namespace kfdemu {
namespace {

constexpr Check kAll[] = {Check::memory, Check::wait, Check::race, Check::init, Check::fence, Check::leak};
constexpr Check kCheap[] = {Check::memory, Check::wait, Check::leak};
constexpr Check kNamed[] = {Check::memory, Check::wait,  Check::race, Check::lds_race,
                            Check::init,   Check::fence, Check::leak};

bool add_one(Checks& checks, std::string_view word) {
    if (word == "all") return checks = Checks::all(), true;
    if (word == "cheap") return checks = Checks::of_bits(checks.bits() | Checks::cheap().bits()), true;
    for (const Check check : kNamed) {
        if (word != name(check)) continue;
        checks.set(check);
        return true;
    }
    return false;
}

std::string joined(const Checks& checks, std::string_view separator) {
    std::string text;
    for (const Check check : kNamed)
        if (checks.has(check) && !(check == Check::lds_race && checks.has(Check::race)))
            text += (text.empty() ? std::string{} : std::string{separator}) + name(check);
    return text;
}

}  // namespace

Checks Checks::all() {
    Checks result;
    for (const Check check : kAll) result.set(check);
    return result;
}

Checks Checks::cheap() {
    Checks result;
    for (const Check check : kCheap) result.set(check);
    return result;
}

const char* name(Check check) {
    switch (check) {
        case Check::memory:
            return "memory";
        case Check::wait:
            return "wait";
        case Check::init:
            return "init";
        case Check::race:
            return "race";
        case Check::lds_race:
            return "lds-race";
        case Check::fence:
            return "fence";
        case Check::leak:
            return "leak";
    }
    return "unknown";
}

std::string add(Checks& checks, std::string_view text) {
    for (;;) {
        const auto end = text.find_first_of("+,");
        const std::string_view word = text.substr(0, end);
        if (!add_one(checks, word))
            return "'" + std::string{word} + "' is not a check; the names are all, cheap, " + check_names() +
                   "; join them with +";
        if (end == text.npos) return {};
        text.remove_prefix(end + 1);
    }
}

std::string to_string(const Checks& checks) { return joined(checks, "+"); }
std::string check_names() {
    std::string text;
    for (const Check check : kNamed) text += (text.empty() ? "" : ", ") + std::string{name(check)};
    return text;
}

}  // namespace kfdemu
