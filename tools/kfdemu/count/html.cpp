// The counters as a page that needs no other file.
#include <fmt/format.h>

#include <algorithm>

#include "tools/kfdemu/count/listing.hpp"

namespace kfdemu::count {
namespace {

constexpr const char* kStyle = R"(body { font: 14px sans-serif; margin: 2em; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1em 0 }
th, td { padding: 1px 8px; text-align: right; white-space: pre }
th { border-bottom: 1px solid #888; font-weight: normal; color: #666 }
td:last-child, th:last-child, .left { text-align: left; font-family: monospace }
tr:hover { background: #eef }
.hot { background: linear-gradient(to left, #fc9 var(--part), transparent var(--part)) }
summary { cursor: pointer; margin: .5em 0 }
h2 { font-family: monospace; margin-top: 2em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #222 } tr:hover { background: #334 }
  .hot { background: linear-gradient(to left, #742 var(--part), transparent var(--part)) } })";

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string cell(const std::string& text) { return "<td>" + text + "</td>"; }

/// With a bar: its part of the largest.
std::string bar(std::uint64_t count, std::uint64_t largest) {
    if (count == 0) return "<td></td>";
    return fmt::format("<td class=\"hot\" style=\"--part: {:.0f}%\">{}</td>",
                       100.0 * static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(largest, 1)),
                       count);
}

/// The largest of each column that has bars.
struct Largest {
    std::uint64_t executions = 0, transactions = 0, conflicts = 0;

    void see(const Sums& s) {
        executions = std::max(executions, s.executions);
        transactions = std::max(transactions, all_traffic(s).transactions);
        conflicts = std::max(conflicts, s.lds.conflicts);
    }
};

std::string header_row(const char* last) {
    return fmt::format(
        "<tr><th>executed</th><th>mean lanes</th><th>partial</th><th>memory bytes</th><th>scratch bytes</th>"
        "<th>scalar bytes</th><th>transactions</th><th>coalescing</th><th>LDS bytes</th><th>bank conflicts</th>"
        "<th>taken</th><th>{}</th></tr>\n",
        last);
}

std::string table_row(const Sums& s, const Largest& most, const std::string& last) {
    const Traffic all = all_traffic(s);
    return "<tr>" + bar(s.executions, most.executions) + cell(rounded(mean_lanes(s))) + cell(some(s.partial)) +
           cell(some(s.memory.bytes)) + cell(some(s.scratch.bytes)) + cell(some(s.scalar.bytes)) +
           bar(all.transactions, most.transactions) + cell(rounded(coalescing(all))) + cell(some(s.lds.bytes)) +
           bar(s.lds.conflicts, most.conflicts) + cell(some(s.taken)) + cell(last) + "</tr>\n";
}

std::string facts(const ListedKernel& k) {
    std::string out = fmt::format(
        "<p>{} dispatches, {} work-groups, {} waves; {} instructions executed, {} of {} lanes active in vector "
        "instructions on average</p>\n<table><tr><th class=\"left\">class</th><th>executed</th></tr>\n",
        k.dispatches, k.groups, k.waves, k.total.executions, rounded(mean_lanes(k.vector)), k.lanes);
    for (std::size_t n = 0; n < kKinds; ++n)
        if (k.executed[n] != 0)
            out += fmt::format("<tr><td class=\"left\">{}</td><td>{}</td></tr>\n", name(static_cast<Kind>(n)),
                               k.executed[n]);
    return out + "</table>\n";
}

std::string line_table(const ListedKernel& k) {
    if (k.lines.empty()) return {};
    Largest most;
    for (const ListedLine& l : k.lines) most.see(l.sums);
    std::string out = "<details open><summary>by source line</summary><table>\n" + header_row("line");
    for (const ListedLine& l : k.lines)
        out += table_row(l.sums, most, fmt::format("{}:{}", escaped(short_name(l.file)), l.line));
    return out + "</table></details>\n";
}

std::string instruction_table(const ListedKernel& k) {
    Largest most;
    for (const ListedInstruction& i : k.instructions) most.see(i.sums);
    std::string out = "<details open><summary>by instruction</summary><table>\n" + header_row("instruction");
    for (const ListedInstruction& i : k.instructions)
        out += table_row(i.sums, most,
                         fmt::format("{:6x}: {:<52} {} {}", i.offset, escaped(i.text), escaped(place(i.source)),
                                     i.function == k.name ? "" : escaped(i.function)));
    return out + "</table></details>\n";
}

}  // namespace

std::string to_html(const Listing& listing) {
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Counters of {}</title>\n"
        "<style>{}</style></head><body>\n<h1>Counters of {}</h1>\n<p>Process {}. Counts, not times: a transaction is "
        "a cache line that an access touches; coalescing is the bytes asked for, of those that transactions "
        "move; bank conflicts are cycles of a model of {} banks.</p>\n",
        escaped(short_name(listing.program)), kStyle, escaped(listing.program), listing.process, kBanks);
    for (const ListedKernel& k : listing.kernels)
        out += "<h2>" + escaped(k.name) + "</h2>\n" + facts(k) + line_table(k) + instruction_table(k);
    return out + "</body></html>\n";
}

}  // namespace kfdemu::count
