// Finds what a kernel or a copy wrote and a later one reads, although the scopes of their packets' fences do not reach
// from the one to the other (`fence`).
//
//     auto start = visibility.acquired(gpu, scope, safe, now);     // a packet starts
//     visibility.ended(work, start, now, report, allocations);   // it has ended
//     visibility.released(gpu, scope, now);
//
// Of one GPU, the writer's stores reach memory with a release fence of the agent or the system, and the reader's caches
// drop what they hold with an acquire fence. A DMA engine reads memory beside the GPU's caches: that needs a release of
// the system, and so do kernels of other GPUs. What it, or another GPU, writes is missed by a kernel if the L2 cache of
// the kernel's GPU holds an older value: if a kernel there accessed the line after the last acquire of the system, and
// began before the write had ended. ROCm's HIP relies on this: it acquires the system before a copy, not after it.
// A fence counts for all packets of its GPU. Unordered kernels are Operations' matter. Source: hsa.h,
// hsa_fence_scope_t; LLVM AMDGPUUsage, "Memory Model GFX6-GFX9" and "GFX90A".
//
// A kernel is kept until fences of both kinds have followed; of what kernels accessed, at most 256 MiB. Thread safety:
// every function, any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "tools/kfdemu/check/race/operations.hpp"

namespace kfdemu::check {

enum class FenceScope : std::uint8_t { None, Agent, System };

class Visibility {
  public:
    using Tick = Operations::Tick;
    using Kernel = Operations::Kernel;
    using Copy = Operations::Copy;
    using Work = std::variant<Kernel, Copy>;

    /// When fences of a GPU were last performed.
    struct Fences {
        Tick agent_acquire = 0, system_acquire = 0, agent_release = 0, system_release = 0;
    };
    using FencesOfGpus = std::map<std::uint32_t, Fences>;
    /// What a kernel or a copy may rely on.
    struct Start {
        Tick safe = 0;  ///< it is ordered after what ended by then
        Tick begin = 0;
        FencesOfGpus fences;
    };

    struct Ended {
        Tick begin = 0, end = 0;
        std::shared_ptr<const Work> work;
    };

    /// A packet starts whose acquire fence has that scope. None for copies.
    Start acquired(std::uint32_t gpu, FenceScope scope, Tick safe, Tick now);
    /// A packet has ended, and was told about by ended().
    void released(std::uint32_t gpu, FenceScope scope, Tick now);
    /// Compares it with what has ended before its start.
    void ended(const Work& work, const Start& start, Tick now, Report& report, const Allocations* allocations);

  private:
    std::vector<Ended> all();
    bool reaches_all(const Ended& ended) const;
    void forget();

    std::mutex mutex_;
    FencesOfGpus fences_;
    std::deque<Ended> ended_;  // in the order of their ends
};

}  // namespace kfdemu::check
