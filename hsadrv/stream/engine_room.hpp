// Internal: how many copies the engines of a GPU have at once, of all streams.
//
//   if (room->take(gpu, weak_from_this(), {done, 1, bytes})) start(…);    // else advance() is called in its turn
//
// When the ring of an engine is full, the runtime waits with its locks and the caller's, and for ever if the GPU is
// lost. So hsadrv gives it less. The ring in which the runtime's kernels copy has 64 packets, up to two for a copy
// (ROCR's GpuAgent::minAqlSize_, BlitKernel). Kernels copy within a GPU, and everywhere if there are no DMA engines, of
// which the runtime says nothing; dma_copy() uses that ring, too, and the copies with which the runtime itself loads
// code. Those of DMA engines have a megabyte, and a copy of a gigabyte takes 256 packets of 28 bytes (BlitSdma).
//
// Queues that find no room wait in line. When any copy of that GPU is complete, they are served in turn, on the
// copies' thread. A copy is in flight until its signal is below a value, or is released. Thread safety: any thread; one
// lock, which is not held while a queue is served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/signal_pool.hpp"

namespace hsadrv::detail {

class CopyQueue;

class EngineRoom : public std::enable_shared_from_this<EngineRoom> {
  public:
    /// Copies in flight of one GPU's engines; a large one counts as several.
    static constexpr std::size_t most = 20;
    static constexpr std::size_t bytes_of_one = std::size_t{1} << 30;
    /// In flight until the signal is below `below`.
    struct Taken {
        const std::shared_ptr<PooledSignal>& done;
        std::int64_t below;
        std::size_t size_bytes;
    };

    /// Whether the queue may give an engine of the GPU a copy, which is then in flight. If not, the queue is in line.
    /// May throw std::bad_alloc.
    bool take(AgentRef gpu, const std::weak_ptr<CopyQueue>& queue, const Taken& copy);
    /// The last copy with that signal was refused. If no other uses it, make it negative: callbacks may have it.
    void give_back(AgentRef gpu, const std::shared_ptr<PooledSignal>& done) noexcept;

  private:
    struct Given {
        std::weak_ptr<PooledSignal> done;  // an owner would keep the runtime alive
        std::int64_t below;
        std::size_t counts_as;
        bool awaited = false;
    };
    struct Place {
        std::vector<Given> in_flight;
        std::deque<std::weak_ptr<CopyQueue>> line;
        const CopyQueue* served = nullptr;  // taken out of the line
        bool has_room();
    };
    /// Whether a callback will serve the line.
    bool await_copies(std::uint64_t gpu, Place& place);
    void call_when_below(std::uint64_t gpu, const std::shared_ptr<PooledSignal>& done, std::int64_t below);
    void serve(std::uint64_t gpu) noexcept;

    Ranked<std::mutex, LockRank::engines> mutex_;
    std::map<std::uint64_t, Place> places_;  // by the agent's handle
};

}  // namespace hsadrv::detail
