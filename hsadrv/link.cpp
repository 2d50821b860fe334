#include "hsadrv/link.hpp"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>

#include "hsadrv/agent.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/mem_pool.hpp"

namespace hsadrv {

const char* link_type_name(LinkType type) noexcept {
    switch (type) {
        case LinkType::hypertransport:
            return "HyperTransport";
        case LinkType::qpi:
            return "QPI";
        case LinkType::pcie:
            return "PCIe";
        case LinkType::infiniband:
            return "InfiniBand";
        case LinkType::xgmi:
            return "xGMI";
        case LinkType::other:
            break;
    }
    return "other";
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
