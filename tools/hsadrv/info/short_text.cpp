#include <fmt/format.h>

#include "tools/hsadrv/info/report.hpp"
#include "tools/hsadrv/info/units.hpp"

namespace hsadrv_tool {
namespace {

std::string runtime_text(const RuntimeFacts& runtime) {
    const std::string hsa = fmt::format("HSA {}.{}", runtime.version_major, runtime.version_minor);
    const std::string build = runtime.build_version.substr(0, runtime.build_version.find('-'));
    return build.empty() ? hsa : fmt::format("ROCR {} ({})", build, hsa);
}

std::string driver_text(const Facts& facts) {
    if (!facts.module.present) return "Linux " + facts.kernel_release;
    return fmt::format("amdgpu{}{} of Linux {}", facts.module.version.empty() ? "" : " ", facts.module.version,
                       facts.kernel_release);
}

std::string row(const Terminal& terminal, std::string_view label, std::string_view value) {
    return fmt::format("  {}{}\n", terminal.paint(Ink::faint, fmt::format("{:<10}", label)), value);
}

std::string title(const Terminal& terminal, const AgentFacts& agent) {
    const std::string name = agent.name == agent.product || agent.product.empty()
                                 ? agent.name
                                 : fmt::format("{}  {}", agent.name, agent.product);
    return fmt::format("\n{}  {}\n", terminal.paint(Ink::heading, agent.label), name);
}

std::string memory_text(const AgentFacts& agent) {
    std::string text = size_text(memory_bytes(agent));
    if (agent.is_apu.value_or(false)) text += " of the CPU's";
    if (agent.gpu && agent.gpu->memory_available_bytes)
        text += fmt::format(", {} free", size_text(*agent.gpu->memory_available_bytes));
    if (agent.gpu) text += fmt::format("; LDS {} a work-group", size_text(agent.gpu->group_segment_bytes));
    return text;
}

std::string gpu_rows(const Terminal& terminal, const AgentFacts& agent) {
    std::string compute = fmt::format("{} CUs, {} MHz", agent.compute_units, agent.max_clock_mhz);
    if (agent.kernels) compute += fmt::format(", wavefronts of {}", agent.kernels->wavefront_size);
    return row(terminal, "target", target_of(agent)) + row(terminal, "compute", compute) +
           row(terminal, "memory", memory_text(agent)) + row(terminal, "PCI", agent.pci.text()) +
           row(terminal, "UUID", agent.uuid);
}

std::string host_row(const Terminal& terminal, const AgentFacts& agent) {
    std::string text = fmt::format("{} CPUs", agent.compute_units);
    if (agent.max_clock_mhz != 0) text += fmt::format(", {} MHz", agent.max_clock_mhz);
    return row(terminal, "compute", text) +
           row(terminal, "memory", fmt::format("{}; NUMA node {}", memory_text(agent), agent.node));
}

}  // namespace

std::string as_short_text(const Facts& facts, const Terminal& terminal) {
    std::string text = fmt::format("{}, {}\n", runtime_text(facts.runtime), driver_text(facts));
    bool gpus = false;
    for (const AgentFacts& agent : facts.agents) {
        gpus |= agent.kind == AgentKind::gpu;
        text += title(terminal, agent);
        text += agent.kind == AgentKind::gpu ? gpu_rows(terminal, agent) : host_row(terminal, agent);
    }
    if (!gpus) text += "\n" + terminal.paint(Ink::warning, "no GPU") + ": run hsadrv doctor to find the cause\n";
    return text;
}

}  // namespace hsadrv_tool
