// Internal: how many copies a GPU's engine has at once, of all streams.
//
//   if (room->take(engine, weak_from_this(), {done, 1, bytes})) start(…);    // else advance() is called in its turn
//
// When an engine's ring is full, the runtime waits with its locks and the caller's, and for ever if the GPU is lost. So
// hsadrv gives it less. The ring in which the runtime's kernels copy, between GPUs and within one, has 64 packets, up
// to two for a copy (ROCR's GpuAgent::minAqlSize_, BlitKernel); dma_copy() uses it, too, and the copies with which the
// runtime itself loads code. Those of DMA engines have a megabyte, and a copy of a gigabyte takes 256 packets of 28
// bytes (BlitSdma). With HSA_ENABLE_SDMA=0, kernels make all copies.
//
// Queues that find no room wait in line. When any copy of the engine is complete, they are served in turn, on the
// copies' thread. A copy is in flight until its signal is below a value, or is released. Thread safety: any thread; one
// lock, which is not held while a queue is served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/signal_pool.hpp"

namespace hsadrv::detail {

class CopyQueue;

class EngineRoom : public std::enable_shared_from_this<EngineRoom> {
  public:
    /// Copies in flight of one agent's kernels, and of one DMA engine; a large one counts as several.
    static constexpr std::size_t most_by_kernels = 20, most_by_dma = 64;
    static constexpr std::size_t bytes_of_one = std::size_t{1} << 30;
    /// The agent whose engine copies, and the handles of the GPUs to and from which; zero: the host.
    using Engine = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    /// In flight until the signal is below `below`.
    struct Taken {
        const std::shared_ptr<PooledSignal>& done;
        std::int64_t below;
        std::size_t size_bytes;
    };

    EngineRoom();

    /// Whether the queue may give the engine a copy, which is then in flight. If not, the queue is in line. May throw
    /// std::bad_alloc.
    bool take(const Engine& engine, const std::weak_ptr<CopyQueue>& queue, const Taken& copy);
    /// The last copy with that signal was refused. If no other uses it, make it negative: callbacks may have it.
    void give_back(const Engine& engine, const std::shared_ptr<PooledSignal>& done) noexcept;

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
        bool has_room(std::size_t most);
    };
    /// What shares a ring.
    Engine ring_of(const Engine& engine) const noexcept;
    std::size_t most_of(const Engine& ring) const noexcept { return by_kernels(ring) ? most_by_kernels : most_by_dma; }
    bool by_kernels(const Engine& engine) const noexcept;
    void await_copies(const Engine& ring, Place& place);
    void call_when_below(const Engine& ring, const std::shared_ptr<PooledSignal>& done, std::int64_t below);
    void serve(const Engine& ring) noexcept;

    const bool dma_;
    Ranked<std::mutex, LockRank::engines> mutex_;
    std::map<Engine, Place> places_;  // by ring
};

}  // namespace hsadrv::detail
