// Internal: submits the copies of one stream to DMA engines.
//
//   const auto copies = std::make_shared<CopyQueue>(timeline);
//   hsa_status_t status = copies->put({.engine = …, .before = gate, .done = done});
//
// An engine runs its copies in order, whichever stream they belong to. A copy whose dependency is not met blocks all
// copies after it. So a copy is submitted to its engine when its dependency is complete, or is a copy that the same
// engine already has. Until then it waits here, and a thread of the runtime submits it later. So does a copy after many
// of the stream that engines have: in a full ring the runtime would wait, with the locks of put(), and for ever if the
// GPU is lost.
//
// Invariants: copies reach the engines in the order of put(). No copy after lost work is submitted: it never runs,
// nor do later copies, nor any after end(). Their signals become -1, which wakes the host and satisfies no barrier
// packet. A signal stays alive while a copy here waits for it.
//
// Thread safety: any thread; put() by one at a time. Takes no lock of a stream or of a queue.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/signal_callbacks.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

/// The rest of a copy was refused. Its signal is negative when the part that was started is complete.
struct PartlyStarted {
    std::exception_ptr error;
};

/// Starts a copy in parts, each of which subtracts one from `done`: calls start(0) to start(parts - 1). If one throws,
/// throws that if it is the first, else PartlyStarted.
void start_parts(std::size_t parts, const std::shared_ptr<PooledSignal>& done,
                 const std::function<void(std::size_t)>& start);

class CopyQueue : public std::enable_shared_from_this<CopyQueue> {
  public:
    /// Starts the copy; the engine waits for the dependencies, if there are any. `done` is zero when it is complete.
    /// Owns its captures. If it throws, nothing was started, unless it throws PartlyStarted.
    using Engine = std::function<hsa_status_t(std::span<const hsa_signal_t> dependencies,
                                              const std::shared_ptr<PooledSignal>& done)>;
    using EngineId = std::pair<std::uint64_t, std::uint64_t>;
    struct Copy {
        Engine engine;
        EngineId engine_id = {};             ///< equal for copies of one engine
        AgentRef agent = {};                 ///< whose engine it is
        Completion before;                   ///< its signal is zero when the copy may run; null: now
        std::shared_ptr<PooledSignal> done;  ///< one until the copy is complete
    };

    /// Copies of a stream that engines have at once.
    static constexpr std::size_t most_given = 32;

    explicit CopyQueue(std::shared_ptr<Timeline> timeline) : timeline_(std::move(timeline)) {}

    /// Returns the status if the copy was submitted at once; on an error nothing was started. An error found later
    /// fails the stream.
    hsa_status_t put(Copy copy);
    /// Copies that wait here never run. Any thread; calling it again has no effect.
    void end() noexcept;

  private:
    void advance() noexcept;
    // With the mutex held.
    bool in_order(const Copy& copy) const noexcept;
    bool may_run(const Copy& copy);
    /// Of the most copies that engines may have, the one that completes first; null: they have fewer.
    std::shared_ptr<PooledSignal> first_of_many();
    hsa_status_t give(const Copy& copy);
    void await_front();

    const std::shared_ptr<Timeline> timeline_;
    Ranked<std::mutex, LockRank::copies> mutex_;
    std::deque<Copy> waiting_;
    std::deque<std::shared_ptr<PooledSignal>> given_;  // not yet known to be complete
    std::shared_ptr<PooledSignal> last_given_;         // owned by the engine
    EngineId last_engine_ = {};
    bool ended_ = false;
};

}  // namespace hsadrv::detail
