// Internal: selects the DMA engine for a copy between a GPU and the host.
//
//   async_copy({to, gpu}, {from, cpu}, bytes, {&before, 1}, done);
//
// The runtime uses one engine for copies to a GPU and one for copies from it. An engine works in order, and a copy
// whose dependency is not met blocks the copies after it, of any stream. So if the usual engine is busy and the runtime
// (ROCm 5.6 on) reports that another suitable engine is free, that one is used. Thread safety: any thread. Source:
// ROCR's GpuAgent::DmaCopyStatus, GpuAgent::DmaCopyOnEngine.
#pragma once

#include <hsa/hsa.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "hsadrv/agent.hpp"

namespace hsadrv::detail {

/// One bit of the mask of free engines; 0: keep the runtime's choice. `from_gpu`: the copy's direction.
constexpr std::uint32_t engine_instead(std::uint32_t free, bool from_gpu) noexcept {
    const std::uint32_t usual = from_gpu ? 2 : 1;
    if (free & usual) return 0;
    return free & (0 - free);  // the lowest: the highest ones are for links between GPUs
}

struct CopyEnd {
    void* address;
    AgentRef agent;
};

/// hsa_amd_memory_async_copy, on another engine if that is better.
hsa_status_t async_copy(CopyEnd to, CopyEnd from, std::size_t size_bytes, std::span<const hsa_signal_t> dependencies,
                        hsa_signal_t done);

}  // namespace hsadrv::detail
