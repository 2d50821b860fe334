#include "base/checks.hpp"

namespace kfdemu {
namespace {

constexpr Check kAll[] = {Check::memory, Check::wait, Check::init};

bool add_one(Checks& checks, std::string_view word) {
    if (word == "all") return checks = Checks::all(), true;
    if (word == "usual") return checks = Checks::of_bits(checks.bits() | Checks::usual().bits()), true;
    for (const Check check : kAll) {
        if (word != name(check)) continue;
        checks.set(check);
        return true;
    }
    return false;
}

std::string joined(const Checks& checks, std::string_view separator) {
    std::string text;
    for (const Check check : kAll)
        if (checks.has(check)) text += (text.empty() ? std::string{} : std::string{separator}) + name(check);
    return text;
}

}  // namespace

Checks Checks::all() {
    Checks result;
    for (const Check check : kAll) result.set(check);
    return result;
}

Checks Checks::usual() {
    Checks result = all();
    result.bits_ &= ~(1u << static_cast<unsigned>(Check::init));
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
    }
    return "unknown";
}

std::string add(Checks& checks, std::string_view text) {
    for (;;) {
        const auto end = text.find_first_of("+,");
        const std::string_view word = text.substr(0, end);
        if (!add_one(checks, word))
            return "'" + std::string{word} + "' is not a check; the names are all, " + check_names() +
                   ", usual; join them with +";
        if (end == text.npos) return {};
        text.remove_prefix(end + 1);
    }
}

std::string to_string(const Checks& checks) { return joined(checks, "+"); }
std::string check_names() { return joined(Checks::all(), ", "); }

}  // namespace kfdemu
