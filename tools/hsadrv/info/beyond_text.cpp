// What rocminfo does not report. These lines contain neither its labels nor agents' names, so that a grep for one finds
// the same lines as in rocminfo's report.
#include <fmt/format.h>

#include "tools/common/table.hpp"
#include "tools/hsadrv/info/report.hpp"
#include "tools/hsadrv/info/units.hpp"

namespace hsadrv_tool {
namespace {

using Rows = std::vector<std::vector<std::string>>;

const char* yes(bool value) { return value ? "yes" : "no"; }

/// Pairs of a label and a value, aligned.
std::string pairs(const std::vector<std::pair<std::string, std::string>>& facts, std::size_t indent) {
    std::string text;
    for (const auto& [label, value] : facts) text += fmt::format("{:{}}{:<26}{}\n", "", indent, label + ":", value);
    return text;
}

std::string system_part(const Facts& facts) {
    std::vector<std::pair<std::string, std::string>> lines;
    if (!facts.runtime.build_version.empty())
        lines.emplace_back("Runtime build", "ROCR " + facts.runtime.build_version);
    lines.emplace_back("Kernel release", facts.kernel_release);
    lines.emplace_back("Kernel driver", !facts.module.present             ? "amdgpu: no such module"
                                        : facts.module.init_state.empty() ? "amdgpu, built in"
                                        : facts.module.version.empty()    ? "amdgpu, the kernel's own"
                                                                          : "amdgpu " + facts.module.version);
    lines.emplace_back("SVM on every GPU", yes(facts.runtime.svm_supported));
    lines.emplace_back("SVM without a request", yes(facts.runtime.svm_accessible_by_default));
    return pairs(lines, 0);
}

std::string name_of(const Facts& facts, unsigned number) {
    for (const AgentFacts& agent : facts.agents)
        if (agent.number == number) return fmt::format("{} (agent {})", agent.label, number);
    return fmt::format("agent {}", number);
}

template <class T>
void add(std::vector<std::pair<std::string, std::string>>& lines, const char* label, const Maybe<T>& value,
         std::string (*text)(T)) {
    if (value) lines.emplace_back(label, text(*value));
}
std::string number_text(std::uint32_t number) { return fmt::format("{}", number); }

void gpu_lines(const GpuFacts& gpu, std::vector<std::pair<std::string, std::string>>& lines) {
    lines.emplace_back("LDS of a work-group", size_text(gpu.group_segment_bytes));
    lines.emplace_back("Memory bus",
                       fmt::format("{} bits, {} MHz", gpu.memory_bus_width_bits, gpu.memory_max_clock_mhz));
    if (gpu.memory_available_bytes)
        lines.emplace_back("Memory free now", fmt::format("{} ({} bytes)", size_text(*gpu.memory_available_bytes),
                                                          *gpu.memory_available_bytes));
    lines.emplace_back("Cooperative queues", yes(gpu.cooperative_queues));
    lines.emplace_back("Cooperative units", number_text(gpu.cooperative_compute_units));
    lines.emplace_back("Host flushes HDP", yes(gpu.hdp_flush));
    add(lines, "DMA engines", gpu.dma_engines, number_text);
    add(lines, "DMA engines for xGMI", gpu.xgmi_dma_engines, number_text);
    add(lines, "Compute dies", gpu.compute_dies, number_text);
    add(lines, "Scratch limit now", gpu.scratch_limit_bytes, size_text);
    add(lines, "Scratch limit at most", gpu.scratch_limit_max_bytes, size_text);
}

std::string identity_part(const Facts& facts, const AgentFacts& agent) {
    std::vector<std::pair<std::string, std::string>> lines;
    if (agent.label.starts_with("gpu")) lines.emplace_back("Number for --device", agent.label.substr(3));
    if (agent.kind != AgentKind::cpu) lines.emplace_back("PCI address", agent.pci.text());
    lines.emplace_back("HSA version", fmt::format("{}.{}", agent.hsa_version_major, agent.hsa_version_minor));
    if (agent.nearest_cpu) lines.emplace_back("Nearest CPU", name_of(facts, *agent.nearest_cpu));
    if (agent.gpu) gpu_lines(*agent.gpu, lines);
    if (agent.kind != AgentKind::cpu) {
        add(lines, "ASIC family", agent.asic_family, number_text);
        add(lines, "Driver's UID", agent.driver_uid, number_text);
    }
    if (agent.timestamp_frequency_hz)
        lines.emplace_back("Timestamps",
                           fmt::format("{:.3f} MHz", static_cast<double>(*agent.timestamp_frequency_hz) / 1e6));
    return pairs(lines, 2);
}

/// The runtime calls them "gfx90a L2".
std::string caches_part(const AgentFacts& agent) {
    if (agent.caches.empty()) return {};
    Rows rows;
    for (const hsadrv::Cache& cache : agent.caches)
        rows.push_back({fmt::format("L{}", cache.level), size_text(cache.size_bytes)});
    return "  Caches\n" + tools::aligned(rows, 4, {1});
}

std::string kind_text(hsadrv::Segment segment, const hsadrv::GlobalFlags& flags) {
    const std::string text = flags.text();
    return hsadrv::segment_name(segment) + (text.empty() ? "" : ", " + text);
}

/// "1, 3 to 5"; the numbers ascend.
std::string ranges(const std::vector<std::size_t>& numbers) {
    std::string text;
    for (std::size_t first = 0, next; first < numbers.size(); first = next) {
        for (next = first + 1; next < numbers.size() && numbers[next] == numbers[next - 1] + 1;) ++next;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[first]);
        if (next - first > 1) text += fmt::format("{}{}", next - first > 2 ? " to " : ", ", numbers[next - 1]);
    }
    return text;
}

/// By the agents' numbers: "2 always; 1, 3 on request".
std::string access_text(const PoolFacts& pool) {
    using hsadrv::PoolAccess;
    std::string text;
    for (const auto& [access, word] : {std::pair{PoolAccess::allowed_by_default, "always"},
                                       {PoolAccess::disallowed_by_default, "on request"},
                                       {PoolAccess::never, "never"}}) {
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < pool.access.size(); ++i)
            if (pool.access[i] == access) numbers.push_back(i + 1);
        if (!numbers.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", ranges(numbers), word);
    }
    return text;
}

std::string pools_part(const AgentFacts& agent) {
    Rows rows{{"", "at", "one allocation", "access by agent", "kind"}};
    for (std::size_t i = 0; i < agent.pools.size(); ++i) {
        const PoolFacts& pool = agent.pools[i];
        rows.push_back({number_text(static_cast<std::uint32_t>(i + 1)), pool.on_device ? "device" : "host",
                        pool.allocatable ? "up to " + size_text(pool.alloc_max_bytes) : "none", access_text(pool),
                        kind_text(pool.segment, pool.flags)});
    }
    return agent.pools.empty() ? "" : "  Pools\n" + tools::aligned(rows, 4);
}

std::string regions_part(const AgentFacts& agent) {
    if (agent.regions.empty()) return {};
    Rows rows{{"", "capacity", "one allocation", "granule", "alignment", "host sees it", "kind"}};
    for (std::size_t i = 0; i < agent.regions.size(); ++i) {
        const RegionFacts& region = agent.regions[i];
        rows.push_back({number_text(static_cast<std::uint32_t>(i + 1)), size_text(region.size_bytes),
                        region.allocatable ? "up to " + size_text(region.alloc_max_bytes) : "none",
                        size_text(region.granule_bytes), size_text(region.alignment_bytes), yes(region.host_accessible),
                        kind_text(region.segment, region.flags)});
    }
    return "  Regions\n" + tools::aligned(rows, 4, {1, 3, 4});
}

std::string isas_part(const AgentFacts& agent) {
    if (agent.isas.empty()) return {};
    Rows rows{{"", "wavefronts", "work-items of a grid"}};
    for (std::size_t i = 0; i < agent.isas.size(); ++i) {
        std::string sizes;
        for (const std::uint32_t size : agent.isas[i].wavefront_sizes)
            sizes += (sizes.empty() ? "" : ", ") + number_text(size);
        rows.push_back({number_text(static_cast<std::uint32_t>(i + 1)), sizes,
                        fmt::format("up to {}", agent.isas[i].grid_max_workitems)});
    }
    return "  Instruction sets\n" + tools::aligned(rows, 4);
}

/// "16.0 GB/s", "312 MB/s to 16.0 GB/s"; "-" if the driver does not know.
std::string bandwidth_text(const hsadrv::Link& link) {
    if (link.max_bandwidth_mb_s == 0) return "-";
    if (link.min_bandwidth_mb_s == 0 || link.min_bandwidth_mb_s == link.max_bandwidth_mb_s)
        return rate_text(link.max_bandwidth_mb_s);
    return rate_text(link.min_bandwidth_mb_s) + " to " + rate_text(link.max_bandwidth_mb_s);
}

std::string latency_text(const hsadrv::Link& link) {
    if (link.max_latency_ns == 0) return "-";
    return link.min_latency_ns == link.max_latency_ns
               ? fmt::format("{} ns", link.max_latency_ns)
               : fmt::format("{} to {} ns", link.min_latency_ns, link.max_latency_ns);
}

std::string atomics_text(const hsadrv::Link& link) {
    if (link.atomics_32bit && link.atomics_64bit) return "32, 64 bits";
    return link.atomics_32bit ? "32 bits" : link.atomics_64bit ? "64 bits" : "no";
}

std::string ways_part(const Facts& facts, const AgentFacts& agent) {
    if (agent.ways.empty()) return {};
    Rows rows{{"to memory of", "hop", "type", "bandwidth", "latency", "distance", "atomics", "coherent"}};
    for (const WayFacts& way : agent.ways)
        for (std::size_t hop = 0; hop < way.hops.size(); ++hop) {
            const hsadrv::Link& link = way.hops[hop];
            rows.push_back({name_of(facts, way.to), fmt::format("{} of {}", hop + 1, way.hops.size()),
                            hsadrv::link_type_name(link.type), bandwidth_text(link), latency_text(link),
                            number_text(link.numa_distance), atomics_text(link), yes(link.coherent)});
        }
    return "  Links\n" + tools::aligned(rows, 4);
}

}  // namespace

std::string beyond_rocminfo_text(const Facts& facts) {
    std::string text = "===============\nBeyond rocminfo\n===============\n" + system_part(facts);
    for (const AgentFacts& agent : facts.agents) {
        text += fmt::format("\n{} (agent {})\n", agent.label, agent.number);
        text += identity_part(facts, agent) + caches_part(agent) + pools_part(agent) + regions_part(agent);
        text += isas_part(agent) + ways_part(facts, agent);
    }
    return text;
}

std::string as_full_text(const Facts& facts) { return rocminfo_text(facts) + "\n" + beyond_rocminfo_text(facts); }

}  // namespace hsadrv_tool
