#include "hsadrv/agent.hpp"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "hsadrv/error.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/mem_region.hpp"
#include "hsadrv/runtime.hpp"

namespace hsadrv {

namespace {

template <class T, class Attribute>
T query(AgentRef agent, Attribute attribute, const char* name) {
    T value{};
    check(hsa_agent_get_info(agent.native(), static_cast<hsa_agent_info_t>(attribute), &value),
          [&] { return "hsa_agent_get_info(" + agent.label() + ", " + name + ")"; });
    return value;
}
#define HSADRV_QUERY(type, attribute) query<type>(*this, attribute, #attribute)

// Text attributes are arrays of 64 bytes, closed by a NUL unless full.
using Text = std::array<char, 64>;
std::string text_of(const Text& text) { return {text.begin(), std::find(text.begin(), text.end(), '\0')}; }

/// Collects what a hsa_*_iterate_* function visits.
template <class Native>
hsa_status_t collect(Native native, void* list) {
    static_cast<std::vector<Native>*>(list)->push_back(native);
    return HSA_STATUS_SUCCESS;
}

std::string cache_name(hsa_cache_t cache) {
    std::uint32_t length = 0;
    check(hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME_LENGTH, &length), "hsa_cache_get_info(NAME_LENGTH)");
    std::string name(length + 1, '\0');  // the runtime writes the NUL too
    check(hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME, name.data()), "hsa_cache_get_info(NAME)");
    name.resize(std::min<std::size_t>(length, name.find('\0')));
    return name;
}

Dim3 dim3_of(std::uint32_t x, std::uint32_t y, std::uint32_t z) { return {x, y, z}; }

}  // namespace

std::string PciAddress::text() const {
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", domain, bus, device, function);
    return text;
}

std::string AgentRef::label() const {
    if (const auto runtime = detail::Runtime::find()) {
        const auto find = [&](const std::vector<AgentRef>& list, const char* kind) -> std::string {
            const auto at = std::find(list.begin(), list.end(), *this);
            if (at == list.end()) return {};
            return kind + std::to_string(at - list.begin());
        };
        if (const std::string gpu = find(runtime->gpus(), "gpu"); !gpu.empty()) return gpu + " " + name();
        if (const std::string cpu = find(runtime->cpus(), "cpu"); !cpu.empty()) return cpu;
    }
    char text[32];
    std::snprintf(text, sizeof text, "agent 0x%llx", static_cast<unsigned long long>(native_.handle));
    return text;
}

bool AgentRef::is_gpu() const {
    return HSADRV_QUERY(hsa_device_type_t, HSA_AGENT_INFO_DEVICE) == HSA_DEVICE_TYPE_GPU;
}
bool AgentRef::is_cpu() const {
    return HSADRV_QUERY(hsa_device_type_t, HSA_AGENT_INFO_DEVICE) == HSA_DEVICE_TYPE_CPU;
}

std::string AgentRef::name() const { return text_of(HSADRV_QUERY(Text, HSA_AGENT_INFO_NAME)); }
std::string AgentRef::vendor_name() const { return text_of(HSADRV_QUERY(Text, HSA_AGENT_INFO_VENDOR_NAME)); }
std::string AgentRef::product_name() const {
    return text_of(HSADRV_QUERY(Text, HSA_AMD_AGENT_INFO_PRODUCT_NAME));
}
std::string AgentRef::uuid() const { return text_of(HSADRV_QUERY(Text, HSA_AMD_AGENT_INFO_UUID)); }

PciAddress AgentRef::pci_address() const {
    const auto bdf = HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_BDFID);
    return {HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_DOMAIN), static_cast<std::uint8_t>(bdf >> 8),
            static_cast<std::uint8_t>(bdf >> 3 & 31), static_cast<std::uint8_t>(bdf & 7)};
}
std::uint32_t AgentRef::chip_id() const { return HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_CHIP_ID); }
std::uint32_t AgentRef::node() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID);
}

std::vector<Isa> AgentRef::isas() const {
    std::vector<hsa_isa_t> natives;
    check(hsa_agent_iterate_isas(native_, collect<hsa_isa_t>, &natives),
          [&] { return "hsa_agent_iterate_isas(" + label() + ")"; });
    std::vector<Isa> isas;
    for (const hsa_isa_t native : natives) {
        std::uint32_t length = 0;
        check(hsa_isa_get_info_alt(native, HSA_ISA_INFO_NAME_LENGTH, &length),
              "hsa_isa_get_info_alt(NAME_LENGTH)");
        std::string name(length + 1, '\0');
        check(hsa_isa_get_info_alt(native, HSA_ISA_INFO_NAME, name.data()), "hsa_isa_get_info_alt(NAME)");
        name.resize(std::min<std::size_t>(length, name.find('\0')));
        isas.push_back({native, std::move(name)});
    }
    return isas;
}

std::vector<Cache> AgentRef::caches() const {
    std::vector<hsa_cache_t> natives;
    check(hsa_agent_iterate_caches(native_, collect<hsa_cache_t>, &natives),
          [&] { return "hsa_agent_iterate_caches(" + label() + ")"; });
    std::vector<Cache> caches;
    for (const hsa_cache_t native : natives) {
        std::uint8_t level = 0;
        std::uint32_t size = 0;
        check(hsa_cache_get_info(native, HSA_CACHE_INFO_LEVEL, &level), "hsa_cache_get_info(LEVEL)");
        check(hsa_cache_get_info(native, HSA_CACHE_INFO_SIZE, &size), "hsa_cache_get_info(SIZE)");
        caches.push_back({cache_name(native), level, size});
    }
    return caches;
}

std::vector<MemRegion> AgentRef::regions() const {
    std::vector<hsa_region_t> natives;
    check(hsa_agent_iterate_regions(native_, collect<hsa_region_t>, &natives),
          [&] { return "hsa_agent_iterate_regions(" + label() + ")"; });
    return {natives.begin(), natives.end()};
}

std::vector<MemPool> AgentRef::pools() const {
    std::vector<hsa_amd_memory_pool_t> natives;
    check(hsa_amd_agent_iterate_memory_pools(native_, collect<hsa_amd_memory_pool_t>, &natives),
          [&] { return "hsa_amd_agent_iterate_memory_pools(" + label() + ")"; });
    std::vector<MemPool> pools;
    for (const hsa_amd_memory_pool_t native : natives) pools.emplace_back(native, *this);
    return pools;
}

bool AgentRef::dispatches_kernels() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AGENT_INFO_FEATURE) & HSA_AGENT_FEATURE_KERNEL_DISPATCH;
}
bool AgentRef::fast_f16() const { return HSADRV_QUERY(bool, HSA_AGENT_INFO_FAST_F16_OPERATION); }
std::uint32_t AgentRef::wavefront_size() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AGENT_INFO_WAVEFRONT_SIZE);
}
std::uint32_t AgentRef::workgroup_max_workitems() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE);
}
Dim3 AgentRef::workgroup_max_dim() const {
    using Dims = std::array<std::uint16_t, 3>;
    const Dims dims = HSADRV_QUERY(Dims, HSA_AGENT_INFO_WORKGROUP_MAX_DIM);
    return dim3_of(dims[0], dims[1], dims[2]);
}
std::uint64_t AgentRef::grid_max_workitems() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AGENT_INFO_GRID_MAX_SIZE);
}
Dim3 AgentRef::grid_max_dim() const {
    const hsa_dim3_t dims = HSADRV_QUERY(hsa_dim3_t, HSA_AGENT_INFO_GRID_MAX_DIM);
    return dim3_of(dims.x, dims.y, dims.z);
}
std::uint32_t AgentRef::compute_units() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
}
std::uint32_t AgentRef::simds_per_cu() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU);
}
std::uint32_t AgentRef::max_waves_per_cu() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU);
}
std::uint32_t AgentRef::max_clock_mhz() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY);
}
std::uint32_t AgentRef::memory_max_clock_mhz() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY);
}
std::uint32_t AgentRef::memory_bus_width_bits() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_MEMORY_WIDTH);
}
std::uint32_t AgentRef::cacheline_bytes() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AMD_AGENT_INFO_CACHELINE_SIZE);
}
std::uint32_t AgentRef::queues_max() const { return HSADRV_QUERY(std::uint32_t, HSA_AGENT_INFO_QUEUES_MAX); }
std::uint32_t AgentRef::queue_min_packets() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AGENT_INFO_QUEUE_MIN_SIZE);
}
std::uint32_t AgentRef::queue_max_packets() const {
    return HSADRV_QUERY(std::uint32_t, HSA_AGENT_INFO_QUEUE_MAX_SIZE);
}

std::size_t AgentRef::group_segment_max_bytes() const {
    for (const MemPool& pool : pools())
        if (pool.segment() == Segment::group) return pool.size_bytes();
    throw Error("AgentRef::group_segment_max_bytes(" + label() +
                "): the runtime lists no pool of the group segment");
}

}  // namespace hsadrv
