#include "clang.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <variant>

#include "clang_places.hpp"
#include "failure.hpp"
#include "tools/common/environment.hpp"

namespace hsadrv_cc {
namespace fs = std::filesystem;

namespace {

using tools::Captured;

constexpr std::string_view advice =
    "Install one (on Debian: apt-get install clang-19 lld-19 clang-tools-19)\n"
    "or name one with --clang or $HSADRV_CLANG";

using WhyNot = std::string;

unsigned major_of(std::string_view version) { return static_cast<unsigned>(std::atoi(std::string(version).c_str())); }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    return text;
}

/// Some releases search for their linker beside the path they are run as, so links are resolved first. A wrapper such
/// as ccache runs under its given name.
std::string real_name(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return !error && real.filename().string().starts_with("clang") ? real.string() : path;
}

/// The program that `clang -print-prog-name` reports, or one in $PATH; empty if there is none.
std::string program_of(const std::string& clang, const std::string& name, const Interruptions& interruptions) {
    const Captured said = capture({clang, "--target=amdgcn-amd-amdhsa", "-print-prog-name=" + name}, interruptions);
    const std::string answer = said.status == 0 ? trimmed(said.text) : name;
    return find_in_path(answer, surroundings_of_this_process().path);
}

bool has_line_with(const std::string& text, std::string_view word) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        if (std::string first; words >> first && first == word) return true;
    }
    return false;
}

std::variant<Clang, WhyNot> check(const std::string& path, const Interruptions& interruptions) {
    Clang clang;
    clang.path = real_name(path);
    const Captured said = capture({clang.path, "--version"}, interruptions);
    if (said.status != 0)
        return fmt::format("its --version ends with exit status {}: {}", said.status, first_line(said.text));
    clang.version = version_after(said.text, "clang version");
    if (clang.version.empty()) return fmt::format("its --version is not that of a clang: {}", first_line(said.text));
    clang.major = major_of(clang.version);
    if (clang.major < oldest_clang)
        return fmt::format("it is version {}, and {} is the oldest that compiles hsadrv's headers", clang.version,
                           oldest_clang);

    const Captured targets = capture({clang.path, "--print-targets"}, interruptions);
    if (!has_line_with(targets.text, "amdgcn")) return "it was built without the target amdgcn";

    clang.linker = program_of(clang.path, "ld.lld", interruptions);
    if (clang.linker.empty()) return fmt::format("it has no ld.lld: install lld-{}", clang.major);
    const Captured linker = capture({clang.linker, "--version"}, interruptions);
    const std::string linker_version = version_after(linker.text, "LLD");
    if (linker.status != 0 || linker_version.empty()) {
        return fmt::format("its linker {} does not work: exit status {}: {}", clang.linker, linker.status,
                           first_line(linker.text));
    }
    if (major_of(linker_version) < clang.major) {
        return fmt::format("its linker {} is version {}, older than itself ({}): install lld-{}", clang.linker,
                           linker_version, clang.version, clang.major);
    }
    return clang;
}

Clang the_one(const std::string& name, std::string_view who, const Interruptions& interruptions) {
    const std::string path = find_in_path(name, surroundings_of_this_process().path);
    if (path.empty()) {
        throw Failure(ExitStatus::no_clang, fmt::format("{} is {}, which is not a program{}", who, name,
                                                        name.find('/') == name.npos ? " in $PATH" : ""));
    }
    const auto checked = check(path, interruptions);
    if (const auto* why = std::get_if<WhyNot>(&checked))
        throw Failure(ExitStatus::no_clang, fmt::format("{} is {}, which is not suitable: {}", who, name, *why));
    return std::get<Clang>(checked);
}

}  // namespace

std::string version_after(std::string_view text, std::string_view word) {
    auto at = text.find(word);
    if (at == text.npos) return "";
    text.remove_prefix(at + word.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return std::string(text.substr(0, text.find_first_not_of("0123456789.")));
}

Clang find_clang(const std::string& asked_for, const Interruptions& interruptions, const Log& log) {
    if (!asked_for.empty()) return the_one(asked_for, "--clang", interruptions);
    const std::string set = tools::variable("HSADRV_CLANG");
    if (!set.empty()) return the_one(set, "$HSADRV_CLANG", interruptions);

    const Surroundings surroundings = surroundings_of_this_process();
    std::string rejected;
    for (const std::string& path : clang_places(surroundings)) {
        const auto checked = check(path, interruptions);
        if (const auto* clang = std::get_if<Clang>(&checked)) return *clang;
        const std::string line = fmt::format("{}: {}", path, std::get<WhyNot>(checked));
        log(line);
        rejected += "\n  " + line;
    }
    throw Failure(ExitStatus::no_clang,
                  fmt::format("no suitable clang: version {} or newer is required, with the target amdgcn and an "
                              "ld.lld; found {}\nSearched {}.\n{}",
                              oldest_clang, rejected.empty() ? "no clang at all" : "only" + rejected,
                              looked_at(surroundings), advice));
}

void require_known(const Clang& clang, std::span<const hsadrv::TargetId> targets, const Interruptions& interruptions) {
    const Captured said =
        capture({clang.path, "--target=amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus"}, interruptions);
    std::vector<std::string> known;
    std::istringstream words(said.text);
    for (std::string word; words >> word;)
        if (word.starts_with("gfx")) known.push_back(word);
    if (known.empty()) return;  // another output format: clang itself reports unknown processors
    for (const hsadrv::TargetId& target : targets) {
        if (std::find(known.begin(), known.end(), target.processor) != known.end()) continue;
        throw Failure(ExitStatus::usage,
                      fmt::format("--target {}: {} (version {}) does not know {}; it knows {}", target.name(),
                                  clang.path, clang.version, target.processor, fmt::join(known, " ")));
    }
}

std::string tool_beside(const Clang& clang, const std::string& name, const Interruptions& interruptions) {
    const std::string path = program_of(clang.path, name, interruptions);
    if (!path.empty()) return path;
    throw Failure(ExitStatus::no_clang, fmt::format("{} has no {} beside it: on Debian, install clang-tools-{}",
                                                    clang.path, name, clang.major));
}

}  // namespace hsadrv_cc
