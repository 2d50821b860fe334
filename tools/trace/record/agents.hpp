// The machine's agents, pools and kernels as a trace names them.
//
//     const std::optional<unsigned> gpu = agents().gpu(agent);
//
// Thread safety: Agents is filled once, before other threads call; Kernels, any thread.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/trace/record/runtime.hpp"

namespace trace {

class Agents {
  public:
    explicit Agents(const Runtime& runtime);

    /// From 0, in the runtime's order.
    std::optional<unsigned> gpu(hsa_agent_t agent) const;
    const std::string& target(unsigned gpu) const { return gpus_[gpu].target; }
    const std::vector<hsa_agent_t> gpu_agents() const;
    /// "gpu0", "host".
    std::string name(hsa_agent_t agent) const;
    /// Of the agent that has this pool or region.
    const std::string& memory(std::uint64_t pool) const;

  private:
    struct Gpu {
        hsa_agent_t agent;
        std::string target;
    };
    std::vector<Gpu> gpus_;
    std::unordered_map<std::uint64_t, std::string> memories_;
};

struct KernelFacts {
    std::shared_ptr<const std::string> name;  ///< demangled
    std::uint32_t kernarg_bytes = 0;
};

/// By kernel object, of frozen executables.
class Kernels {
  public:
    void add(const Runtime& runtime, hsa_executable_t executable, const Agents& agents);
    KernelFacts find(std::uint64_t kernel_object) const;

  private:
    mutable std::mutex mutex_;
    const std::shared_ptr<const std::string> unknown_ =
        std::make_shared<const std::string>("a kernel of the runtime's own");
    std::unordered_map<std::uint64_t, KernelFacts> kernels_;
};

}  // namespace trace
