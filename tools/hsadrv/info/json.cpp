#include "tools/hsadrv/info/report.hpp"

namespace hsadrv_tool {
namespace {

using hsadrv::Segment;

template <class T>
Json maybe(const Maybe<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// Null for what the runtime left empty.
Json text(const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); }

Json dimensions(const hsadrv::Dim3& size) { return {{"x", size.x}, {"y", size.y}, {"z", size.z}}; }

Json module_json(const ModuleFacts& module) {
    return {{"present", module.present}, {"init_state", text(module.init_state)}, {"version", text(module.version)}};
}

Json runtime_json(const RuntimeFacts& runtime) {
    return {{"build_version", text(runtime.build_version)},
            {"version_major", runtime.version_major},
            {"version_minor", runtime.version_minor},
            {"amd_version_major", maybe(runtime.amd_version_major)},
            {"amd_version_minor", maybe(runtime.amd_version_minor)},
            {"timestamp_frequency_hz", runtime.timestamp_frequency_hz},
            {"signal_max_wait_ticks", runtime.signal_max_wait_ticks},
            {"machine_model", runtime.large_model ? "large" : "small"},
            {"endianness", runtime.little_endian ? "little" : "big"},
            {"mwaitx_enabled", maybe(runtime.mwaitx_enabled)},
            {"xnack_enabled", maybe(runtime.xnack_enabled)},
            {"dmabuf_supported", maybe(runtime.dmabuf_supported)},
            {"virtual_memory_supported", maybe(runtime.virtual_memory_supported)},
            {"svm_supported", runtime.svm_supported},
            {"svm_accessible_by_default", runtime.svm_accessible_by_default}};
}

const char* kind_name(AgentKind kind) {
    switch (kind) {
        case AgentKind::cpu:
            return "cpu";
        case AgentKind::gpu:
            return "gpu";
        case AgentKind::other:
            break;
    }
    return "other";
}

Json queues_json(const QueueFacts& queues) {
    return {{"kernel_dispatch", queues.kernel_dispatch}, {"agent_dispatch", queues.agent_dispatch},
            {"queues_max", queues.queues_max},           {"min_packets", queues.min_packets},
            {"max_packets", queues.max_packets},         {"multi_producer", queues.multi_producer}};
}

Json kernels_json(const KernelFacts& kernels) {
    return {{"fast_f16", kernels.fast_f16},
            {"wavefront_size", kernels.wavefront_size},
            {"workgroup_max_workitems", kernels.workgroup_max_workitems},
            {"workgroup_max_dim", dimensions(kernels.workgroup_max_dim)},
            {"max_waves_per_cu", kernels.max_waves_per_cu},
            {"max_workitems_per_cu", std::uint64_t{kernels.max_waves_per_cu} * kernels.wavefront_size},
            {"grid_max_workitems", kernels.grid_max_workitems},
            {"grid_max_dim", dimensions(kernels.grid_max_dim)},
            {"fbarriers_max", kernels.fbarriers_max}};
}

Json gpu_json(const GpuFacts& gpu) {
    return {{"group_segment_bytes", gpu.group_segment_bytes},
            {"memory_available_bytes", maybe(gpu.memory_available_bytes)},
            {"memory_bus_width_bits", gpu.memory_bus_width_bits},
            {"memory_max_clock_mhz", gpu.memory_max_clock_mhz},
            {"coherent_host_access", gpu.coherent_host_access},
            {"cooperative_queues", gpu.cooperative_queues},
            {"cooperative_compute_units", gpu.cooperative_compute_units},
            {"hdp_flush", gpu.hdp_flush},
            {"firmware_version", maybe(gpu.firmware_version)},
            {"dma_firmware_version", maybe(gpu.dma_firmware_version)},
            {"dma_engines", maybe(gpu.dma_engines)},
            {"xgmi_dma_engines", maybe(gpu.xgmi_dma_engines)},
            {"compute_dies", maybe(gpu.compute_dies)},
            {"behind_iommu_v2", maybe(gpu.behind_iommu)},
            {"scratch_limit_bytes", maybe(gpu.scratch_limit_bytes)},
            {"scratch_limit_max_bytes", maybe(gpu.scratch_limit_max_bytes)}};
}

Json flags_json(Segment segment, const hsadrv::GlobalFlags& flags) {
    if (segment != Segment::global) return nullptr;
    return {{"kernarg", flags.kernarg},
            {"fine_grained", flags.fine_grained},
            {"coarse_grained", flags.coarse_grained},
            {"extended_scope_fine_grained", flags.extended_scope}};
}

const char* access_name(hsadrv::PoolAccess access) {
    switch (access) {
        case hsadrv::PoolAccess::never:
            return "never";
        case hsadrv::PoolAccess::disallowed_by_default:
            return "on_request";
        case hsadrv::PoolAccess::allowed_by_default:
            return "always";
    }
    return "never";
}

Json pools_json(const std::vector<PoolFacts>& pools) {
    Json list = Json::array();
    for (const PoolFacts& pool : pools) {
        Json access = Json::array();
        for (std::size_t i = 0; i < pool.access.size(); ++i)
            access.push_back({{"agent", i + 1}, {"access", access_name(pool.access[i])}});
        list.push_back({{"segment", hsadrv::segment_name(pool.segment)},
                        {"flags", flags_json(pool.segment, pool.flags)},
                        {"location", pool.on_device ? "device" : "host"},
                        {"size_bytes", pool.size_bytes},
                        {"allocatable", pool.allocatable},
                        {"alloc_max_bytes", pool.alloc_max_bytes},
                        {"granule_bytes", pool.granule_bytes},
                        {"recommended_granule_bytes", pool.recommended_granule_bytes},
                        {"alignment_bytes", pool.alignment_bytes},
                        {"accessible_by_all", pool.accessible_by_all},
                        {"access", std::move(access)}});
    }
    return list;
}

Json regions_json(const std::vector<RegionFacts>& regions) {
    Json list = Json::array();
    for (const RegionFacts& region : regions)
        list.push_back({{"segment", hsadrv::segment_name(region.segment)},
                        {"flags", flags_json(region.segment, region.flags)},
                        {"size_bytes", region.size_bytes},
                        {"allocatable", region.allocatable},
                        {"alloc_max_bytes", region.alloc_max_bytes},
                        {"granule_bytes", region.granule_bytes},
                        {"alignment_bytes", region.alignment_bytes},
                        {"host_accessible", region.host_accessible}});
    return list;
}

Json names(std::initializer_list<std::pair<bool, const char*>> choices) {
    Json list = Json::array();
    for (const auto& [chosen, name] : choices)
        if (chosen) list.push_back(name);
    return list;
}

Json rounding_json(const hsadrv::RoundingModes& modes) {
    return names({{modes.as_set, "default"}, {modes.zero, "zero"}, {modes.near, "near"}});
}

Json isas_json(const std::vector<hsadrv::Isa>& isas) {
    Json list = Json::array();
    for (const hsadrv::Isa& isa : isas)
        list.push_back({{"name", isa.name},
                        {"machine_models", names({{isa.small_model, "small"}, {isa.large_model, "large"}})},
                        {"profiles", names({{isa.base_profile, "base"}, {isa.full_profile, "full"}})},
                        {"default_rounding_modes", rounding_json(isa.rounding)},
                        {"base_profile_default_rounding_modes", rounding_json(isa.base_profile_rounding)},
                        {"fast_f16", isa.fast_f16},
                        {"wavefront_sizes", isa.wavefront_sizes},
                        {"workgroup_max_workitems", isa.workgroup_max_workitems},
                        {"workgroup_max_dim", dimensions(isa.workgroup_max_dim)},
                        {"grid_max_workitems", isa.grid_max_workitems},
                        {"grid_max_dim", dimensions(isa.grid_max_dim)},
                        {"fbarriers_max", isa.fbarriers_max}});
    return list;
}

Json caches_json(const std::vector<hsadrv::Cache>& caches) {
    Json list = Json::array();
    for (const hsadrv::Cache& cache : caches)
        list.push_back({{"name", cache.name}, {"level", cache.level}, {"size_bytes", cache.size_bytes}});
    return list;
}

Json links_json(const std::vector<WayFacts>& ways) {
    Json list = Json::array();
    for (const WayFacts& way : ways) {
        list.push_back({{"to_agent", way.to}, {"hops", hops_json(way.hops)}});
    }
    return list;
}

Json pci_json(const AgentFacts& agent) {
    if (agent.kind == AgentKind::cpu) return nullptr;
    return {{"address", agent.pci.text()}, {"domain", agent.pci.domain},     {"bus", agent.pci.bus},
            {"device", agent.pci.device},  {"function", agent.pci.function}, {"bdf_id", bdf_id(agent.pci)}};
}

Json agent_json(const AgentFacts& agent) {
    Json json = {{"number", agent.number}, {"label", agent.label}, {"kind", kind_name(agent.kind)}};
    json["device"] = agent.label.starts_with("gpu") ? Json(std::stoul(agent.label.substr(3))) : Json(nullptr);
    json["name"] = agent.name;
    json["product"] = text(agent.product);
    json["vendor"] = text(agent.vendor);
    json["uuid"] = text(agent.uuid);
    json["pci"] = pci_json(agent);
    json["target"] = text(target_of(agent));
    json["node"] = agent.node;
    json["driver_node"] = agent.driver_node;
    json["chip_id"] = agent.chip_id;
    json["asic_revision"] = agent.asic_revision;
    json["asic_family"] = maybe(agent.asic_family);
    json["driver_uid"] = maybe(agent.driver_uid);
    json["hsa_version_major"] = agent.hsa_version_major;
    json["hsa_version_minor"] = agent.hsa_version_minor;
    json["profile"] = agent.full_profile ? "full" : "base";
    json["machine_model"] = agent.large_model ? "large" : "small";
    json["default_rounding_mode"] =
        agent.rounds_to_nearest ? Json(*agent.rounds_to_nearest ? "near" : "zero") : Json(nullptr);
    json["max_clock_mhz"] = agent.max_clock_mhz;
    json["compute_units"] = agent.compute_units;
    json["simds_per_cu"] = agent.simds_per_cu;
    json["shader_engines"] = agent.shader_engines;
    json["shader_arrays_per_engine"] = agent.shader_arrays_per_engine;
    json["address_watch_points"] = agent.address_watch_points;
    json["cacheline_bytes"] = agent.cacheline_bytes;
    json["timestamp_frequency_hz"] = maybe(agent.timestamp_frequency_hz);
    json["is_apu"] = maybe(agent.is_apu);
    json["nearest_cpu_agent"] = maybe(agent.nearest_cpu);
    json["memory_bytes"] = memory_bytes(agent);
    json["queues"] = queues_json(agent.queues);
    json["kernels"] = agent.kernels ? kernels_json(*agent.kernels) : Json(nullptr);
    json["gpu"] = agent.gpu ? gpu_json(*agent.gpu) : Json(nullptr);
    json["caches"] = caches_json(agent.caches);
    json["pools"] = pools_json(agent.pools);
    json["regions"] = regions_json(agent.regions);
    json["isas"] = isas_json(agent.isas);
    json["links"] = links_json(agent.ways);
    return json;
}

}  // namespace

Json hops_json(const std::vector<hsadrv::Link>& hops) {
    Json list = Json::array();
    for (const hsadrv::Link& link : hops)
        list.push_back({{"type", hsadrv::link_type_name(link.type)},
                        {"numa_distance", link.numa_distance},
                        {"min_bandwidth_bytes_per_second", std::uint64_t{link.min_bandwidth_mb_s} * 1000000},
                        {"max_bandwidth_bytes_per_second", std::uint64_t{link.max_bandwidth_mb_s} * 1000000},
                        {"min_latency_ns", link.min_latency_ns},
                        {"max_latency_ns", link.max_latency_ns},
                        {"atomics_32bit", link.atomics_32bit},
                        {"atomics_64bit", link.atomics_64bit},
                        {"coherent", link.coherent}});
    return list;
}

Json as_json(const Facts& facts) {
    Json report = json_report("info");
    report["kernel_release"] = text(facts.kernel_release);
    report["kernel_module"] = module_json(facts.module);
    report["runtime"] = runtime_json(facts.runtime);
    report["agents_of_machine"] = facts.agents_of_machine;
    report["agents"] = Json::array();
    for (const AgentFacts& agent : facts.agents) report["agents"].push_back(agent_json(agent));
    return report;
}

}  // namespace hsadrv_tool
