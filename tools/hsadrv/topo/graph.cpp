#include "tools/hsadrv/topo/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "tools/hsadrv/info/units.hpp"

namespace hsadrv_tool {
namespace {

using hsadrv::Link;
using hsadrv::LinkType;

/// The first hop gives the name, the narrowest one the bandwidth.
Edge edge_of(const std::vector<Link>& hops) {
    Edge edge;
    edge.hops = hops.size();
    edge.type = hops.front().type;
    edge.distance = hops.front().numa_distance;
    edge.min_mb_s = edge.max_mb_s = std::numeric_limits<std::uint32_t>::max();
    for (const Link& hop : hops) {
        edge.min_mb_s = std::min(edge.min_mb_s, hop.min_bandwidth_mb_s);
        edge.max_mb_s = std::min(edge.max_mb_s, hop.max_bandwidth_mb_s);
        edge.distance = std::max(edge.distance, hop.numa_distance);
    }
    return edge;
}

/// The link between two agents, whichever of them reaches the other.
Maybe<Edge> link_between(const AgentFacts& a, std::size_t index_a, const AgentFacts& b, std::size_t index_b) {
    const auto* const there = hops_between(a, b.number);
    const auto* const back = hops_between(b, a.number);
    if (!there && !back) return std::nullopt;
    Edge edge = edge_of(there ? *there : *back);
    edge.a = there ? index_a : index_b;
    edge.b = there ? index_b : index_a;
    edge.one_way = !(there && back);
    return edge;
}

Node node_of(const AgentFacts& agent) {
    Node node;
    node.number = agent.number;
    node.label = agent.label;
    node.product = agent.product.empty() ? agent.name : agent.product;
    node.memory_bytes = memory_bytes(agent);
    node.compute_units = agent.compute_units;
    node.node = agent.node;
    if (agent.kind != AgentKind::cpu) {
        node.target = target_of(agent);
        node.pci = agent.pci.text();
    }
    return node;
}

using AgentPointers = std::vector<const AgentFacts*>;

/// The nearest CPU according to the runtime, or else the one at the smallest distance.
std::size_t home_of(const AgentFacts& gpu, const AgentPointers& cpus) {
    std::size_t home = 0;
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        if (gpu.nearest_cpu == cpus[i]->number) return i;
        const auto link = link_between(gpu, 0, *cpus[i], 0);
        if (link && link->distance < least) {
            home = i;
            least = link->distance;
        }
    }
    return home;
}

std::vector<Edge> links_among(const AgentPointers& agents) {
    std::vector<Edge> edges;
    for (std::size_t a = 0; a < agents.size(); ++a)
        for (std::size_t b = a + 1; b < agents.size(); ++b)
            if (const auto edge = link_between(*agents[a], a, *agents[b], b)) edges.push_back(*edge);
    return edges;
}

/// The nodes that are connected by edges of one type, directly or through others.
std::vector<std::vector<std::size_t>> components(const std::vector<Edge>& edges, LinkType type, std::size_t count) {
    std::vector<std::size_t> group(count);
    for (std::size_t i = 0; i < count; ++i) group[i] = i;
    for (const Edge& edge : edges)
        if (edge.type == type && group[edge.a] != group[edge.b])
            std::replace(group.begin(), group.end(), group[edge.b], group[edge.a]);
    std::map<std::size_t, std::vector<std::size_t>> found;
    for (std::size_t i = 0; i < count; ++i) found[group[i]].push_back(i);
    std::vector<std::vector<std::size_t>> lists;
    for (auto& [of, list] : found)
        if (list.size() > 1) lists.push_back(std::move(list));
    std::sort(lists.begin(), lists.end());
    return lists;
}

bool inside(const Edge& edge, const std::vector<std::size_t>& members) {
    return std::binary_search(members.begin(), members.end(), edge.a) &&
           std::binary_search(members.begin(), members.end(), edge.b);
}

/// Moves those edges that make up whole hives out of `loose`.
void find_hives(Graph& graph, LinkType type) {
    for (const auto& members : components(graph.loose, type, graph.gpus.size())) {
        Hive hive{members, {}};
        std::size_t links = 0;
        for (const Edge& edge : graph.loose) {
            if (edge.type != type || !inside(edge, members)) continue;
            if (links++ == 0) hive.link = edge;
            hive.link.min_mb_s = std::min(hive.link.min_mb_s, edge.max_mb_s);
            hive.link.max_mb_s = std::max(hive.link.max_mb_s, edge.max_mb_s);
            hive.link.distance = std::max(hive.link.distance, edge.distance);
            hive.link.one_way |= edge.one_way;
        }
        if (links != members.size() * (members.size() - 1) / 2) continue;
        std::erase_if(graph.loose, [&](const Edge& edge) { return edge.type == type && inside(edge, members); });
        graph.hives.push_back(std::move(hive));
    }
}

std::string join(std::initializer_list<std::string> parts) {
    std::string text;
    for (const std::string& part : parts)
        if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
    return text;
}

std::string distance_text(const Edge& edge) {
    return edge.distance == 0 ? "" : fmt::format("distance {}", edge.distance);
}

}  // namespace

std::string bandwidth_text(const Edge& edge) { return edge.max_mb_s == 0 ? "" : rate_text(edge.max_mb_s); }

std::string Edge::text() const {
    return join({hsadrv::link_type_name(type), bandwidth_text(*this), distance_text(*this),
                 hops > 1 ? counted(hops, "hop") : "", one_way ? "one way" : ""});
}

std::string Hive::text() const {
    return join({hsadrv::link_type_name(link.type), members.size() > 2 ? "each with each" : "", bandwidth_text(link),
                 distance_text(link), link.one_way ? "some one way" : ""});
}

std::vector<std::size_t> Graph::gpus_of(std::size_t cpu) const {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < gpus.size(); ++i)
        if (gpus[i].home == cpu) list.push_back(i);
    return list;
}

const Edge* Graph::host_link(std::size_t gpu) const {
    for (const Edge& edge : to_cpu)
        if (edge.a == gpu) return &edge;
    return nullptr;
}

Graph graph_of(const Facts& facts) {
    Graph graph;
    AgentPointers cpus, gpus;
    for (const AgentFacts& agent : facts.agents) (agent.kind == AgentKind::cpu ? cpus : gpus).push_back(&agent);
    for (const AgentFacts* cpu : cpus) graph.cpus.push_back(node_of(*cpu));
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        graph.gpus.push_back(node_of(*gpus[i]));
        if (cpus.empty()) continue;
        const std::size_t home = graph.gpus[i].home = home_of(*gpus[i], cpus);
        auto edge = link_between(*gpus[i], i, *cpus[home], home);
        if (!edge) continue;
        edge->a = i;
        edge->b = home;
        graph.to_cpu.push_back(*edge);
    }
    graph.between_cpus = links_among(cpus);
    graph.between_gpus = graph.loose = links_among(gpus);
    for (const LinkType type : {LinkType::xgmi, LinkType::pcie, LinkType::hypertransport, LinkType::qpi,
                                LinkType::infiniband, LinkType::other})
        find_hives(graph, type);
    return graph;
}

}  // namespace hsadrv_tool
