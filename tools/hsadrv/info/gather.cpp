#include "tools/hsadrv/info/gather.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "hsadrv/error.hpp"

namespace hsadrv_tool {
namespace {

using hsadrv::AgentRef;
using Agents = std::vector<AgentRef>;

std::string first_line(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

/// A loaded module has an initstate; a built-in one has only a folder.
ModuleFacts module_facts() {
    const std::filesystem::path folder = "/sys/module/amdgpu";
    ModuleFacts facts;
    facts.init_state = first_line(folder / "initstate");
    facts.version = first_line(folder / "version");
    std::error_code error;
    facts.present = !facts.init_state.empty() || std::filesystem::is_directory(folder, error);
    return facts;
}

std::string kernel_release() {
    utsname names{};
    return uname(&names) == 0 ? names.release : "";
}

RuntimeFacts runtime_facts(const hsadrv::SystemFacts& system) {
    RuntimeFacts facts;
    facts.build_version = system.build_version;
    facts.version_major = system.version_major;
    facts.version_minor = system.version_minor;
    facts.amd_version_major = system.amd_version_major;
    facts.amd_version_minor = system.amd_version_minor;
    facts.timestamp_frequency_hz = system.timestamp_frequency_hz;
    facts.signal_max_wait_ticks = system.signal_max_wait_ticks;
    facts.large_model = system.large_model;
    facts.little_endian = system.little_endian;
    facts.svm_supported = system.svm_supported;
    facts.svm_accessible_by_default = system.svm_accessible_by_default;
    facts.mwaitx_enabled = system.mwaitx_enabled;
    facts.xnack_enabled = system.xnack_enabled;
    facts.dmabuf_supported = system.dmabuf_supported;
    facts.virtual_memory_supported = system.virtual_memory_supported;
    return facts;
}

/// Its position in `agents`, from 1.
Maybe<unsigned> number_of(const Agents& agents, AgentRef agent) {
    const auto at = std::find(agents.begin(), agents.end(), agent);
    if (at == agents.end()) return std::nullopt;
    return static_cast<unsigned>(at - agents.begin()) + 1;
}

QueueFacts queue_facts(AgentRef agent) {
    return {.kernel_dispatch = agent.dispatches_kernels(),
            .agent_dispatch = agent.dispatches_agent_packets(),
            .queues_max = agent.queues_max(),
            .min_packets = agent.queue_min_packets(),
            .max_packets = agent.queue_max_packets(),
            .multi_producer = agent.multi_producer_queues()};
}

KernelFacts kernel_facts(AgentRef agent) {
    return {.fast_f16 = agent.fast_f16(),
            .wavefront_size = agent.wavefront_size(),
            .workgroup_max_workitems = agent.workgroup_max_workitems(),
            .workgroup_max_dim = agent.workgroup_max_dim(),
            .max_waves_per_cu = agent.max_waves_per_cu(),
            .grid_max_workitems = agent.grid_max_workitems(),
            .grid_max_dim = agent.grid_max_dim(),
            .fbarriers_max = agent.fbarriers_max()};
}

GpuFacts gpu_facts(AgentRef gpu) {
    const hsadrv::HdpFlush flush = gpu.hdp_flush();
    return {.coherent_host_access = gpu.direct_host_access(),
            .cooperative_queues = gpu.cooperative_queues(),
            .cooperative_compute_units = gpu.cooperative_compute_units(),
            .memory_bus_width_bits = gpu.memory_bus_width_bits(),
            .memory_max_clock_mhz = gpu.memory_max_clock_mhz(),
            .group_segment_bytes = gpu.group_segment_max_bytes(),
            .hdp_flush = flush.memory != nullptr && flush.registers != nullptr,
            .memory_available_bytes = gpu.memory_available_bytes(),
            .firmware_version = gpu.firmware_version(),
            .dma_firmware_version = gpu.dma_firmware_version(),
            .dma_engines = gpu.dma_engines(),
            .xgmi_dma_engines = gpu.xgmi_dma_engines(),
            .compute_dies = gpu.compute_dies(),
            .behind_iommu = gpu.behind_iommu(),
            .scratch_limit_bytes = gpu.scratch_limit_bytes(),
            .scratch_limit_max_bytes = gpu.scratch_limit_max_bytes()};
}

PoolFacts pool_facts(const hsadrv::MemPool& pool, const Agents& all) {
    PoolFacts facts{.segment = pool.segment(),
                    .flags = pool.global_flags(),
                    .size_bytes = pool.size_bytes(),
                    .alloc_max_bytes = pool.alloc_max_bytes(),
                    .allocatable = pool.alloc_allowed(),
                    .granule_bytes = pool.alloc_granule_bytes(),
                    .recommended_granule_bytes = pool.alloc_recommended_granule_bytes(),
                    .alignment_bytes = pool.alloc_alignment_bytes(),
                    .accessible_by_all = pool.accessible_by_all(),
                    .on_device = pool.location() == hsadrv::PoolLocation::device,
                    .access = {}};
    for (const AgentRef agent : all) facts.access.push_back(pool.access(agent));
    return facts;
}

RegionFacts region_facts(const hsadrv::MemRegion& region) {
    return {.segment = region.segment(),
            .flags = region.global_flags(),
            .size_bytes = region.size_bytes(),
            .alloc_max_bytes = region.alloc_max_bytes(),
            .allocatable = region.alloc_allowed(),
            .granule_bytes = region.alloc_granule_bytes(),
            .alignment_bytes = region.alloc_alignment_bytes(),
            .host_accessible = region.host_accessible()};
}

bool has_global_memory(AgentRef agent) {
    const auto pools = agent.pools();
    return std::any_of(pools.begin(), pools.end(),
                       [](const hsadrv::MemPool& pool) { return pool.segment() == hsadrv::Segment::global; });
}

std::vector<WayFacts> ways_from(AgentRef agent, const Agents& all) {
    std::vector<WayFacts> ways;
    for (const AgentRef other : all) {
        if (other == agent || !has_global_memory(other)) continue;
        if (auto hops = agent.links_to(other); !hops.empty()) ways.push_back({*number_of(all, other), std::move(hops)});
    }
    return ways;
}

Maybe<bool> rounds_to_nearest(AgentRef agent) {
    switch (agent.default_float_rounding()) {
        case HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR:
            return true;
        case HSA_DEFAULT_FLOAT_ROUNDING_MODE_ZERO:
            return false;
        case HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT:
            break;
    }
    return std::nullopt;
}

/// For values that rocminfo does not query of every agent: one that is neither CPU nor GPU may not answer.
template <class Query>
auto if_answered(AgentKind kind, Query query) -> decltype(query()) {
    if (kind != AgentKind::other) return query();
    try {
        return query();
    } catch (const hsadrv::InvalidArgument&) {
        return {};
    }
}

/// "gpu0": the first word of the label.
std::string short_label(AgentRef agent) {
    const std::string label = agent.label();
    return label.starts_with("agent") ? label : label.substr(0, label.find(' '));
}

void describe_lists(AgentRef agent, const Agents& all, AgentFacts& facts) {
    facts.caches = if_answered(facts.kind, [&] { return agent.caches(); });
    for (const hsadrv::MemPool& pool : agent.pools()) facts.pools.push_back(pool_facts(pool, all));
    for (const hsadrv::MemRegion& region : if_answered(facts.kind, [&] { return agent.regions(); }))
        facts.regions.push_back(region_facts(region));
    facts.isas = agent.isas();
    facts.ways = ways_from(agent, all);
}

AgentFacts agent_facts(AgentRef agent, const Agents& all) {
    AgentFacts facts;
    facts.number = number_of(all, agent).value_or(0);
    facts.label = short_label(agent);
    facts.kind = agent.is_gpu() ? AgentKind::gpu : agent.is_cpu() ? AgentKind::cpu : AgentKind::other;
    facts.name = agent.name();
    facts.uuid = agent.uuid();
    facts.product = agent.product_name();
    facts.vendor = agent.vendor_name();
    facts.queues = queue_facts(agent);
    facts.full_profile = agent.full_profile();
    facts.large_model = if_answered(facts.kind, [&] { return agent.large_model(); });
    facts.rounds_to_nearest = rounds_to_nearest(agent);
    facts.node = agent.numa_node();
    facts.driver_node = agent.node();
    facts.data_cache_bytes = agent.data_cache_bytes();
    facts.chip_id = agent.chip_id();
    facts.asic_revision = agent.asic_revision();
    facts.cacheline_bytes = agent.cacheline_bytes();
    facts.max_clock_mhz = agent.max_clock_mhz();
    facts.pci = if_answered(facts.kind, [&] { return agent.pci_address(); });
    facts.compute_units = agent.compute_units();
    facts.simds_per_cu = agent.simds_per_cu();
    facts.shader_engines = agent.shader_engines();
    facts.shader_arrays_per_engine = agent.shader_arrays_per_engine();
    facts.address_watch_points = agent.address_watch_points();
    facts.hsa_version_major = if_answered(facts.kind, [&] { return agent.version_major(); });
    facts.hsa_version_minor = if_answered(facts.kind, [&] { return agent.version_minor(); });
    facts.is_apu = agent.is_apu();
    facts.asic_family = agent.asic_family();
    facts.driver_uid = agent.driver_uid();
    facts.timestamp_frequency_hz = agent.timestamp_frequency_hz();
    if (const auto cpu = agent.nearest_cpu()) facts.nearest_cpu = number_of(all, *cpu);
    if (facts.queues.kernel_dispatch) facts.kernels = kernel_facts(agent);
    if (facts.kind == AgentKind::gpu) facts.gpu = gpu_facts(agent);
    describe_lists(agent, all, facts);
    return facts;
}

}  // namespace

Facts gather(const hsadrv::Driver& driver, const Agents& agents) {
    Facts facts;
    facts.kernel_release = kernel_release();
    facts.module = module_facts();
    facts.runtime = runtime_facts(driver.system());
    facts.agents_of_machine = static_cast<unsigned>(driver.agents().size());
    for (const AgentRef agent : agents) facts.agents.push_back(agent_facts(agent, driver.agents()));
    return facts;
}

}  // namespace hsadrv_tool
