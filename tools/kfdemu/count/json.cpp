// The counters as JSON, for programs.
#include <fmt/format.h>

#include "tools/kfdemu/check/report/json_text.hpp"
#include "tools/kfdemu/count/listing.hpp"

namespace kfdemu::count {
namespace {

using check::json_string;

template <class T, class Text>
std::string array(const std::vector<T>& items, Text&& text) {
    std::string out = "[";
    for (const T& item : items) out += (out.size() > 1 ? ", " : "") + text(item);
    return out + "]";
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.4f}", *value) : "null"; }

std::string traffic(const Traffic& t) {
    return fmt::format(R"({{"accesses": {}, "bytes": {}, "transactions": {}, "coalescing": {}}})", t.accesses, t.bytes,
                       t.transactions, number(coalescing(t)));
}

/// The members, without braces.
std::string sums(const Sums& s) {
    return fmt::format(
        R"("executions": {}, "lanes": {}, "partial": {}, "taken": {}, "memory": {}, "scratch": {}, "scalar": {}, )"
        R"("lds": {{"accesses": {}, "bytes": {}, "conflicts": {}}})",
        s.executions, s.lanes, s.partial, s.taken, traffic(s.memory), traffic(s.scratch), traffic(s.scalar),
        s.lds.accesses, s.lds.bytes, s.lds.conflicts);
}

std::string frame(const check::Frame& f) {
    return fmt::format(R"({{"function": {}, "file": {}, "line": {}}})", json_string(f.function), json_string(f.file),
                       f.line);
}

std::string line(const ListedLine& l) {
    return fmt::format(R"({{"file": {}, "line": {}, {}}})", json_string(l.file), l.line, sums(l.sums));
}

std::string instruction(const ListedInstruction& i) {
    return fmt::format(R"({{"offset": {}, "instruction": {}, "class": "{}", "function": {}, "source": {}, {}}})",
                       i.offset, json_string(i.text), name(i.kind), json_string(i.function), array(i.source, frame),
                       sums(i.sums));
}

std::string classes(const std::array<std::uint64_t, kKinds>& executed) {
    std::string out = "{";
    for (std::size_t k = 0; k < kKinds; ++k)
        out += fmt::format(R"({}"{}": {})", k == 0 ? "" : ", ", name(static_cast<Kind>(k)), executed[k]);
    return out + "}";
}

/// Addresses are text: a JSON number may lose bits of 64.
std::string kernel(const ListedKernel& k) {
    return fmt::format(
        R"({{"name": {}, "kernel_object": "{:#x}", "dispatches": {}, "work_groups": {}, "waves": {}, "wave_lanes": {}, )"
        R"("mean_lanes": {}, "classes": {}, "total": {{{}}}, "lines": {}, "instructions": {}}})",
        json_string(k.name), k.kernel_object, k.dispatches, k.groups, k.waves, k.lanes, number(mean_lanes(k.vector)),
        classes(k.executed), sums(k.total), array(k.lines, line), array(k.instructions, instruction));
}

}  // namespace

std::string to_json(const Listing& listing) {
    return fmt::format(R"({{"version": 1, "process": {}, "program": {}, "kernels": {}}})", listing.process,
                       json_string(listing.program), array(listing.kernels, kernel)) +
           "\n";
}

}  // namespace kfdemu::count
