#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>

#include "tools/hsadrv/doctor/check.hpp"

namespace hsadrv_tool::doctor {
namespace {

struct Variable {
    const char* name;
    const char* does;
};

// Flags of ROCR (core/util/flag.h) and of the thunk, and other variables that decide which GPUs a program sees.
constexpr Variable variables[] = {
    {"HIP_VISIBLE_DEVICES", "HIP programs see these GPUs of the runtime's; hsadrv and HSA do not read it"},
    {"CUDA_VISIBLE_DEVICES", "HIP programs read it as HIP_VISIBLE_DEVICES; hsadrv and HSA do not"},
    {"GPU_DEVICE_ORDINAL", "HIP and OpenCL programs see these GPUs of the runtime's; hsadrv and HSA do not read it"},
    {"HSA_ENABLE_SDMA", "0: copies are made by kernels instead of the DMA engines"},
    {"HSA_ENABLE_PEER_SDMA", "0: copies between GPUs are made by kernels"},
    {"HSA_ENABLE_INTERRUPT", "0: waits poll, which takes a CPU core, instead of sleeping until an interrupt"},
    {"HSA_XNACK", "1: GPUs may fault and retry on memory of the host; code compiled for xnack- is refused then"},
    {"HSA_CU_MASK", "kernels run only on these compute units"},
    {"HSA_DISABLE_CACHE", "1: GPU caches are off, and kernels slow"},
    {"HSA_DISABLE_FRAGMENT_ALLOCATOR", "1: each allocation has separate pages"},
    {"HSA_SCRATCH_MEM", "the scratch memory of a GPU"},
    {"HSA_NO_SCRATCH_RECLAIM", "1: scratch memory stays with its queue"},
    {"HSA_MAX_QUEUES", "the number of hardware queues of a process"},
    {"HSA_USERPTR_FOR_PAGED_MEM", "0: host memory is allocated by the kernel driver"},
    {"HSA_FORCE_FINE_GRAIN_PCIE", "1: fine-grained device memory over PCIe, which needs PCIe atomics"},
    {"HSA_RUNNING_UNDER_VALGRIND", "1: address space is reserved in a way that valgrind supports"},
    {"HSA_TOOLS_LIB", "the runtime loads these libraries, which see and may change every call"},
    {"HSAKMT_DEBUG_LEVEL", "the thunk reports errors on standard error"},
    {"LD_PRELOAD", "these libraries come before the runtime, and may answer in its place"},
    {"LD_LIBRARY_PATH", "libraries, including the runtime, are searched here first"},
    {"KFDEMU", "what kfdemu emulates, where it is loaded"},
};

/// Which GPU a token of ROCR_VISIBLE_DEVICES means: amd_filter_device.cpp of ROCR.
std::optional<std::size_t> meant(std::string token, const std::vector<const TopologyNode*>& gpus) {
    std::transform(token.begin(), token.end(), token.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::size_t first = token.find_first_not_of(' ');
    token = first == token.npos ? "" : token.substr(first, token.find_last_not_of(' ') - first + 1);
    if (token.starts_with('G')) {
        std::optional<std::size_t> found;
        if (token.size() < 5) return std::nullopt;
        for (std::size_t i = 0; i < gpus.size(); ++i) {
            if (gpus[i]->unique_id == 0 || !fmt::format("GPU-{:016X}", gpus[i]->unique_id).starts_with(token)) continue;
            if (found) return std::nullopt;
            found = i;
        }
        return found;
    }
    char* end = nullptr;
    const long index = std::strtol(token.c_str(), &end, 0);
    if (token.empty() || *end != '\0' || index < 0 || static_cast<std::size_t>(index) >= gpus.size())
        return std::nullopt;
    return static_cast<std::size_t>(index);
}

std::string choices(const std::vector<const TopologyNode*>& gpus) {
    std::string text;
    for (std::size_t i = 0; i < gpus.size(); ++i)
        text += fmt::format("{}{} (GPU-{:016x}, {})", i == 0 ? "" : ", ", i, gpus[i]->unique_id, gpus[i]->target());
    return text;
}

Row check_visible(const Machine& machine, const std::string& value) {
    Row row = note("environment", "ROCR_VISIBLE_DEVICES", value + ": ");
    std::vector<const TopologyNode*> gpus = machine.gpu_nodes();
    std::erase_if(gpus, [](const TopologyNode* node) { return node->error != 0; });
    if (gpus.empty()) {
        row.found += "the runtime shows only these GPUs";
        return row;
    }
    std::set<std::size_t> shown;
    std::string stopped;
    std::istringstream tokens(value);
    for (std::string token; std::getline(tokens, token, ',');) {
        const auto index = meant(token, gpus);
        if (index && shown.insert(*index).second) continue;
        stopped = fmt::format("\"{}\" {}", token, index ? "is named twice" : "names no GPU");
        break;
    }
    row.because("existing GPUs", choices(gpus));
    row.found += fmt::format("the runtime shows {} of {} GPUs", shown.size(), gpus.size());
    if (!stopped.empty()) row.found += fmt::format(": {}, and the list ends there", stopped);
    if (shown.empty()) row.verdict = Verdict::fault;
    if (shown.empty() || !stopped.empty()) {
        if (!shown.empty()) row.verdict = Verdict::warning;
        row.advise(fmt::format("unset it, or name some of: {}", choices(gpus)), {"unset ROCR_VISIBLE_DEVICES"});
    }
    return row;
}

/// As the thunk's topology.c reads it.
Row check_override(const std::string& name, const std::string& value) {
    unsigned major = 0, minor = 0, stepping = 0;
    char more = 0;
    const bool good = std::sscanf(value.c_str(), "%u.%u.%u%c", &major, &minor, &stepping, &more) == 3 && major <= 63 &&
                      minor <= 255 && stepping <= 255;
    if (!good) {
        Row row =
            fault("environment", name, value + ": is no version such as 10.3.0; with it the runtime finds no GPU");
        return row.advise("unset it", {"unset " + name});
    }
    Row row = warning(
        "environment", name,
        fmt::format("{}: the runtime takes the GPU for gfx{}{:x}{:x}: code for that runs, and may go wrong or hang",
                    value, major, minor, stepping));
    return row.advise("unset it if the programs are compiled for the GPU itself", {"unset " + name});
}

}  // namespace

Rows check_environment(const Machine& machine) {
    Rows rows;
    const auto& all = machine.environment;
    if (const auto found = all.find("ROCR_VISIBLE_DEVICES"); found != all.end())
        rows.push_back(check_visible(machine, found->second));
    for (const auto& [name, value] : all)
        if (name.starts_with("HSA_OVERRIDE_GFX_VERSION")) rows.push_back(check_override(name, value));
    for (const Variable& variable : variables) {
        const auto found = all.find(variable.name);
        if (found == all.end() || found->second.empty()) continue;
        const bool libraries = found->first == "LD_PRELOAD" || found->first == "HSA_TOOLS_LIB";
        const std::string value = libraries ? machine.libraries_beside_emulation(found->first) : found->second;
        if (!value.empty()) rows.push_back(note("environment", found->first, value + ": " + variable.does));
    }
    if (rows.empty())
        rows.push_back(ok("environment", "environment", "no variable is set that changes which GPUs are seen"));
    return rows;
}

}  // namespace hsadrv_tool::doctor
