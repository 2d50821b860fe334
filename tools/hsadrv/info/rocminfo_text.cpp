// The labels, their order and the spelling of values are rocminfo's, those of its newest release: rocminfo.cc of
// ROCm/rocminfo, DisplaySystemInfo and DisplayAgentInfo. Lines for facts that the runtime does not report are left out,
// as older releases of rocminfo do.
#include <fmt/format.h>

#include "tools/hsadrv/info/report.hpp"

namespace hsadrv_tool {
namespace {

using hsadrv::Dim3;
using hsadrv::Segment;

/// Lines of a label and a value, indented by two blanks per level.
class Lines {
  public:
    void heading(std::string_view text, unsigned level = 0) { text_ += fmt::format("{:{}}{}\n", "", 2 * level, text); }
    void line(std::string_view label, std::string_view value, unsigned level = 0) {
        std::string line = fmt::format("{:{}}{:<25}{}", "", 2 * level, label, value);
        line.erase(line.find_last_not_of(' ') + 1);
        text_ += line + "\n";
    }
    void number(std::string_view label, std::uint64_t value, unsigned level = 0) {
        line(label, fmt::format("{}", value), level);
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

/// Decimal and hexadecimal, of the low 32 bits, as rocminfo prints.
std::string both(std::uint64_t value) {
    const auto low = static_cast<std::uint32_t>(value);
    return fmt::format("{}({:#x})", low, low);
}
std::string kilobytes(std::uint64_t bytes) { return fmt::format("{}KB", bytes / 1024); }
std::string kilobytes_both(std::uint64_t bytes) { return fmt::format("{}({:#x}) KB", bytes / 1024, bytes / 1024); }
const char* truth(bool value) { return value ? "TRUE" : "FALSE"; }
const char* upper_yes(bool value) { return value ? "YES" : "NO"; }

void dimensions(Lines& out, const char* label, const Dim3& size, unsigned level) {
    out.heading(label, level);
    out.line("x", both(size.x), level + 1);
    out.line("y", both(size.y), level + 1);
    out.line("z", both(size.z), level + 1);
}

void module_line(Lines& out, const ModuleFacts& module) {
    if (!module.present) return out.heading("ROCk module is NOT loaded, possibly no GPU devices");
    if (module.init_state.empty()) return;  // built into the kernel
    if (module.init_state != "live") return out.heading("ROCk module is NOT live, possibly no GPU devices");
    out.heading(module.version.empty() ? "ROCk module is loaded"
                                       : fmt::format("ROCk module version {} is loaded", module.version));
}

void system_lines(Lines& out, const RuntimeFacts& runtime) {
    out.line("Runtime Version:", fmt::format("{}.{}", runtime.version_major, runtime.version_minor));
    if (runtime.amd_version_major && runtime.amd_version_minor)
        out.line("Runtime Ext Version:", fmt::format("{}.{}", *runtime.amd_version_major, *runtime.amd_version_minor));
    out.line("System Timestamp Freq.:",
             fmt::format("{:.6f}MHz", static_cast<double>(runtime.timestamp_frequency_hz) / 1e6));
    out.line("Sig. Max Wait Duration:", fmt::format("{} (0x{:X}) (timestamp count)", runtime.signal_max_wait_ticks,
                                                    runtime.signal_max_wait_ticks));
    out.line("Machine Model:", runtime.large_model ? "LARGE" : "SMALL");
    out.line("System Endianness:", runtime.little_endian ? "LITTLE" : "BIG");
    if (runtime.mwaitx_enabled) out.line("Mwaitx:", *runtime.mwaitx_enabled ? "ENABLED" : "DISABLED");
    if (runtime.xnack_enabled) out.line("XNACK enabled:", upper_yes(*runtime.xnack_enabled));
    if (runtime.dmabuf_supported) out.line("DMAbuf Support:", upper_yes(*runtime.dmabuf_supported));
    if (runtime.virtual_memory_supported) out.line("VMM Support:", upper_yes(*runtime.virtual_memory_supported));
    out.heading("");
}

const char* feature_text(const QueueFacts& queues) {
    if (queues.kernel_dispatch) return queues.agent_dispatch ? "KERNEL_DISPATCH & AGENT_DISPATCH" : "KERNEL_DISPATCH";
    return queues.agent_dispatch ? "AGENT_DISPATCH" : "None specified";
}

const char* features_text(const QueueFacts& queues) {
    if (queues.kernel_dispatch) return queues.agent_dispatch ? "KERNEL_DISPATCH AGENT_DISPATCH" : "KERNEL_DISPATCH";
    return queues.agent_dispatch ? "AGENT_DISPATCH" : "None";
}

const char* rounding_text(const AgentFacts& agent) {
    if (!agent.rounds_to_nearest) return "Not Supported";
    return *agent.rounds_to_nearest ? "NEAR" : "ZERO";
}

const char* device_type(AgentKind kind) {
    switch (kind) {
        case AgentKind::cpu:
            return "CPU";
        case AgentKind::gpu:
            return "GPU";
        case AgentKind::other:
            break;
    }
    return "DSP";
}

void identity_lines(Lines& out, const AgentFacts& agent) {
    out.line("Name:", agent.name, 1);
    out.line("Uuid:", agent.uuid, 1);
    out.line("Marketing Name:", agent.product, 1);
    out.line("Vendor Name:", agent.vendor, 1);
    out.line("Feature:", feature_text(agent.queues), 1);
    out.line("Profile:", agent.full_profile ? "FULL_PROFILE" : "BASE_PROFILE", 1);
    out.line("Float Round Mode:", rounding_text(agent), 1);
    out.line("Max Queue Number:", both(agent.queues.queues_max), 1);
    out.line("Queue Min Size:", both(agent.queues.min_packets), 1);
    out.line("Queue Max Size:", both(agent.queues.max_packets), 1);
    out.line("Queue Type:", agent.queues.multi_producer ? "MULTI" : "SINGLE", 1);
    out.number("Node:", agent.node, 1);
    out.line("Device Type:", device_type(agent.kind), 1);
}

void hardware_lines(Lines& out, const AgentFacts& agent) {
    out.heading("Cache Info:", 1);
    for (std::size_t level = 1; level <= agent.data_cache_bytes.size(); ++level)
        if (const std::uint32_t bytes = agent.data_cache_bytes[level - 1]; bytes != 0)
            out.line(fmt::format("L{}:", level), kilobytes_both(bytes), 2);
    out.line("Chip ID:", both(agent.chip_id), 1);
    out.line("ASIC Revision:", both(agent.asic_revision), 1);
    out.line("Cacheline Size:", both(agent.cacheline_bytes), 1);
    out.number("Max Clock Freq. (MHz):", agent.max_clock_mhz, 1);
    out.number("BDFID:", bdf_id(agent.pci), 1);
    out.number("Internal Node ID:", agent.driver_node, 1);
    out.number("Compute Unit:", agent.compute_units, 1);
    out.number("SIMDs per CU:", agent.simds_per_cu, 1);
    out.number("Shader Engines:", agent.shader_engines, 1);
    out.number("Shader Arrs. per Eng.:", agent.shader_arrays_per_engine, 1);
    out.number("WatchPts on Addr. Ranges:", agent.address_watch_points, 1);
    if (agent.gpu) out.line("Coherent Host Access:", truth(agent.gpu->coherent_host_access), 1);
    if (agent.is_apu) out.line("Memory Properties:", *agent.is_apu ? "APU" : "", 1);
    out.line("Features:", features_text(agent.queues), 1);
}

void kernel_lines(Lines& out, const KernelFacts& kernels, const Maybe<GpuFacts>& gpu) {
    out.line("Fast F16 Operation:", truth(kernels.fast_f16), 1);
    out.line("Wavefront Size:", both(kernels.wavefront_size), 1);
    out.line("Workgroup Max Size:", both(kernels.workgroup_max_workitems), 1);
    dimensions(out, "Workgroup Max Size per Dimension:", kernels.workgroup_max_dim, 1);
    out.line("Max Waves Per CU:", both(kernels.max_waves_per_cu), 1);
    out.line("Max Work-item Per CU:", both(std::uint64_t{kernels.wavefront_size} * kernels.max_waves_per_cu), 1);
    out.line("Grid Max Size:", both(kernels.grid_max_workitems), 1);
    dimensions(out, "Grid Max Size per Dimension:", kernels.grid_max_dim, 1);
    out.number("Max fbarriers/Workgrp:", kernels.fbarriers_max, 1);
    if (!gpu) return;
    if (gpu->firmware_version) out.number("Packet Processor uCode::", *gpu->firmware_version, 1);
    if (gpu->dma_firmware_version) out.number("SDMA engine uCode::", *gpu->dma_firmware_version, 1);
    if (gpu->behind_iommu) out.line("IOMMU Support::", *gpu->behind_iommu ? "V2" : "None", 1);
}

std::string flags_text(const hsadrv::GlobalFlags& flags) {
    std::string text;
    const auto add = [&](bool set, const char* name) {
        if (set) text += (text.empty() ? "" : ", ") + std::string(name);
    };
    add(flags.kernarg, "KERNARG");
    add(flags.fine_grained, "FINE GRAINED");
    add(flags.coarse_grained, "COARSE GRAINED");
    add(flags.extended_scope, "EXTENDED FINE GRAINED");
    return text;
}

std::string segment_text(const PoolFacts& pool) {
    switch (pool.segment) {
        case Segment::global:
            return "GLOBAL; FLAGS: " + flags_text(pool.flags);
        case Segment::readonly:
            return "READONLY";
        case Segment::private_segment:
            return "PRIVATE";
        case Segment::group:
            return "GROUP";
        case Segment::kernarg:
            break;
    }
    return "Not Supported";
}

void pool_lines(Lines& out, const PoolFacts& pool) {
    out.line("Segment:", segment_text(pool), 3);
    out.line("Size:", kilobytes_both(pool.size_bytes), 3);
    out.line("Allocatable:", truth(pool.allocatable), 3);
    out.line("Alloc Granule:", kilobytes(pool.granule_bytes), 3);
    out.line("Alloc Recommended Granule:", kilobytes(pool.recommended_granule_bytes), 3);
    out.line("Alloc Alignment:", kilobytes(pool.alignment_bytes), 3);
    out.line("Accessible by all:", truth(pool.accessible_by_all), 3);
}

std::string words(std::initializer_list<std::pair<bool, const char*>> choices) {
    std::string text;
    for (const auto& [chosen, word] : choices)
        if (chosen) text += (text.empty() ? "" : " ") + std::string(word);
    return text;
}

std::string modes_text(const hsadrv::RoundingModes& modes) {
    return words({{modes.as_set, "DEFAULT"}, {modes.zero, "ZERO"}, {modes.near, "NEAR"}});
}

void isa_lines(Lines& out, const hsadrv::Isa& isa) {
    out.line("Name:", isa.name, 3);
    out.line("Machine Models:",
             words({{isa.small_model, "HSA_MACHINE_MODEL_SMALL"}, {isa.large_model, "HSA_MACHINE_MODEL_LARGE"}}), 3);
    out.line("Profiles:", words({{isa.base_profile, "HSA_PROFILE_BASE"}, {isa.full_profile, "HSA_PROFILE_FULL"}}), 3);
    out.line("Default Rounding Mode:", modes_text(isa.rounding), 3);
    out.line("Default Rounding Mode:", modes_text(isa.base_profile_rounding), 3);
    out.line("Fast f16:", truth(isa.fast_f16), 3);
    out.line("Workgroup Max Size:", both(isa.workgroup_max_workitems), 3);
    dimensions(out, "Workgroup Max Size per Dimension:", isa.workgroup_max_dim, 3);
    out.line("Grid Max Size:", both(isa.grid_max_workitems), 3);
    dimensions(out, "Grid Max Size per Dimension:", isa.grid_max_dim, 3);
    out.number("FBarrier Max Size:", isa.fbarriers_max, 3);
}

void agent_lines(Lines& out, const AgentFacts& agent) {
    out.heading("*******");
    out.heading(fmt::format("Agent {}", agent.number));
    out.heading("*******");
    identity_lines(out, agent);
    hardware_lines(out, agent);
    if (agent.kernels) kernel_lines(out, *agent.kernels, agent.gpu);
    out.heading("Pool Info:", 1);
    for (std::size_t i = 0; i < agent.pools.size(); ++i) {
        out.heading(fmt::format("Pool {}", i + 1), 2);
        pool_lines(out, agent.pools[i]);
    }
    out.heading("ISA Info:", 1);
    for (std::size_t i = 0; i < agent.isas.size(); ++i) {
        out.heading(fmt::format("ISA {}", i + 1), 2);
        isa_lines(out, agent.isas[i]);
    }
}

}  // namespace

std::string rocminfo_text(const Facts& facts) {
    Lines out;
    module_line(out, facts.module);
    out.heading("=====================");
    out.heading("HSA System Attributes");
    out.heading("=====================");
    system_lines(out, facts.runtime);
    out.heading("==========");
    out.heading("HSA Agents");
    out.heading("==========");
    for (const AgentFacts& agent : facts.agents) agent_lines(out, agent);
    out.heading("*** Done ***");
    return out.take();
}

}  // namespace hsadrv_tool
