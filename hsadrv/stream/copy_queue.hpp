// Internal: submits the copies of one stream to DMA engines.
//
//   const auto copies = std::make_shared<CopyQueue>(timeline);
//   hsa_status_t status = copies->put({.start = …, .before = gate, .done = done});
//
// An engine runs its copies in order, whichever stream they belong to. A copy whose dependency is not met blocks all
// copies after it. So a copy is submitted to its engine when its dependency is complete, or is a copy that the same
// engine already has. Until then it waits here, and a thread of the runtime submits it later. So does one after many
// that the engines of its GPU have, of all streams (EngineRoom). A copy in parts is submitted as they complete, and
// the next one when all are complete.
//
// Invariants: copies reach the engines in the order of put(). No copy after lost work is submitted: it never runs,
// nor do later copies, nor any after end(). Their signals become -1, which wakes the host and satisfies no barrier
// packet; that of a copy of which engines have parts, when those are complete. A signal stays alive while a copy here
// waits for it.
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
#include "hsadrv/stream/engine_room.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

class CopyQueue : public std::enable_shared_from_this<CopyQueue> {
  public:
    using Dependencies = std::span<const hsa_signal_t>;
    /// Starts the copy; the engine waits for the dependencies, if there are any. `done` is zero when it is complete.
    /// Owns its captures. If it throws, nothing was started.
    using Start = std::function<hsa_status_t(Dependencies, const std::shared_ptr<PooledSignal>& done)>;
    /// The same copy in several, for an engine that refuses it as one. Each subtracts one from `done`.
    struct Parts {
        std::size_t count = 0;  ///< zero: it cannot be divided
        std::function<void(std::size_t part, Dependencies, const std::shared_ptr<PooledSignal>& done)> start;
        std::size_t ring_bytes = 0;  ///< what the undivided copy counts in rings, beside its size
    };
    using EngineId = std::pair<std::uint64_t, std::uint64_t>;
    struct Copy {
        Start start;
        Parts parts = {};
        std::size_t size_bytes = 0;          ///< to count it in rings
        EngineId engine_id = {};             ///< equal for copies of one engine
        AgentRef agent = {};                 ///< whose engine it is
        Completion before;                   ///< its signal is zero when the copy may run; null: now
        std::shared_ptr<PooledSignal> done;  ///< one until the copy is complete; in parts, how many are not
        // Its progress; only the queue writes these.
        bool in_parts = false, given = false, in_line = false, watched = false;  // in line: of EngineRoom
        std::size_t started = 0;                                                 // parts
    };

    explicit CopyQueue(std::shared_ptr<Timeline> timeline);
    CopyQueue(const CopyQueue&) = delete;
    CopyQueue& operator=(const CopyQueue&) = delete;
    ~CopyQueue();  ///< ends it

    /// Returns the status if the copy was submitted at once. If that is an error, or if it throws, nothing was started.
    /// An error found later, also in a later part, fails the stream.
    hsa_status_t put(Copy copy);
    /// Copies that wait here never run. Any thread; calling it again has no effect.
    void end() noexcept;
    /// Gives copies that may run now. On the copies' thread.
    void advance() noexcept;

  private:
    // With the mutex held.
    bool in_order(const Copy& copy) const noexcept;
    /// If it may run, and as far as there is room.
    hsa_status_t give(Copy& copy);
    hsa_status_t give_whole(Copy& copy, Dependencies dependencies);
    void give_parts(Copy& copy, Dependencies dependencies);
    /// Calls `start` if the engines have room for a copy that is complete when its signal is below that. Returns
    /// whether they had.
    template <class Function>
    bool start_in_room(Copy& copy, std::int64_t below, std::size_t size_bytes, Function&& start);
    void await_front();
    void unwatch(const std::shared_ptr<PooledSignal>& done) noexcept;

    const std::shared_ptr<Timeline> timeline_;
    const std::shared_ptr<EngineRoom> room_;
    Ranked<std::mutex, LockRank::copies> mutex_;
    std::deque<Copy> waiting_;
    std::shared_ptr<PooledSignal> last_given_;  // owned by the engine
    EngineId last_engine_ = {};
    bool ended_ = false;
};

}  // namespace hsadrv::detail
