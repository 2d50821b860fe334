// Link: one hop on the path from an agent to another agent's memory.
//
//   for (const hsadrv::Link& link : gpu.links_to(cpu))
//       std::printf("%s, coherent: %d\n", link_type_name(link.type), link.coherent);
//
// Thread safety: values. Source: hsa_ext_amd.h, hsa_amd_memory_pool_link_info_t.
#pragma once

#include "shared/cpp20.hpp"

#include <cstdint>

namespace hsadrv {

enum class LinkType { hypertransport, qpi, pcie, infiniband, xgmi, other };
const char* link_type_name(LinkType type) noexcept;  ///< "PCIe"

/// Properties of the hop. Values unknown to the kernel driver are zero.
struct Link {
    LinkType type;
    std::uint32_t min_latency_ns, max_latency_ns;
    std::uint32_t min_bandwidth_mb_s, max_bandwidth_mb_s;
    bool atomics_32bit, atomics_64bit;
    bool coherent;
    std::uint32_t numa_distance;  ///< of the whole path
};

}  // namespace hsadrv
