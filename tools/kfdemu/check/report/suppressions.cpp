#include "tools/kfdemu/check/report/suppressions.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "tools/kfdemu/check/report/elf_symbols.hpp"

namespace kfdemu::check {
namespace {

std::string_view trimmed(std::string_view text) {
    constexpr const char* kBlank = " \t\r";
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

/// A comment begins at a # that nothing or a blank precedes.
std::string_view without_comment(std::string_view line) {
    for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1))
        if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
    return line;
}

void add_names(const Site& site, std::vector<std::string>& names) {
    names.push_back(site.function);
    names.push_back(readable(site.function));
    for (const Frame& frame : site.source) names.insert(names.end(), {frame.function, frame.file});
}

/// Everything that a pattern may name.
std::vector<std::string> names_of(const Finding& finding) {
    std::vector<std::string> names;
    if (finding.of_kernel()) {
        add_names(finding.at, names);
        return names;
    }
    for (const HostStack& stack : finding.stacks)
        for (const HostFrame& frame : stack.frames)
            names.insert(names.end(), {frame.function, frame.file, frame.object});
    return names;
}

}  // namespace

std::string Suppressions::add(std::string_view line) {
    line = trimmed(without_comment(line));
    if (line.empty()) return {};
    const auto colon = line.find(':');
    if (colon == line.npos) return "'" + std::string{line} + "': expected CHECK:PATTERN, such as wait:copy_*";
    const std::string_view check = trimmed(line.substr(0, colon)), pattern = trimmed(line.substr(colon + 1));
    if (pattern.empty()) return "'" + std::string{line} + "': no pattern follows the colon; * matches everything";
    Suppression added{check == "*" ? Checks::all() : Checks{}, std::string{pattern}};
    if (check != "*")
        if (std::string error = kfdemu::add(added.checks, check); !error.empty()) return error;
    all_.push_back(std::move(added));
    return {};
}

std::vector<std::string> Suppressions::add_lines(std::string_view text, const std::string& file) {
    std::vector<std::string> errors;
    for (unsigned number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        if (const std::string error = add(text.substr(0, end)); !error.empty())
            errors.push_back(file + ":" + std::to_string(number) + ": " + error);
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return errors;
}

bool Suppressions::may_match(Check check) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Suppression& s) { return s.checks.has(check); });
}

bool Suppressions::match(const Finding& finding) const {
    const auto concerns = [&](const Suppression& s) { return s.checks.has(finding.check); };
    if (!may_match(finding.check)) return false;
    const std::vector<std::string> names = names_of(finding);
    return std::any_of(all_.begin(), all_.end(), [&](const Suppression& s) {
        return concerns(s) && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                   return (!name.empty() || s.pattern == "*") && fnmatch(s.pattern.c_str(), name.c_str(), 0) == 0;
               });
    });
}

}  // namespace kfdemu::check
