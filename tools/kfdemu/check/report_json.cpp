// The findings as JSON, for programs.
#include <fmt/format.h>

#include <algorithm>

#include "report.hpp"

namespace kfdemu::check {
namespace {

/// The length of the UTF-8 sequence at the text's begin; 0: it is none (RFC 3629, "Syntax of UTF-8 Byte Sequences").
std::size_t sequence(std::string_view text) {
    const auto byte = [&](std::size_t n) { return n < text.size() ? static_cast<unsigned char>(text[n]) : 0u; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;
    const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (std::size_t n = 1; n < length; ++n)
        if ((byte(n) & 0xc0) != 0x80) return 0;
    // Longer than needed, surrogates, beyond U+10FFFF.
    const bool wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                       (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
    return wrong ? 0 : length;
}

/// Names of functions and files are any bytes: those that are not UTF-8 become U+FFFD.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const char c = text[0];
        const std::size_t length = sequence(text);
        if (c == '"' || c == '\\')
            out += {'\\', c};
        else if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else if (length == 0)
            out += "\\ufffd";
        else
            out += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out + "\"";
}

template <class T, class Text>
std::string list(const std::vector<T>& items, Text&& text) {
    std::string out = "[";
    for (const T& item : items) out += (out.size() > 1 ? ", " : "") + text(item);
    return out + "]";
}

std::string frame(const Frame& f) {
    return fmt::format(R"({{"function": {}, "file": {}, "line": {}}})", quoted(f.function), quoted(f.file), f.line);
}

/// The members of a site, without braces. Addresses are text: a JSON number may lose bits of 64.
std::string site(const Site& s) {
    return fmt::format(R"("pc": "{:#x}", "instruction": {}, "function": {}, "source": {})", s.pc, quoted(s.instruction),
                       quoted(s.function), list(s.source, frame));
}

std::string related(const Related& r) { return fmt::format(R"({{"what": {}, {}}})", quoted(r.what), site(r.at)); }

std::string host_frame(const HostFrame& f) {
    return fmt::format(R"({{"function": {}, "file": {}, "line": {}, "object": {}}})", quoted(f.function),
                       quoted(f.file), f.line, quoted(f.object));
}

std::string stack(const HostStack& s) {
    return fmt::format(R"({{"what": {}, "frames": {}}})", quoted(s.what), list(s.frames, host_frame));
}

std::string finding(const Finding& f) {
    std::string out = fmt::format(R"({{"check": "{}", "rule": "{}", "what": {}, "count": {})", name(f.check), f.rule,
                                  quoted(f.what), f.count);
    if (f.of_kernel())
        out += fmt::format(R"(, {}, "kernel_object": "{:#x}", "gpu": {}, "queue": {}, "dispatch": {})", site(f.at),
                           f.kernel_object, f.gpu, f.queue_id, f.dispatch_id);
    if (f.of_kernel() && f.wave != kWholeKernel)
        out += fmt::format(R"(, "work_group": [{}, {}, {}], "wave": {})", f.group[0], f.group[1], f.group[2], f.wave);
    if (f.bytes != 0) out += fmt::format(R"(, "bytes": {})", f.bytes);
    if (f.lane != kWholeWave) out += fmt::format(R"(, "lane": {})", f.lane);
    if (!f.place.empty()) out += fmt::format(R"(, "address": "{:#x}", "place": {})", f.address, quoted(f.place));
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
                       identity(found.process), quoted(found.process.program), to_string(checks),
                       coverage.dispatches.load(), coverage.waves.load(), coverage.instructions.load(),
                       found.totals.distinct, found.totals.suppressed, list(found.notes, quoted),
                       list(found.findings, finding));
}

}  // namespace kfdemu::check
