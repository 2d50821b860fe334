// The findings as JSON, for programs.
#include <fmt/format.h>

#include "tools/kfdemu/check/report/json_text.hpp"
#include "tools/kfdemu/check/report/report.hpp"

namespace kfdemu::check {
namespace {

template <class T, class Text>
std::string list(const std::vector<T>& items, Text&& text) {
    std::string out = "[";
    for (const T& item : items) out += (out.size() > 1 ? ", " : "") + text(item);
    return out + "]";
}

std::string frame(const Frame& f) {
    return fmt::format(R"({{"function": {}, "file": {}, "line": {}}})", json_string(f.function), json_string(f.file),
                       f.line);
}

/// The members of a site, without braces. Addresses are text: a JSON number may lose bits of 64.
std::string site(const Site& s) {
    return fmt::format(R"("pc": "{:#x}", "instruction": {}, "function": {}, "source": {})", s.pc,
                       json_string(s.instruction), json_string(s.function), list(s.source, frame));
}

std::string related(const Related& r) { return fmt::format(R"({{"what": {}, {}}})", json_string(r.what), site(r.at)); }

std::string host_frame(const HostFrame& f) {
    return fmt::format(R"({{"function": {}, "file": {}, "line": {}, "object": {}}})", json_string(f.function),
                       json_string(f.file), f.line, json_string(f.object));
}

std::string stack(const HostStack& s) {
    return fmt::format(R"({{"what": {}, "frames": {}}})", json_string(s.what), list(s.frames, host_frame));
}

std::string finding(const Finding& f) {
    std::string out = fmt::format(R"({{"check": "{}", "rule": "{}", "what": {}, "count": {})", name(f.check), f.rule,
                                  json_string(f.what), f.count);
    if (f.of_kernel())
        out += fmt::format(R"(, {}, "kernel_object": "{:#x}", "gpu": {}, "queue": {}, "dispatch": {})", site(f.at),
                           f.kernel_object, f.gpu, f.queue_id, f.dispatch_id);
    if (f.of_kernel() && f.wave != kWholeKernel)
        out += fmt::format(R"(, "work_group": [{}, {}, {}], "wave": {})", f.group[0], f.group[1], f.group[2], f.wave);
    if (f.bytes != 0) out += fmt::format(R"(, "bytes": {})", f.bytes);
    if (f.lane != kWholeWave) out += fmt::format(R"(, "lane": {})", f.lane);
    if (!f.place.empty()) out += fmt::format(R"(, "address": "{:#x}", "place": {})", f.address, json_string(f.place));
    if (!f.stacks.empty()) out += fmt::format(R"(, "stacks": {})", list(f.stacks, stack));
    if (f.of_kernel()) out += fmt::format(R"(, "related": {})", list(f.related, related));
    return out + "}";
}

}  // namespace

std::string identity(const ProcessName& process) {
    return fmt::format(R"({{"process": {}, "started": "{}.{:09}")", process.id, process.started_ns / 1'000'000'000,
                       process.started_ns % 1'000'000'000);
}

std::string to_json(const Found& found, const Checks& checks, const Coverage& coverage) {
    return fmt::format(R"({}, "program": {}, "checks": "{}", "dispatches": {}, "waves": {}, "instructions": {}, )"
                       R"("distinct": {}, "suppressed": {}, "notes": {}, "findings": {}}})",
                       identity(found.process), json_string(found.process.program), to_string(checks),
                       coverage.dispatches.load(), coverage.waves.load(), coverage.instructions.load(),
                       found.totals.distinct, found.totals.suppressed, list(found.notes, json_string),
                       list(found.findings, finding));
}

}  // namespace kfdemu::check
