#include "hsadrv/compile/clang.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <variant>

#include "hsadrv/compile.hpp"
#include "hsadrv/compile/llvm_places.hpp"

namespace hsadrv::detail {
namespace fs = std::filesystem;

namespace {

const std::string advice =
    "Install one (on Debian: apt-get install clang-19 lld-19 clang-tools-19 llvm-19)\nor name one with ";

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
std::string program_of(const std::string& clang, const std::string& name, const Ask& ask) {
    const Answer said = ask({clang, "--target=amdgcn-amd-amdhsa", "-print-prog-name=" + name});
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

/// Says why `clang` has no linker that works and is as new as itself; else empty, and clang.linker is set.
WhyNot require_linker(Clang& clang, const Ask& ask) {
    const std::string package = "install lld-" + std::to_string(clang.major);
    clang.linker = program_of(clang.path, "ld.lld", ask);
    if (clang.linker.empty()) return "it has no ld.lld: " + package;
    const Answer said = ask({clang.linker, "--version"});
    const std::string version = version_after(said.text, "LLD");
    if (said.status != 0 || version.empty()) {
        return "its linker " + clang.linker + " does not work: exit status " + std::to_string(said.status) + ": " +
               first_line(said.text);
    }
    if (major_of(version) >= clang.major) return "";
    return "its linker " + clang.linker + " is version " + version + ", older than itself (" + clang.version +
           "): " + package;
}

/// Says why `clang` has no bundler that works; else empty, and clang.bundler is set.
WhyNot require_bundler(Clang& clang, const Ask& ask) {
    const std::string version = std::to_string(clang.major);
    clang.bundler = program_of(clang.path, "clang-offload-bundler", ask);
    if (clang.bundler.empty())
        return "it has no clang-offload-bundler: install clang-tools-" + version + " and llvm-" + version;
    // It refuses to work without an llvm-objcopy, which another package has.
    const Answer tried = ask({clang.bundler, "-type=o", "-targets=host-x86_64-unknown-linux-gnu--", "-input=/dev/null",
                              "-output=/dev/null"});
    if (tried.status == 0) return "";
    return "its bundler " + clang.bundler + " does not work: exit status " + std::to_string(tried.status) + ": " +
           first_line(tried.text) + "; is llvm-" + version + " installed?";
}

/// Empty if it knows the processors of all targets.
std::string unknown_target(const Clang& clang, std::span<const TargetId> targets, const Ask& ask) {
    if (targets.empty()) return "";
    const Answer said = ask({clang.path, "--target=amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus"});
    std::set<std::string> known;
    std::string list;
    std::istringstream words(said.text);
    for (std::string word; words >> word;) {
        if (!word.starts_with("gfx")) continue;
        known.insert(word);
        list += " " + word;
    }
    if (known.empty()) return "";  // another output format: clang itself reports unknown processors
    for (const TargetId& target : targets)
        if (!known.count(target.processor)) return "does not know " + target.processor + "; it knows" + list;
    return "";
}

std::variant<Clang, WhyNot> check(const std::string& path, const Request& request, const Ask& ask) {
    Clang clang;
    clang.path = real_name(path);
    const Answer said = ask({clang.path, "--version"});
    if (said.status != 0)
        return "its --version ends with exit status " + std::to_string(said.status) + ": " + first_line(said.text);
    clang.version = version_after(said.text, "clang version");
    if (clang.version.empty()) return "its --version is not that of a clang: " + first_line(said.text);
    clang.major = major_of(clang.version);
    if (clang.major < oldest_clang) {
        return "it is version " + clang.version + ", and " + std::to_string(oldest_clang) +
               " is the oldest that compiles hsadrv's headers";
    }
    if (!has_line_with(ask({clang.path, "--print-targets"}).text, "amdgcn"))
        return "it was built without the target amdgcn";
    WhyNot why = require_linker(clang, ask);
    if (why.empty() && request.bundles) why = require_bundler(clang, ask);
    if (!why.empty()) return why;
    clang.unknown = unknown_target(clang, request.targets, ask);
    return clang;
}

Clang the_one(const std::string& name, const std::string& option, const Request& request, const Ask& ask) {
    const std::string path = find_in_path(name, surroundings_of_this_process().path);
    if (path.empty()) {
        const bool is_name = name.find('/') == name.npos;
        throw NoCompiler(option + " is " + name + ", which is not a program" + (is_name ? " in $PATH" : ""));
    }
    const auto checked = check(path, request, ask);
    if (const auto* why = std::get_if<WhyNot>(&checked))
        throw NoCompiler(option + " is " + name + ", which is not suitable: " + *why);
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

Clang find_clang(const Request& request, const Ask& ask, const Log& log) {
    if (!request.clang.empty()) return the_one(request.clang, request.option, request, ask);
    const std::string set = variable("HSADRV_CLANG");
    if (!set.empty()) return the_one(set, "$HSADRV_CLANG", request, ask);

    const LlvmSurroundings surroundings = surroundings_of_this_process();
    std::optional<Clang> without_target;
    std::string rejected;
    for (const std::string& path : llvm_places("clang", surroundings)) {
        const auto checked = check(path, request, ask);
        const auto* clang = std::get_if<Clang>(&checked);
        if (clang && clang->unknown.empty()) return *clang;
        if (clang && !without_target) without_target = *clang;
        const std::string line = path + ": " + (clang ? "it " + clang->unknown : std::get<WhyNot>(checked));
        log(line);
        rejected += "\n  " + line;
    }
    if (without_target) return *without_target;
    throw NoCompiler("no suitable clang: version " + std::to_string(oldest_clang) +
                     " or newer is required, with the target amdgcn and an ld.lld" +
                     (request.bundles ? " and, for a bundle, a clang-offload-bundler" : "") + "; found " +
                     (rejected.empty() ? "no clang at all" : "only" + rejected) + "\nSearched " +
                     looked_at("clang", surroundings) + ".\n" + advice + request.option + " or $HSADRV_CLANG");
}

}  // namespace hsadrv::detail
