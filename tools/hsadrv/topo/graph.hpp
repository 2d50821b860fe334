// Graph: agents and links as drawn: CPUs, each with its nearest GPUs, and the links between GPUs.
//
//     const Graph graph = graph_of(facts);
//     for (const Node& gpu : graph.gpus) draw(gpu, graph.cpus[gpu.home]);
//
// A link is drawn once for both directions. GPUs that are linked pairwise by one type are one Hive instead of many
// links. Between a GPU and the CPUs only the link to the nearest CPU is kept: the kernel's driver also lists paths
// across other CPUs as links. Pure data. Thread safety: values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/hsadrv/info/facts.hpp"

namespace hsadrv_tool {

struct Node {
    unsigned number = 0;  ///< the agent's
    std::string label, product;
    std::string target;  ///< of a GPU
    std::string pci;     ///< of a GPU
    std::uint64_t memory_bytes = 0;
    std::uint32_t compute_units = 0;
    std::uint32_t node = 0;  ///< of a CPU the NUMA node
    std::size_t home = 0;    ///< of a GPU: the index of the nearest CPU
};

/// A link between two nodes: indices into `cpus` or `gpus`, depending on the list that contains the edge.
struct Edge {
    std::size_t a = 0, b = 0;
    hsadrv::LinkType type = hsadrv::LinkType::other;
    std::size_t hops = 1;
    std::uint32_t distance = 0;  ///< NUMA distance; 0 if unknown
    std::uint32_t min_mb_s = 0, max_mb_s = 0;
    bool one_way = false;  ///< only `a` reaches the memory of `b`

    /// "PCIe, 31.5 GB/s, distance 20"
    std::string text() const;
};

/// GPUs, each linked with each by links of one type.
struct Hive {
    std::vector<std::size_t> members;  ///< ascending
    Edge link;                         ///< the range over all members' links

    /// "xGMI, each with each, 100.0 GB/s, distance 15"
    std::string text() const;
};

struct Graph {
    std::vector<Node> cpus, gpus;
    std::vector<Edge> between_cpus;
    std::vector<Edge> to_cpu;        ///< a: a GPU, b: its home; a GPU that reaches no CPU is missing
    std::vector<Edge> between_gpus;  ///< all, those of hives as well
    std::vector<Hive> hives;
    std::vector<Edge> loose;  ///< those of between_gpus that belong to no hive

    std::vector<std::size_t> gpus_of(std::size_t cpu) const;
    /// The link of a GPU to its home, or null.
    const Edge* host_link(std::size_t gpu) const;
};

Graph graph_of(const Facts& facts);

/// "16.0 GB/s", from the link's maximum; empty if the driver does not know it.
std::string bandwidth_text(const Edge& edge);

}  // namespace hsadrv_tool
