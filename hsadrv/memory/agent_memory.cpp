// AgentRef's memory queries: its regions and pools, and its links to other agents.
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/collect.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/mem_region.hpp"

namespace hsadrv {

std::vector<MemRegion> AgentRef::regions() const {
    std::vector<hsa_region_t> natives;
    check(hsa_agent_iterate_regions(native_, detail::collect<hsa_region_t>, &natives),
          [&] { return "hsa_agent_iterate_regions(" + label() + ")"; });
    return {natives.begin(), natives.end()};
}

std::vector<MemPool> AgentRef::pools() const {
    std::vector<hsa_amd_memory_pool_t> natives;
    check(hsa_amd_agent_iterate_memory_pools(native_, detail::collect<hsa_amd_memory_pool_t>, &natives),
          [&] { return "hsa_amd_agent_iterate_memory_pools(" + label() + ")"; });
    std::vector<MemPool> pools;
    for (const hsa_amd_memory_pool_t native : natives) pools.emplace_back(native, *this);
    return pools;
}

std::size_t AgentRef::group_segment_max_bytes() const {
    for (const MemPool& pool : pools())
        if (pool.segment() == Segment::group) return pool.size_bytes();
    throw Error("AgentRef::group_segment_max_bytes(" + label() + "): the runtime lists no pool of the group segment");
}

std::vector<Link> AgentRef::links_to(AgentRef other) const {
    const std::vector<MemPool> pools = other.pools();
    const auto global =
        std::find_if(pools.begin(), pools.end(), [](const MemPool& pool) { return pool.segment() == Segment::global; });
    if (global == pools.end())
        throw InvalidArgument("AgentRef::links_to(" + label() + " to " + other.label() + "): that agent has no memory");
    const auto ask = [&](hsa_amd_agent_memory_pool_info_t attribute, void* value, const char* name) {
        check(hsa_amd_agent_memory_pool_get_info(native_, global->native(), attribute, value), [&] {
            return "hsa_amd_agent_memory_pool_get_info(" + label() + ", " + global->label() + ", " + name + ")";
        });
    };
    std::uint32_t hops = 0;
    ask(HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops, "NUM_LINK_HOPS");
    if (hops == 0) return {};
    std::vector<hsa_amd_memory_pool_link_info_t> natives(hops);
    ask(HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, natives.data(), "LINK_INFO");
    std::vector<Link> links;
    for (const hsa_amd_memory_pool_link_info_t& native : natives)
        links.push_back({
            .type = native.link_type <= HSA_AMD_LINK_INFO_TYPE_XGMI ? static_cast<LinkType>(native.link_type)
                                                                    : LinkType::other,
            .min_latency_ns = native.min_latency,
            .max_latency_ns = native.max_latency,
            .min_bandwidth_mb_s = native.min_bandwidth,
            .max_bandwidth_mb_s = native.max_bandwidth,
            .atomics_32bit = native.atomic_support_32bit,
            .atomics_64bit = native.atomic_support_64bit,
            .coherent = native.coherent_support,
            .numa_distance = native.numa_distance,
        });
    return links;
}

}  // namespace hsadrv
