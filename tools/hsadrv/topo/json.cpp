#include <algorithm>

#include "tools/hsadrv/info/report.hpp"
#include "tools/hsadrv/topo/report.hpp"

namespace hsadrv_tool {
namespace {

Json node_json(const Node& node, const AgentFacts& agent) {
    const bool gpu = agent.kind == AgentKind::gpu;
    Json json = {{"number", node.number},
                 {"label", node.label},
                 {"kind", gpu                            ? "gpu"
                          : agent.kind == AgentKind::cpu ? "cpu"
                                                         : "other"}};
    json["product"] = node.product;
    json["target"] = node.target.empty() ? Json(nullptr) : Json(node.target);
    json["uuid"] = agent.uuid;
    json["pci_address"] = node.pci.empty() ? Json(nullptr) : Json(node.pci);
    json["memory_bytes"] = node.memory_bytes;
    json["compute_units"] = node.compute_units;
    json["numa_node"] = agent.kind == AgentKind::cpu ? Json(node.node) : Json(nullptr);
    return json;
}

Json numbers(const std::vector<Node>& nodes, const std::vector<std::size_t>& indices) {
    Json list = Json::array();
    for (const std::size_t index : indices) list.push_back(nodes[index].number);
    return list;
}

}  // namespace

Json as_topo_json(const Facts& facts) {
    const Graph graph = graph_of(facts);
    Json report = json_report("topo");
    report["agents"] = Json::array();
    report["links"] = Json::array();
    for (const AgentFacts& agent : facts.agents) {
        const auto& nodes = agent.kind == AgentKind::cpu ? graph.cpus : graph.gpus;
        const auto node =
            std::find_if(nodes.begin(), nodes.end(), [&](const Node& one) { return one.number == agent.number; });
        Json json = node_json(*node, agent);
        const bool has_home =
            agent.kind != AgentKind::cpu && graph.host_link(static_cast<std::size_t>(node - nodes.begin()));
        json["nearest_cpu_agent"] = has_home ? Json(graph.cpus[node->home].number) : Json(nullptr);
        report["agents"].push_back(std::move(json));
        for (const WayFacts& way : agent.ways)
            report["links"].push_back(
                {{"from_agent", agent.number}, {"to_agent", way.to}, {"hops", hops_json(way.hops)}});
    }
    report["hives"] = Json::array();
    for (const Hive& hive : graph.hives)
        report["hives"].push_back(
            {{"type", hsadrv::link_type_name(hive.link.type)}, {"agents", numbers(graph.gpus, hive.members)}});
    return report;
}

}  // namespace hsadrv_tool
