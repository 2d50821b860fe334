// Internal: how many copies the engines of a GPU have at once, of all streams.
//
//   if (room.take(gpu, this, done, 1)) start(…);
//   else on_signal(room.awaited(gpu, this), … ask again …);
//   room.leave(this);
//
// The ring in which the runtime's kernels copy has 64 packets, up to two for a copy (ROCR's GpuAgent::minAqlSize_,
// BlitKernel). When it is full, the runtime waits with its locks and the caller's, and for ever if the GPU is lost. So
// hsadrv gives it less, and leaves room for the copies with which the runtime itself loads code. Who has no copy in
// flight comes before those who have some.
//
// A copy is in flight until its signal is below a value, or is released. Thread safety: any thread; one lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/signal_pool.hpp"

namespace hsadrv::detail {

class EngineRoom {
  public:
    /// Copies of a GPU's engines in flight.
    static constexpr std::size_t most = 24;

    /// A copy, or a part of one, that is complete when its signal is below `below`.
    struct Taken {
        std::shared_ptr<PooledSignal> done;
        std::int64_t below;
    };

    /// Whether the owner may give the GPU's engines another copy, which is then in flight. If not, it waits until
    /// take() is true or leave(). May throw std::bad_alloc.
    bool take(AgentRef gpu, const void* owner, const Taken& copy);
    /// The last one that the owner took was refused.
    void give_back(AgentRef gpu, const void* owner) noexcept;
    /// What to wait for before asking again: half of the owner's own copies, or if it has none, the first of all. Null:
    /// nothing.
    Taken awaited(AgentRef gpu, const void* owner);
    /// The owner waits for no room any more. What it has in flight stays.
    void leave(const void* owner) noexcept;

  private:
    struct InFlight {
        const void* owner;
        std::weak_ptr<PooledSignal> done;  // an owner would keep the runtime alive
        std::int64_t below;
    };
    struct Gpu {
        std::vector<InFlight> in_flight;
        std::set<const void*> waiting;  // owners without a copy in flight
        bool has_some(const void* owner) const;
        bool has_room(const void* owner);
    };

    Ranked<std::mutex, LockRank::engines> mutex_;
    std::map<std::uint64_t, Gpu> gpus_;  // by the agent's handle
};

}  // namespace hsadrv::detail
