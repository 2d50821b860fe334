// One copy by the runtime's engines, without a stream: for those who order their work by signals of their own.
//
//   const hsadrv::Signal done = hsadrv::Signal::create(1);
//   hsadrv::dma_copy({to.data(), gpu}, {from.data(), cpu}, bytes, done);                  // the runtime's choice
//   hsadrv::dma_copy({to.data(), gpu}, {from.data(), cpu}, bytes, done, {}, 1);           // engine 1, nothing else
//   done.wait(hsadrv::Condition::less, 1, std::chrono::seconds(10));
//
// The memory is the caller's to keep, pinned or registered, and reachable by the GPU that copies: the source's, or the
// destination's where the source is on the host. An engine that fails makes the signal negative. Thread safety: any
// thread. Throws: Error naming the call, both ends and the size; NotOffered where an engine is asked for of a runtime
// older than ROCm 5.6. Source: hsa_ext_amd.h, hsa_amd_memory_async_copy, hsa_amd_memory_async_copy_on_engine,
// hsa_amd_memory_copy_engine_status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hsadrv/agent.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv {

/// An address as the agent sees it, and the agent whose memory it is.
struct DmaEnd {
    void* address = nullptr;
    AgentRef agent;
};

/// Starts when every signal of `after` is zero; `done` is decremented by one at the end. One end at least is a GPU's.
/// `engine`: a number from 0; the DMA engine of that number alone, even where the runtime would take a kernel.
void dma_copy(DmaEnd to, DmaEnd from, std::size_t size_bytes, SignalRef done, std::span<const hsa_signal_t> after = {},
              std::optional<unsigned> engine = {});

/// The engines that may carry copies between the two and are free now: bit N is engine N. Nothing between one agent
/// and itself: the runtime does not say. Throws NotOffered.
std::uint32_t free_dma_engines(AgentRef to, AgentRef from);

}  // namespace hsadrv
