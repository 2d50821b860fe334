#include "tools/kfdemu/check/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/kfdemu/check/report/elf_symbols.hpp"

namespace kfdemu::check {
namespace {

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
        text += fmt::format("\n        in {}", readable(site.function));
    return text + "\n";
}

/// More are in the JSON.
constexpr std::size_t kPrintedFrames = 8;

bool is_unknown(const HostFrame& frame) { return frame.function.empty() && frame.file.empty(); }

/// Of a stripped library's own functions in a row, one.
std::vector<HostFrame> without_repeats(std::vector<HostFrame> frames) {
    const auto same = [](const HostFrame& a, const HostFrame& b) {
        return is_unknown(a) && is_unknown(b) && a.object == b.object;
    };
    frames.erase(std::unique(frames.begin(), frames.end(), same), frames.end());
    return frames;
}

std::string stack_lines(const HostStack& stack) {
    std::string text;
    const std::vector<HostFrame> frames = without_repeats(stack.frames);
    const std::size_t count = std::min(frames.size(), kPrintedFrames);
    for (std::size_t n = 0; n < count; ++n)
        text +=
            fmt::format("{}{}\n", n == 0 ? fmt::format("    {} at ", stack.what) : "        from ", to_text(frames[n]));
    if (count < frames.size()) text += fmt::format("        and {} more\n", frames.size() - count);
    return text;
}

/// Where it is, on one line: for the summary.
std::string short_place(const Finding& f) {
    if (!f.of_kernel())
        return f.stacks.empty() || f.stacks.front().frames.empty() ? "" : to_text(f.stacks.front().frames.front());
    const std::string source = place_of(f.at);
    return source.empty() ? f.at.instruction : source;
}

std::string wave_text(const Finding& f) {
    if (f.wave == kWholeKernel) return "";
    const std::string lane = f.lane == kWholeWave ? "" : fmt::format("lane {} of ", f.lane);
    return fmt::format("{}wave {} of work-group ({}, {}, {}), ", lane, f.wave, f.group[0], f.group[1], f.group[2]);
}

std::string times(std::uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

}  // namespace

std::string to_text(const HostFrame& frame) {
    std::string text = frame.file.empty() ? "" : fmt::format("{}:{} in ", frame.file, frame.line);
    text += frame.function.empty() ? "unknown code" : frame.function;
    return frame.object.empty() ? text : text + ", " + frame.object;
}

std::string to_text(const Finding& f) {
    std::string text = fmt::format("check {}: {}\n", name(f.check), f.what);
    if (f.of_kernel()) {
        text += site_lines(f.at, "at");
        text += fmt::format("    {}kernel object {:#x}, GPU {}, queue {}, dispatch {}\n", wave_text(f), f.kernel_object,
                            f.gpu, f.queue_id, f.dispatch_id);
    }
    if (!f.place.empty()) text += fmt::format("    address {:#x}: {}\n", f.address, f.place);
    for (const HostStack& stack : f.stacks) text += stack_lines(stack);
    for (const Related& related : f.related) text += site_lines(related.at, related.what.c_str());
    return text;
}

bool Report::is_new(Check check, const char* rule, const isa::Inst& inst) {
    std::lock_guard lock{mutex_};
    return ++counts_[{check, inst.pc, inst.code(), rule}].times == 1;
}

bool Report::is_new(const Finding& finding) {
    std::lock_guard lock{mutex_};
    return ++counts_[key_of(finding)].times == 1;
}

Report::Settings Report::settings() const {
    std::lock_guard lock{mutex_};
    return settings_;
}

void Report::set(Settings settings) {
    std::lock_guard lock{mutex_};
    settings_ = std::move(settings);
}

std::string Report::suppress(std::string_view line) {
    std::lock_guard lock{mutex_};
    return settings_.suppressions.add(line);
}

void Report::set_suppressions(Suppressions suppressions) {
    std::lock_guard lock{mutex_};
    settings_.suppressions = std::move(suppressions);
}

void Report::set_limit(std::size_t limit) {
    std::lock_guard lock{mutex_};
    settings_.limit = limit;
}

void Report::set_stop(std::function<void()> stop) {
    std::lock_guard lock{mutex_};
    settings_.stop = std::move(stop);
}

void Report::set_on_finding(std::function<void()> call) {
    std::lock_guard lock{mutex_};
    settings_.on_finding = std::move(call);
}

void Report::add(Finding finding) {
    std::unique_lock lock{mutex_};
    const auto is_captured = [](const HostStack& stack) { return stack.id != 0; };
    const bool has_names = !finding.of_kernel() && std::ranges::none_of(finding.stacks, is_captured);
    if (!resolve_ || has_names || is_unseen(finding.check)) return announce(lock, keep(std::move(finding)));
    pending_.push_back(std::move(finding));
    wait_for(lock, taken_ + pending_.size());
}

void Report::announce(std::unique_lock<std::mutex>& lock, bool kept) {
    if (!kept) return;
    const auto stop = settings_.stop, on_finding = settings_.on_finding;
    stopped_ |= stop != nullptr;
    lock.unlock();
    if (on_finding) on_finding();
    if (stop) stop();
    lock.lock();
}

void Report::add_counted(Finding finding, std::uint64_t times) {
    {
        std::lock_guard lock{mutex_};
        counts_[key_of(finding)].times += times;
    }
    add(std::move(finding));
}

void Report::note(std::string text) {
    std::lock_guard lock{mutex_};
    if (print_) print_("check: " + text + "\n");
    notes_.push_back(std::move(text));
}

bool Report::keep(Finding&& finding) {
    if (stopped_) return false;
    if (finding.is_none()) return counts_[key_of(finding)].none = true, false;
    if (settings_.suppressions.match(finding)) return counts_[key_of(finding)].suppressed = true, false;
    const bool full = findings_.size() >= settings_.limit;
    if (full && !limit_told_ && print_)
        print_(fmt::format("check: more than {} findings: further ones are counted only\n", settings_.limit));
    limit_told_ |= full;
    if (full) return false;
    if (print_) print_(to_text(finding));
    findings_.push_back(std::move(finding));
    return true;
}

std::vector<Finding> Report::counted() const {
    std::vector<Finding> result = findings_;
    for (Finding& f : result)
        if (const auto found = counts_.find(key_of(f)); found != counts_.end()) f.count = found->second.times;
    return result;
}

std::vector<Finding> Report::findings() const {
    std::lock_guard lock{mutex_};
    return counted();
}

std::uint64_t Report::distinct() const { return totals().distinct; }

Totals Report::totals() const {
    std::lock_guard lock{mutex_};
    Totals result;
    for (const auto& [key, count] : counts_)
        if (!count.none) ++(count.suppressed ? result.suppressed : result.distinct);
    return result;
}

std::uint64_t Report::occurrences() const {
    std::lock_guard lock{mutex_};
    std::uint64_t sum = 0;
    for (const auto& [key, count] : counts_)
        if (!count.suppressed && !count.none) sum += count.times;
    return sum;
}

std::vector<std::string> Report::notes() const {
    std::lock_guard lock{mutex_};
    return notes_;
}

void Report::clear() {
    std::lock_guard lock{mutex_};
    counts_.clear();
    taken_ += pending_.size();
    pending_.clear();
    findings_.clear();
    notes_.clear();
    limit_told_ = stopped_ = false;
}

std::string Report::summary(const Checks& checks) const {
    std::string text = fmt::format("check: {} in {} kernels, {} waves, {} instructions: ", to_string(checks),
                                   coverage.dispatches.load(), coverage.waves.load(), coverage.instructions.load());
    const std::vector<Finding> all = findings();
    const auto [distinct, suppressed] = totals();
    const std::string others = suppressed == 0 ? "" : fmt::format(", {} suppressed", suppressed);
    if (distinct == 0) return text + "nothing found" + others + "\n";
    text += fmt::format("{} finding{}{}\n", distinct, distinct == 1 ? "" : "s", others);
    for (const Finding& f : all)
        text += fmt::format("    {}{}: {} at {}\n", name(f.check), f.of_kernel() ? ", " + times(f.count) : "", f.what,
                            short_place(f));
    if (distinct > all.size()) text += fmt::format("    {} more are not listed\n", distinct - all.size());
    return text;
}

}  // namespace kfdemu::check
