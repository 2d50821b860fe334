#include "tools/trace/record/agents.hpp"

#include <cxxabi.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdlib>

namespace trace {
namespace {

/// The runtime's callbacks take a function and data; this makes them of any callable.
template <class Handle, class Body>
hsa_status_t call_body(Handle handle, void* body) {
    (*static_cast<Body*>(body))(handle);
    return HSA_STATUS_SUCCESS;
}

std::string demangled(std::string name) {
    if (name.ends_with(".kd")) name.resize(name.size() - 3);
    int status = 0;
    char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    if (text == nullptr) return name;
    name = text;
    std::free(text);
    return name;
}

}  // namespace

Agents::Agents(const Runtime& runtime) {
    unsigned hosts = 0;
    // Hosts first: a GPU lists their regions, too.
    hsa_device_type_t wanted = HSA_DEVICE_TYPE_CPU;
    auto each = [&](hsa_agent_t agent) {
        hsa_device_type_t type{};
        runtime.agent_info(agent, HSA_AGENT_INFO_DEVICE, &type);
        if ((type == HSA_DEVICE_TYPE_CPU) != (wanted == HSA_DEVICE_TYPE_CPU)) return;
        std::string name;
        if (type == HSA_DEVICE_TYPE_GPU) {
            char target[64] = "";
            runtime.agent_info(agent, HSA_AGENT_INFO_NAME, target);
            name = "gpu" + std::to_string(gpus_.size());
            gpus_.push_back({agent, target});
        } else {
            name = hosts == 0 ? "host" : "host " + std::to_string(hosts);
            ++hosts;
        }
        memories_.emplace(agent.handle, name);
        auto pool = [&](hsa_amd_memory_pool_t memory) { memories_.emplace(memory.handle, name); };
        runtime.iterate_pools(agent, &call_body<hsa_amd_memory_pool_t, decltype(pool)>, &pool);
        auto region = [&](hsa_region_t memory) { memories_.emplace(memory.handle, name); };
        runtime.iterate_regions(agent, &call_body<hsa_region_t, decltype(region)>, &region);
    };
    for (wanted = HSA_DEVICE_TYPE_CPU; wanted <= HSA_DEVICE_TYPE_GPU;
         wanted = static_cast<hsa_device_type_t>(wanted + 1))
        runtime.iterate_agents(&call_body<hsa_agent_t, decltype(each)>, &each);
}

std::optional<unsigned> Agents::gpu(hsa_agent_t agent) const {
    for (unsigned n = 0; n < gpus_.size(); ++n)
        if (gpus_[n].agent.handle == agent.handle) return n;
    return std::nullopt;
}

const std::vector<hsa_agent_t> Agents::gpu_agents() const {
    std::vector<hsa_agent_t> agents;
    for (const Gpu& gpu : gpus_) agents.push_back(gpu.agent);
    return agents;
}

std::string Agents::name(hsa_agent_t agent) const { return memory(agent.handle); }

const std::string& Agents::memory(std::uint64_t pool) const {
    static const std::string unknown = "unknown";
    const auto found = memories_.find(pool);
    return found == memories_.end() ? unknown : found->second;
}

void Kernels::add(const Runtime& runtime, hsa_executable_t executable, const Agents& agents) {
    const std::lock_guard lock{mutex_};
    auto each = [&](hsa_executable_symbol_t symbol) {
        const auto info = [&](hsa_executable_symbol_info_t what, auto& value) {
            runtime.symbol_info(symbol, what, &value);
        };
        hsa_symbol_kind_t kind{};
        info(HSA_EXECUTABLE_SYMBOL_INFO_TYPE, kind);
        if (kind != HSA_SYMBOL_KIND_KERNEL) return;
        std::uint64_t object = 0;
        std::uint32_t length = 0;
        KernelFacts facts;
        info(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, object);
        info(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, facts.kernarg_bytes);
        info(HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, length);
        std::string name(length, '\0');
        runtime.symbol_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data());
        facts.name = std::make_shared<const std::string>(demangled(std::move(name)));
        kernels_[object] = std::move(facts);
    };
    const auto symbol = [](hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t symbol, void* body) {
        return call_body<hsa_executable_symbol_t, decltype(each)>(symbol, body);
    };
    for (const hsa_agent_t agent : agents.gpu_agents()) runtime.agent_symbols(executable, agent, symbol, &each);
}

KernelFacts Kernels::find(std::uint64_t kernel_object) const {
    const std::lock_guard lock{mutex_};
    const auto found = kernels_.find(kernel_object);
    if (found != kernels_.end()) return found->second;
    return {unknown_, 0};
}

}  // namespace trace
