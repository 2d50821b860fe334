// The way from an agent to another one's memory, hop by hop.
//
//   for (const hsadrv::Link& link : gpu.links_to(cpu))
//       std::printf("%s, coherent: %d\n", link_type_name(link.type), link.coherent);
//
// Thread safety: values. Source: hsa_ext_amd.h, hsa_amd_memory_pool_link_info_t.
#pragma once

#include <cstdint>

namespace hsadrv {

enum class LinkType { hypertransport, qpi, pcie, infiniband, xgmi, other };
const char* link_type_name(LinkType type) noexcept;  ///< "PCIe"

/// One hop on the way from an agent to another one's memory. What the driver does not know is zero.
struct Link {
    LinkType type;
    std::uint32_t min_latency_ns, max_latency_ns;
    std::uint32_t min_bandwidth_mb_s, max_bandwidth_mb_s;
    bool atomics_32bit, atomics_64bit;
    bool coherent;
    std::uint32_t numa_distance;  ///< of the whole way
};

}  // namespace hsadrv
