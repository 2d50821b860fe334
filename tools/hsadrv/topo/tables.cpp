// Tables, a row for each agent and a column for the memory of each: as rocm-smi and nvidia-smi show a topology.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tools/common/table.hpp"
#include "tools/hsadrv/info/units.hpp"
#include "tools/hsadrv/topo/report.hpp"

namespace hsadrv_tool {
namespace {

using hsadrv::Link;
using Hops = std::vector<Link>;

std::string bandwidth_of(const Hops& hops) {
    std::uint32_t least = hops.front().max_bandwidth_mb_s;
    for (const Link& hop : hops) least = std::min(least, hop.max_bandwidth_mb_s);
    return least == 0 ? "?" : fmt::format("{:.1f}", least / 1000.0);
}

/// The types of the hops, each once: "PCIe", "PCIe+xGMI".
std::string types_of(const Hops& hops) {
    std::string text;
    for (const Link& hop : hops)
        if (const std::string name = hsadrv::link_type_name(hop.type); text.find(name) == std::string::npos)
            text += (text.empty() ? "" : "+") + name;
    return text;
}

std::string distance_of(const Hops& hops) {
    std::uint32_t most = 0;
    for (const Link& hop : hops) most = std::max(most, hop.numa_distance);
    return fmt::format("{}", most);
}

using Cell = std::function<std::string(const Hops&)>;
using Rows = std::vector<std::vector<std::string>>;

/// All agents; "-" on the diagonal, "none" where the memory cannot be reached.
Rows cells_of(const Facts& facts, const Cell& cell) {
    Rows rows{{""}};
    for (const AgentFacts& agent : facts.agents) rows.front().push_back(agent.label);
    for (const AgentFacts& from : facts.agents) {
        rows.push_back({from.label});
        for (const AgentFacts& to : facts.agents) {
            const Hops* const hops = hops_between(from, to.number);
            rows.back().push_back(&from == &to ? "-" : hops ? cell(*hops) : "none");
        }
    }
    return rows;
}

/// Below one another in parts that are no wider than the terminal.
std::string table(const std::string& title, const Rows& rows, const Terminal& terminal) {
    std::size_t widest = 0;
    for (const auto& row : rows)
        for (const std::string& text : row) widest = std::max(widest, text.size());
    const std::size_t room = std::max<std::size_t>(terminal.columns / (widest + 2), 3) - 1;
    std::string text;
    for (std::size_t first = 1; first < rows.front().size(); first += room) {
        Rows part;
        std::vector<std::size_t> right;
        const std::size_t last = std::min(first + room, rows.front().size());
        for (const auto& row : rows) {
            part.push_back({row.front()});
            part.back().insert(part.back().end(), row.begin() + static_cast<std::ptrdiff_t>(first),
                               row.begin() + static_cast<std::ptrdiff_t>(last));
        }
        for (std::size_t i = 1; i <= last - first; ++i) right.push_back(i);
        text += "\n" + terminal.paint(Ink::heading, title) + "\n" + tools::aligned(part, 0, right);
    }
    return text;
}

}  // namespace

std::string tables_text(const Facts& facts, const Terminal& terminal) {
    return table("Type of the link from an agent to a memory", cells_of(facts, types_of), terminal) +
           table("NUMA distance", cells_of(facts, distance_of), terminal) +
           table("Hops", cells_of(facts, [](const Hops& hops) { return fmt::format("{}", hops.size()); }), terminal) +
           table("Bandwidth at most, GB/s", cells_of(facts, bandwidth_of), terminal);
}

std::string as_topo_text(const Facts& facts, const Terminal& terminal) {
    const Graph graph = graph_of(facts);
    const std::string links = links_text(graph);
    std::string text = drawing_text(graph, terminal) + (links.empty() ? "" : "\n" + links);
    if (graph.gpus.empty())
        text += "\n" + terminal.paint(Ink::warning, "no GPU") + ": run hsadrv doctor to find the cause\n";
    return text + (facts.agents.size() > 1 ? tables_text(facts, terminal) : "");
}

}  // namespace hsadrv_tool
