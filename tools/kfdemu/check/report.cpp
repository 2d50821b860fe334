#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace kfdemu::check {
namespace {

/// Distinct findings that are kept and printed; more than a person reads.
constexpr std::size_t kMost = 200;

std::string place_of(const Site& site) {
    if (site.source.empty()) return {};
    const Frame& innermost = site.source.front();
    std::string text = fmt::format("{}:{}", innermost.file, innermost.line);
    if (!innermost.function.empty()) text += " in " + innermost.function;
    for (std::size_t n = 1; n < site.source.size(); ++n)
        text += fmt::format(", inlined at {}:{}{}", site.source[n].file, site.source[n].line,
                            site.source[n].function.empty() ? "" : " in " + site.source[n].function);
    return text;
}

std::string site_lines(const Site& site, const char* label) {
    std::string text = fmt::format("    {} {:#x}: {}", label, site.pc, site.instruction);
    if (const std::string source = place_of(site); !source.empty())
        text += fmt::format("\n        {}", source);
    else if (!site.function.empty())
        text += fmt::format("\n        in {}", site.function);
    return text + "\n";
}

std::string who(const Finding& f) {
    const std::string lane = f.lane == kWholeWave ? "" : fmt::format("lane {} of ", f.lane);
    return fmt::format("{}wave {} of work-group ({}, {}, {})", lane, f.wave, f.group[0], f.group[1], f.group[2]);
}

std::string times(std::uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

}  // namespace

std::string to_text(const Finding& f) {
    std::string text = fmt::format("check {}: {}\n", name(f.check), f.what);
    text += site_lines(f.at, "at");
    text += fmt::format("    {}, kernel object {:#x}, dispatch {}\n", who(f), f.kernel_object, f.dispatch_id);
    if (!f.place.empty()) text += fmt::format("    address {:#x}: {}\n", f.address, f.place);
    for (const Related& related : f.related) text += site_lines(related.at, related.what.c_str());
    return text;
}

bool Report::is_new(Check check, const char* rule, std::uint64_t pc) {
    std::lock_guard lock{mutex_};
    return ++counts_[{check, pc, rule}] == 1;
}

void Report::add(Finding finding) {
    if (locate_) {
        locate_(finding.at);
        for (Related& related : finding.related) locate_(related.at);
    }
    std::lock_guard lock{mutex_};
    if (findings_.size() == kMost) return;
    if (print_) print_(to_text(finding));
    findings_.push_back(std::move(finding));
}

std::vector<Finding> Report::counted() const {
    std::vector<Finding> result = findings_;
    for (Finding& f : result)
        if (const auto found = counts_.find({f.check, f.at.pc, f.rule}); found != counts_.end())
            f.count = found->second;
    return result;
}

std::vector<Finding> Report::findings() const {
    std::lock_guard lock{mutex_};
    return counted();
}

std::uint64_t Report::distinct() const {
    std::lock_guard lock{mutex_};
    return counts_.size();
}

std::uint64_t Report::occurrences() const {
    std::lock_guard lock{mutex_};
    std::uint64_t sum = 0;
    for (const auto& [key, count] : counts_) sum += count;
    return sum;
}

void Report::clear() {
    std::lock_guard lock{mutex_};
    counts_.clear();
    findings_.clear();
}

std::string Report::summary(const Checks& checks) const {
    std::string text = fmt::format("check: {} in {} kernels, {} waves, {} instructions: ", to_string(checks),
                                   coverage.dispatches.load(), coverage.waves.load(), coverage.instructions.load());
    const std::vector<Finding> all = findings();
    if (all.empty()) return text + "nothing found\n";
    text += fmt::format("{} finding{}\n", distinct(), distinct() == 1 ? "" : "s");
    for (const Finding& f : all) {
        const std::string source = place_of(f.at);
        text += fmt::format("    {}, {}: {} at {}\n", name(f.check), times(f.count), f.what,
                            source.empty() ? f.at.instruction : source);
    }
    if (distinct() > all.size()) text += fmt::format("    {} more are not listed\n", distinct() - all.size());
    return text;
}

bool Report::write(const std::string& path, const Checks& checks) const {
    std::FILE* file = std::fopen(path.c_str(), "we");
    if (file == nullptr) return false;
    const std::string text = to_json(findings(), checks, coverage);
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written;
}

}  // namespace kfdemu::check
