// Facts: what the HSA runtime reports about this machine. hsadrv info prints it, hsadrv topo draws it.
//
//     const Facts facts = gather(driver, driver.agents());     // gather.hpp
//     session.print(as_full_text(facts));                      // report.hpp
//
// Pure data: it outlives the runtime, and tests fill it in directly. Values that this runtime does not report, or not
// for this kind of agent, are std::nullopt. Thread safety: values. Source: hsa.h and hsa_ext_amd.h, through hsadrv's
// classes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/mem_region.hpp"

namespace hsadrv_tool {

template <class T>
using Maybe = std::optional<T>;

/// The amdgpu module of the running kernel.
struct ModuleFacts {
    bool present = false;    ///< loaded, or built into the kernel
    std::string init_state;  ///< "live"; empty if it is built in
    std::string version;     ///< of a module that is not the kernel's own; mostly empty
};

struct RuntimeFacts {
    std::string build_version;  ///< ROCR's own, "1.5.0"; may be empty
    std::uint16_t version_major = 0, version_minor = 0;
    Maybe<std::uint16_t> amd_version_major, amd_version_minor;
    std::uint64_t timestamp_frequency_hz = 0, signal_max_wait_ticks = 0;
    bool large_model = true, little_endian = true;
    bool svm_supported = false, svm_accessible_by_default = false;
    Maybe<bool> mwaitx_enabled, xnack_enabled, dmabuf_supported, virtual_memory_supported;
};

enum class AgentKind { cpu, gpu, other };

/// The packets that an agent's queues take, and their limits.
struct QueueFacts {
    bool kernel_dispatch = false, agent_dispatch = false;
    std::uint32_t queues_max = 0, min_packets = 0, max_packets = 0;
    bool multi_producer = true;
};

/// Limits of kernels; of agents that dispatch them.
struct KernelFacts {
    bool fast_f16 = false;
    std::uint32_t wavefront_size = 0, workgroup_max_workitems = 0;
    hsadrv::Dim3 workgroup_max_dim{};
    std::uint32_t max_waves_per_cu = 0;
    std::uint64_t grid_max_workitems = 0;
    hsadrv::Dim3 grid_max_dim{};
    std::uint32_t fbarriers_max = 0;
};

/// Values that only GPUs have.
struct GpuFacts {
    bool coherent_host_access = false, cooperative_queues = false;
    std::uint32_t cooperative_compute_units = 0;
    std::uint32_t memory_bus_width_bits = 0, memory_max_clock_mhz = 0;
    std::uint64_t group_segment_bytes = 0;  ///< maximum LDS of a work-group
    bool hdp_flush = false;                 ///< the host has registers to flush its writes
    Maybe<std::uint64_t> memory_available_bytes;
    Maybe<std::uint32_t> firmware_version, dma_firmware_version, dma_engines, xgmi_dma_engines, compute_dies;
    Maybe<bool> behind_iommu;
    Maybe<std::uint64_t> scratch_limit_bytes, scratch_limit_max_bytes;
};

struct PoolFacts {
    hsadrv::Segment segment = hsadrv::Segment::global;
    hsadrv::GlobalFlags flags;
    std::uint64_t size_bytes = 0, alloc_max_bytes = 0;
    bool allocatable = false;
    std::uint64_t granule_bytes = 0, recommended_granule_bytes = 0, alignment_bytes = 0;
    bool accessible_by_all = false;
    bool on_device = false;
    std::vector<hsadrv::PoolAccess> access;  ///< of every agent of the machine, in the order of their numbers
};

struct RegionFacts {
    hsadrv::Segment segment = hsadrv::Segment::global;
    hsadrv::GlobalFlags flags;
    std::uint64_t size_bytes = 0, alloc_max_bytes = 0;
    bool allocatable = false;
    std::uint64_t granule_bytes = 0, alignment_bytes = 0;
    bool host_accessible = false;
};

/// The path from an agent to another agent's memory.
struct WayFacts {
    unsigned to = 0;  ///< the other agent's number
    std::vector<hsadrv::Link> hops;
};

struct AgentFacts {
    unsigned number = 1;  ///< as rocminfo counts agents: from 1, in the runtime's order
    std::string label;    ///< "gpu0", "cpu0": the number is what --device takes
    AgentKind kind = AgentKind::cpu;
    std::string name, uuid, product, vendor;
    QueueFacts queues;
    bool full_profile = false, large_model = true;
    Maybe<bool> rounds_to_nearest;  ///< false: to zero; std::nullopt: another default
    std::uint32_t node = 0, driver_node = 0;
    std::array<std::uint32_t, 4> data_cache_bytes{};
    std::uint32_t chip_id = 0, asic_revision = 0, cacheline_bytes = 0, max_clock_mhz = 0;
    hsadrv::PciAddress pci{};
    std::uint32_t compute_units = 0, simds_per_cu = 0, shader_engines = 0, shader_arrays_per_engine = 0;
    std::uint32_t address_watch_points = 0;
    std::uint16_t hsa_version_major = 0, hsa_version_minor = 0;
    Maybe<bool> is_apu;
    Maybe<std::uint32_t> asic_family, driver_uid;
    Maybe<std::uint64_t> timestamp_frequency_hz;
    Maybe<unsigned> nearest_cpu;  ///< an agent's number
    Maybe<KernelFacts> kernels;
    Maybe<GpuFacts> gpu;
    std::vector<hsadrv::Cache> caches;
    std::vector<PoolFacts> pools;
    std::vector<RegionFacts> regions;
    std::vector<hsadrv::Isa> isas;
    std::vector<WayFacts> ways;  ///< to every other agent of the machine whose memory it can reach
};

struct Facts {
    std::string kernel_release;  ///< of the running kernel, as uname -r
    ModuleFacts module;
    RuntimeFacts runtime;
    unsigned agents_of_machine = 0;  ///< all agents; `agents` has the requested ones
    std::vector<AgentFacts> agents;
};

/// BDFID of hsa_ext_amd.h: bus, device and function as one number.
inline std::uint32_t bdf_id(const hsadrv::PciAddress& pci) {
    return std::uint32_t{pci.bus} << 8 | std::uint32_t{pci.device} << 3 | pci.function;
}

/// The size of the largest global pool: the agent's own memory.
std::uint64_t memory_bytes(const AgentFacts& agent);

/// The instruction set's target alone: "gfx90a:sramecc+:xnack-"; empty for an agent without one.
std::string target_of(const AgentFacts& agent);

/// The links to the agent of that number; null if its memory cannot be reached.
const std::vector<hsadrv::Link>* hops_between(const AgentFacts& from, unsigned to);

}  // namespace hsadrv_tool
