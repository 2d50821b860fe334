// An HSA agent, a GPU or the host's CPU, with typed queries.
//
//   for (hsadrv::AgentRef gpu : driver.gpus())
//       std::printf("%s %s\n", gpu.label().c_str(), gpu.uuid().c_str());
//
// Borrows: the runtime, until the last Driver is destroyed. Agents are never created or destroyed.
// Thread safety: any thread. Results are not cached: each query calls the runtime.
// Throws: Error naming the query and the agent if the runtime refuses the query.
// Source: hsa.h, "Agent information"; hsa_ext_amd.h, hsa_amd_agent_info_t.
#pragma once

#include <hsa/hsa.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hsadrv/dim3.hpp"
#include "hsadrv/link.hpp"

namespace hsadrv {

class MemRegion;
class MemPool;

/// Supported default floating-point rounding modes.
struct RoundingModes {
    bool as_set;  ///< the agent's own default mode
    bool zero, near;
};

/// An instruction set that an agent executes, for example "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-".
struct Isa {
    hsa_isa_t native;
    std::string name;
    std::vector<std::uint32_t> wavefront_sizes;
    bool fast_f16;
    std::uint32_t workgroup_max_workitems;
    Dim3 workgroup_max_dim;
    std::uint64_t grid_max_workitems;
    Dim3 grid_max_dim;
    std::uint32_t fbarriers_max;
    bool small_model, large_model;        ///< 32-bit and 64-bit machine model
    bool base_profile, full_profile;      ///< supported profiles
    RoundingModes rounding;               ///< modes that kernels can be finalized for
    RoundingModes base_profile_rounding;  ///< modes of the base profile
};

struct Cache {
    std::string name;
    unsigned level;
    std::size_t size_bytes;
};

/// PCI location. `function` is the low three bits of KFD's location_id.
struct PciAddress {
    std::uint32_t domain;
    std::uint8_t bus, device, function;
    std::string text() const;  ///< "0000:03:00.0"
};

/// HDP registers through which the host flushes a GPU's write buffer for host memory; null if there are none.
struct HdpFlush {
    std::uint32_t* memory;
    std::uint32_t* registers;
};

class AgentRef {
  public:
    constexpr AgentRef() noexcept : native_{0} {}
    constexpr explicit AgentRef(hsa_agent_t native) noexcept : native_(native) {}

    constexpr hsa_agent_t native() const noexcept { return native_; }
    constexpr explicit operator bool() const noexcept { return native_.handle != 0; }
    friend constexpr bool operator==(AgentRef a, AgentRef b) noexcept { return a.native_.handle == b.native_.handle; }

    /// The name used in messages: "gpu0 gfx90a", "cpu0". Never throws for a known agent; "agent 0x…" for an unknown
    /// one.
    std::string label() const;

    bool is_gpu() const;
    bool is_cpu() const;
    std::string name() const;          ///< "gfx90a"
    std::string product_name() const;  ///< "AMD Instinct MI250X", as reported by the driver
    std::string vendor_name() const;
    std::string uuid() const;  ///< "GPU-…", or "GPU-XX" if the device has none
    PciAddress pci_address() const;
    std::uint32_t chip_id() const;
    std::uint32_t node() const;  ///< KFD's topology node

    std::vector<Isa> isas() const;  ///< preferred first; empty for an agent without ISAs, such as a CPU
    std::vector<Cache> caches() const;
    /// Sizes of the data caches of levels 1 to 4 as the runtime reports them; 0 if there is none. ROCR reports 1024
    /// times the size for a CPU; caches() is right for both.
    std::array<std::uint32_t, 4> data_cache_bytes() const;
    /// The hops from this agent to the other's memory, nearest first; empty for its own. Throws InvalidArgument for an
    /// agent without memory.
    std::vector<Link> links_to(AgentRef other) const;
    std::vector<MemRegion> regions() const;
    std::vector<MemPool> pools() const;

    bool dispatches_kernels() const;
    bool dispatches_agent_packets() const;  ///< accepts agent dispatch packets
    bool fast_f16() const;
    std::uint32_t wavefront_size() const;
    std::uint32_t workgroup_max_workitems() const;
    Dim3 workgroup_max_dim() const;
    std::uint64_t grid_max_workitems() const;
    Dim3 grid_max_dim() const;
    std::uint32_t compute_units() const;
    std::uint32_t simds_per_cu() const;
    std::uint32_t max_waves_per_cu() const;
    std::uint32_t max_clock_mhz() const;
    std::uint32_t memory_max_clock_mhz() const;
    std::uint32_t memory_bus_width_bits() const;
    std::uint32_t cacheline_bytes() const;
    std::uint32_t queues_max() const;
    std::uint32_t queue_min_packets() const;
    std::uint32_t queue_max_packets() const;

    std::uint32_t fbarriers_max() const;
    bool multi_producer_queues() const;
    bool cooperative_queues() const;
    std::uint32_t cooperative_compute_units() const;
    std::uint32_t shader_engines() const;
    std::uint32_t shader_arrays_per_engine() const;
    std::uint32_t asic_revision() const;
    std::uint32_t address_watch_points() const;
    HdpFlush hdp_flush() const;
    bool direct_host_access() const;      ///< the host can access its memory directly (as over xGMI)
    std::uint16_t version_major() const;  ///< of the HSA specification it implements
    std::uint16_t version_minor() const;
    std::uint32_t numa_node() const;
    bool large_model() const;
    bool full_profile() const;
    hsa_default_float_rounding_mode_t default_float_rounding() const;

    // std::nullopt if the runtime predates the query (added in ROCm 5.3 to 6.1).
    std::optional<std::uint64_t> memory_available_bytes() const;
    std::optional<std::uint64_t> timestamp_frequency_hz() const;
    std::optional<std::uint32_t> asic_family() const;
    std::optional<std::uint32_t> firmware_version() const;
    std::optional<std::uint32_t> dma_firmware_version() const;
    std::optional<std::uint32_t> dma_engines() const;
    std::optional<std::uint32_t> xgmi_dma_engines() const;
    std::optional<bool> behind_iommu() const;  ///< IOMMUv2, as in APUs
    std::optional<std::uint32_t> compute_dies() const;
    std::optional<std::uint32_t> driver_uid() const;
    std::optional<AgentRef> nearest_cpu() const;
    std::optional<bool> is_apu() const;
    /// A thread of the runtime translates the packets of its queues, which the GPU does not read (PM4 emulation).
    std::optional<bool> emulates_queues() const;
    std::optional<std::uint64_t> scratch_limit_max_bytes() const;
    std::optional<std::uint64_t> scratch_limit_bytes() const;

    /// Maximum LDS of one work-group in bytes: the size of the group segment.
    std::size_t group_segment_max_bytes() const;

  private:
    hsa_agent_t native_;
};

}  // namespace hsadrv
