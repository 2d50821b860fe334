// One copy by the runtime's DMA engines, without a stream, for callers that order their work with signals.
//
//   const hsadrv::Signal done = hsadrv::Signal::create(1);
//   hsadrv::dma_copy({to.data(), gpu}, {from.data(), cpu}, bytes, done);                  // the runtime chooses
//   hsadrv::dma_copy({to.data(), gpu}, {from.data(), cpu}, bytes, done, {}, 1);           // engine 1 only
//   done.wait(hsadrv::Condition::less, 1, std::chrono::seconds(10));
//
// The caller keeps the memory valid. It is pinned or registered, and reachable by the GPU that copies: the source's, or
// the destination's if the source is on the host. A failed engine makes the signal negative. Thread safety: any thread.
// Throws: Error naming the call, both ends and the size; NotOffered if an engine is given and the runtime is older than
// ROCm 5.6. Source: hsa_ext_amd.h, hsa_amd_memory_async_copy, hsa_amd_memory_async_copy_on_engine,
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

/// Starts when every signal of `after`, at most five, is zero; decrements `done` by one at the end. At least one end is
/// a GPU's. `engine`: the number of a DMA engine, from 0; the copy uses it even if the runtime would use a kernel. The
/// runtime waits, without a deadline and with locks of its own, while the engine's ring is full: keep at most 10 in
/// flight on a GPU. Of the 64 packets of its copy kernels' ring, streams take up to 40, and a copy takes two. Throws
/// InvalidArgument for more signals: ROCR 7.x would overrun its stack.
void dma_copy(DmaEnd to, DmaEnd from, std::size_t size_bytes, SignalRef done, std::span<const hsa_signal_t> after = {},
              std::optional<unsigned> engine = {});

/// The engines that can copy between the two and are idle now: bit N is engine N. Zero for copies within one agent,
/// which the runtime does not report. Throws NotOffered.
std::uint32_t free_dma_engines(AgentRef to, AgentRef from);

}  // namespace hsadrv
