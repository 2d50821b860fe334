// Machines that are made up: facts as the runtime would tell them, for tests of what is pure.
//
//     Facts facts = machine(2, 8);                       // two CPUs, eight GPUs, half at each
//     link(facts, 2, 3, LinkType::xgmi, 100000, 15);     // gpu0 and gpu1: agents 3 and 4
//
// Thread safety: values.
#pragma once

#include <string>

#include "tools/hsadrv/info/facts.hpp"

namespace made_up {

using namespace hsadrv_tool;
using hsadrv::LinkType;

/// Indices into facts.agents: CPUs come first. Both ways.
inline void link(Facts& facts, std::size_t a, std::size_t b, LinkType type, std::uint32_t mb_s,
                 std::uint32_t distance) {
    hsadrv::Link hop{};
    hop.type = type;
    hop.min_bandwidth_mb_s = mb_s / 2;
    hop.max_bandwidth_mb_s = mb_s;
    hop.numa_distance = distance;
    hop.atomics_32bit = hop.atomics_64bit = hop.coherent = true;
    facts.agents[a].ways.push_back({facts.agents[b].number, {hop}});
    facts.agents[b].ways.push_back({facts.agents[a].number, {hop}});
}

inline AgentFacts cpu(unsigned index) {
    AgentFacts agent;
    agent.label = "cpu" + std::to_string(index);
    agent.name = agent.product = "AMD EPYC 7763 64-Core Processor";
    agent.uuid = "CPU-XX";
    agent.vendor = "CPU";
    agent.node = agent.driver_node = index;
    agent.compute_units = 64;
    agent.full_profile = true;
    agent.rounds_to_nearest = true;
    agent.pools.push_back({.flags = {}, .size_bytes = std::uint64_t{256} << 30, .access = {}});
    return agent;
}

inline AgentFacts gpu(unsigned index) {
    AgentFacts agent;
    agent.label = "gpu" + std::to_string(index);
    agent.kind = AgentKind::gpu;
    agent.name = "gfx90a";
    agent.product = "AMD Instinct MI210";
    agent.uuid = "GPU-0123456789abcde" + std::to_string(index % 10);
    agent.vendor = "AMD";
    agent.pci = {0, static_cast<std::uint8_t>(3 + index), 0, 0};
    agent.compute_units = 104;
    agent.max_clock_mhz = 1700;
    agent.rounds_to_nearest = true;
    agent.queues.kernel_dispatch = true;
    agent.kernels = KernelFacts{};
    agent.gpu = GpuFacts{};
    agent.gpu->group_segment_bytes = 65536;
    hsadrv::Isa isa{};
    isa.name = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
    isa.large_model = isa.base_profile = isa.rounding.near = isa.base_profile_rounding.near = true;
    isa.grid_max_workitems = ~std::uint64_t{0};
    agent.isas.push_back(isa);
    agent.pools.push_back({.flags = {}, .size_bytes = std::uint64_t{64} << 30, .access = {}});
    return agent;
}

/// GPUs on PCIe, each nearest to one CPU and farther from the others; CPUs linked with each other; GPUs not.
inline Facts machine(unsigned cpus, unsigned gpus) {
    Facts facts;
    facts.kernel_release = "6.1.0";
    facts.module = {true, "live", ""};
    facts.runtime.build_version = "1.18.0";
    facts.runtime.version_major = facts.runtime.version_minor = 1;
    for (unsigned i = 0; i < cpus; ++i) facts.agents.push_back(cpu(i));
    for (unsigned i = 0; i < gpus; ++i) facts.agents.push_back(gpu(i));
    for (std::size_t i = 0; i < facts.agents.size(); ++i) facts.agents[i].number = static_cast<unsigned>(i + 1);
    facts.agents_of_machine = cpus + gpus;
    for (unsigned a = 0; a < cpus; ++a)
        for (unsigned b = a + 1; b < cpus; ++b) link(facts, a, b, LinkType::xgmi, 51200, 32);
    for (unsigned i = 0; i < gpus; ++i)
        for (unsigned c = 0; c < cpus; ++c) {
            const bool near = c == i * cpus / gpus;
            link(facts, cpus + i, c, LinkType::pcie, 31500, near ? 20 : 52);
        }
    return facts;
}

/// Links each pair of those GPUs.
inline void hive(Facts& facts, std::size_t cpus, std::size_t first, std::size_t last, LinkType type = LinkType::xgmi,
                 std::uint32_t mb_s = 100000, std::uint32_t distance = 15) {
    for (std::size_t a = first; a <= last; ++a)
        for (std::size_t b = a + 1; b <= last; ++b) link(facts, cpus + a, cpus + b, type, mb_s, distance);
}

}  // namespace made_up
