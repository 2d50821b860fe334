// Internal: a stream's progress and its failure. Shared with events and with streams that wait for it, so it outlives
// its stream.
//
// Completion is counted on one signal, the epoch. It starts at a high value and every counted packet of the stream
// decrements it, so the first n packets are complete when it is below a value known beforehand. Only packets write to
// it: a failure does not change it, so no device continues with work after lost work. Host threads that wait for it
// poll failed() (watched_wait.hpp), and callbacks are made due (SignalCallbacks::hurry).
//
// Thread safety: any thread; submit() and move() by one at a time. Memory ordering: the epoch's value is loaded with
// acquire, so a thread that sees a packet complete sees what it wrote. lost_after_ is written before failed_, whose
// release publishes it; it only decreases. Owns: the epoch signal; keeps the runtime alive.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "hsadrv/base/growing_ring.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/base/short_lock.hpp"
#include "hsadrv/signal.hpp"
#include "hsadrv/stream/completion.hpp"

namespace hsadrv {
class SignalCallbacks;
}  // namespace hsadrv

namespace hsadrv::detail {

class Timeline {
  public:
    /// At most `packets`, a power of two, are in flight at once.
    Timeline(std::string label, std::uint32_t packets);
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    /// The stream's name in messages: "stream 3 on gpu0 gfx90a".
    const std::string& label() const noexcept { return label_; }
    SignalRef signal() const noexcept { return epoch_.ref(); }

    /// The signal is below this when `count` packets are complete.
    static constexpr std::int64_t below(std::uint64_t count) noexcept {
        return start - static_cast<std::int64_t>(count) + 1;
    }

    std::uint64_t submitted() const noexcept { return submitted_.load(std::memory_order_relaxed); }
    /// Adds a counted packet in this slot of its queue, or the last of `packets`. Call it before the packet is
    /// published. Returns the new count.
    std::uint64_t submit(std::uint64_t slot, std::uint32_t packets = 1) noexcept {
        const std::uint64_t count = submitted() + 1;
        slots_[count & mask_].store(std::uint64_t{packets} << slot_bits | slot, std::memory_order_relaxed);
        submitted_.store(count, std::memory_order_release);
        return count;
    }
    static constexpr std::uint32_t most_packets = 0x7fff;  ///< per count

    /// The slot of the packet with this count, or of the first of its packets.
    std::uint64_t slot_of(std::uint64_t count) const noexcept {
        return slots_[count & mask_].load(std::memory_order_relaxed) & slot_mask;
    }
    std::uint32_t packets_of(std::uint64_t count) const noexcept {
        return static_cast<std::uint32_t>(slots_[count & mask_].load(std::memory_order_relaxed) >> slot_bits);
    }
    void move(std::uint64_t count, std::uint64_t slot) noexcept {
        slots_[count & mask_].store(std::uint64_t{packets_of(count)} << slot_bits | slot, std::memory_order_relaxed);
    }
    /// The slot of the first packet that has not run.
    std::optional<std::uint64_t> first_pending_slot() const noexcept {
        const std::uint64_t next = finished() + 1;
        if (next > submitted_.load(std::memory_order_acquire)) return std::nullopt;
        return slot_of(next);
    }
    /// The slot of the running packet, if `read_index` is the queue's: within the first count that has not run.
    std::optional<std::uint64_t> running_slot(std::uint64_t read_index) const noexcept {
        const std::uint64_t next = finished() + 1;
        if (next > submitted_.load(std::memory_order_acquire)) return std::nullopt;
        const std::uint64_t first = slot_of(next);
        const std::uint64_t last = first + packets_of(next) - 1;
        return read_index < first ? first : read_index > last ? last : read_index;
    }

    /// Complete and not lost. After a failure of the host's making, packets before the failed operation still complete.
    std::uint64_t completed() const noexcept {
        return failed() ? std::min(finished(), lost_after_.load(std::memory_order_relaxed)) : finished();
    }
    /// Packets that have run, including lost ones: if the stream's failure was not its queue's, the packets before the
    /// failed operation still run.
    std::uint64_t finished() const noexcept {
        return static_cast<std::uint64_t>(start - std::atomic_ref(*epoch_value_).load(std::memory_order_acquire));
    }
    bool reached(std::uint64_t count) const noexcept { return completed() >= count; }
    /// The same; a copy is also reached if it is lost.
    bool reached(const Completion& completion) const noexcept {
        return completion.copy ? completion.copy->ref().load() <= 0 : reached(completion.epochs);
    }
    CompletionSignal signal_of(const Completion& completion) const noexcept {
        if (completion.copy) return {completion.copy->ref(), 1};
        return {signal(), below(completion.epochs)};
    }
    bool in_flight() const noexcept { return submitted() > finished(); }

    bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    /// Packets after the first `intact` are lost; by default all that have not run. Wakes the callbacks. The error of
    /// the first failure counts; a later one may only lose more. Returns whether it is the first.
    bool fail(std::exception_ptr error, std::uint64_t intact = UINT64_MAX) const noexcept;
    /// If it has failed: no packet of it runs any more, so all that have not are lost.
    void lose_rest() const noexcept;
    /// If it has failed: no engine works on its copies any more, so all that are not complete are lost.
    void lose_copies() const noexcept;
    /// Whether the packet with this count has run or still may: it is not lost by a failure of this stream.
    bool intact(std::uint64_t count) const noexcept {
        return !failed() || count <= lost_after_.load(std::memory_order_relaxed);
    }
    /// The same for a copy after that moment.
    bool may_follow(const Completion& before) const noexcept;
    /// Calls `function` on that thread when the completion is reached or lost, and perhaps once more often: at every
    /// failure of the stream.
    void call_when(SignalCallbacks& thread, const Completion& completion, std::function<void()> function) const;
    /// Calls a host function of the stream when the signal is below that, or at once when the stream fails. Its owner
    /// is another one, so that only these can be dropped.
    void call_host(SignalCallbacks& thread, SignalRef signal, std::int64_t below, std::function<void()> function) const;
    const void* host_functions() const noexcept { return &slots_; }
    /// Owns the callbacks of waits. Their marks are their packets' counts; a failure makes those of lost packets due.
    const void* waits() const noexcept { return &upstreams_; }
    /// Packets from `own` on, the newest, are lost if that of the other is. Keeps both until the packet `own` is
    /// complete.
    void depend(const std::shared_ptr<const Timeline>& upstream, const Completion& completion, std::uint64_t own);
    /// Makes room for one more, so that depend() cannot fail.
    void make_room_for_upstream();
    /// Takes back the last depend(), whose packet was not enqueued.
    void undo_depend() noexcept;
    /// Called when none of its packets runs any more: two streams that waited for each other would keep each other
    /// alive.
    void forget_upstreams() noexcept;
    /// Drops the dependencies that are complete.
    void forget_reached() const noexcept;
    /// What that packet waits for; null if the packet is complete or waits for none.
    std::shared_ptr<const Timeline> upstream_of(std::uint64_t own) const;
    /// Whether the stream failed before `count` packets were complete, or one that they depend on did. Then the failure
    /// becomes its own.
    bool lost(std::uint64_t count) const;
    /// The same, including its copy.
    bool lost(const Completion& completion) const;
    /// Whether it has a copy in which an engine reports an error, or that never ran or never ends. Then the stream has
    /// failed, and the packets before the copy are intact.
    bool lost_copy(const Completion& completion) const noexcept;
    /// lost() of everything submitted; false if out of memory.
    bool try_lost() const noexcept;
    /// Null until it has failed.
    std::exception_ptr error() const noexcept;
    [[noreturn]] void rethrow() const { std::rethrow_exception(error()); }
    void throw_if_failed() const {
        if (failed()) [[unlikely]]
            rethrow();
    }

  private:
    // Always positive, so that signed, unsigned and masked comparisons agree.
    static constexpr std::int64_t start = std::int64_t{1} << 62;
    // The slot number, and above it the number of packets.
    static constexpr unsigned slot_bits = 48;
    static constexpr std::uint64_t slot_mask = (std::uint64_t{1} << slot_bits) - 1;

    std::string label_;
    Signal epoch_;
    std::int64_t* epoch_value_;
    // Written by the submitting thread, under the stream's mutex. Readers of a slot acquire this count, which releases
    // it.
    std::atomic<std::uint64_t> submitted_{0};
    std::uint64_t mask_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> slots_;
    mutable std::atomic<std::uint64_t> lost_after_{UINT64_MAX};
    mutable std::atomic<bool> failed_{false};
    mutable std::atomic<bool> copies_lost_{false};  // written after failed_

    void hurry(std::uint64_t from) const noexcept;
    void lose_copy_after(std::uint64_t intact) const noexcept;

    using Asked = std::map<const Timeline*, std::uint64_t>;
    struct Upstream {
        std::shared_ptr<const Timeline> timeline = {};
        Completion completion = {};
        std::uint64_t own = 0;
        bool reached() const noexcept;
        bool lost(Asked& asked) const;
    };
    bool lost(std::uint64_t count, Asked& asked) const;
    /// The first dependency of a packet after `own`.
    std::optional<Upstream> next_upstream(std::uint64_t own) const;

    mutable Ranked<ShortLock, LockRank::leaf> mutex_;  // guards the members below
    mutable std::exception_ptr error_;
    mutable GrowingRing<Upstream> upstreams_;
};

}  // namespace hsadrv::detail
