#include <fmt/format.h>

#include "tools/hsadrv/info/units.hpp"
#include "tools/hsadrv/topo/report.hpp"

namespace hsadrv_tool {
namespace {

/// As the DOT language quotes: only quotation marks and backslashes mean something.
std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') result += '\\';
        result += letter;
    }
    return result + "\"";
}

/// Those lines of a label that are not empty.
std::string label(std::initializer_list<std::string> lines) {
    std::string text;
    for (const std::string& line : lines) {
        if (line.empty()) continue;
        const std::string body = in_quotes(line);
        text += (text.empty() ? "" : "\\n") + body.substr(1, body.size() - 2);
    }
    return "\"" + text + "\"";
}

const char* colour(hsadrv::LinkType type) {
    switch (type) {
        case hsadrv::LinkType::xgmi:
            return "#d1603d";
        case hsadrv::LinkType::pcie:
            return "#3f7cac";
        default:
            return "#7a7a7a";
    }
}

std::string edge_line(const Node& a, const Node& b, const Edge& edge, bool ranks) {
    return fmt::format("  {} -- {} [label={}, color=\"{}\"{}{}];\n", in_quotes(a.label), in_quotes(b.label),
                       label({hsadrv::link_type_name(edge.type), bandwidth_text(edge),
                              edge.distance == 0 ? "" : fmt::format("distance {}", edge.distance)}),
                       colour(edge.type), edge.type == hsadrv::LinkType::xgmi ? ", penwidth=2" : "",
                       ranks ? "" : ", constraint=false");
}

}  // namespace

std::string as_dot(const Graph& graph) {
    std::string text =
        "graph topology {\n"
        "  graph [rankdir=TB, nodesep=0.6, ranksep=1.5, bgcolor=\"transparent\", fontname=\"sans-serif\"];\n"
        "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f4f6f8\", fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n";
    for (const Node& cpu : graph.cpus)
        text += fmt::format(
            "  {} [fillcolor=\"#e3ecf5\", label={}];\n", in_quotes(cpu.label),
            label({cpu.label, cpu.product, fmt::format("{} CPUs, {}", cpu.compute_units, size_text(cpu.memory_bytes)),
                   fmt::format("NUMA node {}", cpu.node)}));
    for (const Node& gpu : graph.gpus)
        text +=
            fmt::format("  {} [fillcolor=\"#fbeee6\", label={}];\n", in_quotes(gpu.label),
                        label({gpu.label, gpu.product, gpu.target,
                               fmt::format("{}, {} CUs", size_text(gpu.memory_bytes), gpu.compute_units), gpu.pci}));
    for (const auto& [name, nodes] : {std::pair{"cpus", &graph.cpus}, std::pair{"gpus", &graph.gpus}}) {
        if (nodes->empty()) continue;
        text += "  { rank=same;";
        for (const Node& node : *nodes) text += " " + in_quotes(node.label) + ";";
        text += fmt::format(" }}  // {}\n", name);
    }
    for (const Edge& edge : graph.between_cpus) text += edge_line(graph.cpus[edge.a], graph.cpus[edge.b], edge, false);
    for (const Edge& edge : graph.to_cpu) text += edge_line(graph.cpus[edge.b], graph.gpus[edge.a], edge, true);
    for (const Edge& edge : graph.between_gpus) text += edge_line(graph.gpus[edge.a], graph.gpus[edge.b], edge, false);
    return text + "}\n";
}

}  // namespace hsadrv_tool
