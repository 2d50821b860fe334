// Graph: agents and links as they are drawn: CPUs with the GPUs that are nearest to each, and what joins GPUs.
//
//     const Graph graph = graph_of(facts);
//     for (const Node& gpu : graph.gpus) draw(gpu, graph.cpus[gpu.home]);
//
// A link is drawn once, whichever ways it has; GPUs that are linked pairwise by one type are one Hive instead of many
// links. Between a GPU and the CPUs only the link to the nearest is kept: the kernel's driver lists the ways across
// other CPUs as links, too. Pure data. Thread safety: values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "info/facts.hpp"

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

/// A link between two nodes: indices into `cpus` or `gpus`, as the list says that it is in.
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
    Edge link;                         ///< the least and the most of them

    /// "xGMI, each with each, 100.0 GB/s, distance 15"
    std::string text() const;
};

struct Graph {
    std::vector<Node> cpus, gpus;
    std::vector<Edge> between_cpus;
    std::vector<Edge> to_cpu;        ///< a: a GPU, b: its home; a GPU that reaches no CPU is missing
    std::vector<Edge> between_gpus;  ///< all, those of hives as well
    std::vector<Hive> hives;
    std::vector<Edge> loose;  ///< those of between_gpus that are of no hive

    std::vector<std::size_t> gpus_of(std::size_t cpu) const;
    /// The link of a GPU to its home, or null.
    const Edge* host_link(std::size_t gpu) const;
};

Graph graph_of(const Facts& facts);

/// "16.0 GB/s", from the link's most; empty where the driver does not know.
std::string bandwidth_text(const Edge& edge);

}  // namespace hsadrv_tool
