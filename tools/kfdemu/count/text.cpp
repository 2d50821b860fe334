// The counters as text, for terminals.
#include <fmt/format.h>

#include "tools/kfdemu/count/listing.hpp"

namespace kfdemu::count {
namespace {

std::string plural(std::uint64_t count, const char* what, const char* ending = "s") {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : ending);
}

std::string traffic_line(const char* what, const Traffic& t) {
    if (t.transactions == 0) return {};
    return fmt::format("    {:<9}{}, {} asked for, {} of {} bytes: coalescing {}\n", what,
                       plural(t.accesses, "access", "es"), plural(t.bytes, "byte"),
                       plural(t.transactions, "transaction"), t.moved / t.transactions, rounded(coalescing(t)));
}

std::string head(const ListedKernel& k) {
    std::string text = fmt::format("{}: {}, {}, {}\n", k.name, plural(k.dispatches, "dispatch", "es"),
                                   plural(k.groups, "work-group"), plural(k.waves, "wave"));
    text += fmt::format("    executed {}", plural(k.total.executions, "instruction"));
    const char* before = ": ";
    for (std::size_t n = 0; n < kKinds; ++n) {
        if (k.executed[n] == 0) continue;
        text += fmt::format("{}{} {}", before, k.executed[n], name(static_cast<Kind>(n)));
        before = ", ";
    }
    text += "\n";
    if (const auto lanes = mean_lanes(k.vector))
        text += fmt::format("    lanes    {:.2f} of {} in a vector instruction, fewer than {} in {}\n", *lanes, k.lanes,
                            k.lanes, k.vector.partial);
    text += traffic_line("memory", k.total.memory) + traffic_line("scratch", k.total.scratch) +
            traffic_line("scalar", k.total.scalar);
    if (const LdsTraffic& lds = k.total.lds; lds.accesses != 0)
        text += fmt::format("    lds      {} accesses, {} bytes, {} cycles of bank conflicts\n", lds.accesses,
                            lds.bytes, lds.conflicts);
    return text;
}

constexpr const char* kColumns = "{:>12} {:>7} {:>14} {:>14} {:>10} {:>12} {:>12}  {}\n";

std::string titles(const char* last) {
    return "\n" + fmt::format(kColumns, "executed", "lanes", "bytes", "transactions", "coalescing", "conflicts",
                              "taken", last);
}

std::string row(const Sums& s, const std::string& last) {
    const Traffic all = all_traffic(s);
    return fmt::format(kColumns, s.executions, rounded(mean_lanes(s)), some(all.bytes + s.lds.bytes),
                       some(all.transactions), rounded(coalescing(all)), some(s.lds.conflicts), some(s.taken), last);
}

std::string kernel_text(const ListedKernel& k) {
    std::string text = head(k);
    if (!k.lines.empty()) text += titles("line");
    for (const ListedLine& l : k.lines) text += row(l.sums, fmt::format("{}:{}", short_name(l.file), l.line));
    text += titles("instruction");
    for (const ListedInstruction& i : k.instructions) {
        const std::string where = place(i.source);
        text += row(i.sums, fmt::format("{:6x}: {}{}{}", i.offset, i.text, where.empty() ? "" : "  ; ", where));
    }
    return text;
}

}  // namespace

std::string to_text(const Listing& listing) {
    std::string text = fmt::format("process {}: {}\n", listing.process, listing.program);
    for (const ListedKernel& k : listing.kernels) text += "\n" + kernel_text(k);
    return text;
}

}  // namespace kfdemu::count
