#include "tools/hsadrv/info/facts.hpp"

#include <algorithm>

namespace hsadrv_tool {

std::uint64_t memory_bytes(const AgentFacts& agent) {
    std::uint64_t most = 0;
    for (const PoolFacts& pool : agent.pools)
        if (pool.segment == hsadrv::Segment::global) most = std::max(most, pool.size_bytes);
    return most;
}

std::string target_of(const AgentFacts& agent) {
    if (agent.isas.empty()) return {};
    const std::string& name = agent.isas.front().name;
    const std::size_t triple = name.find("--");
    return triple == std::string::npos ? name : name.substr(triple + 2);
}

const std::vector<hsadrv::Link>* hops_between(const AgentFacts& from, unsigned to) {
    for (const WayFacts& way : from.ways)
        if (way.to == to) return &way.hops;
    return nullptr;
}

}  // namespace hsadrv_tool
