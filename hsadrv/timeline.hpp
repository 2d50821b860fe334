// Internal: how far a stream has got, and how it failed. Events and streams that wait for it share it, so that
// it outlives its stream.
//
// Completion is counted on one signal, the epoch: it starts high and every counted packet of the stream
// decrements it, so that the first n are complete when it is below a value known beforehand. A failed stream's
// epoch is far below all of them: whoever waits for it, host or device, goes on and finds the failure here.
//
// Thread safety: any thread; submit() and move() by one at a time. Memory ordering: the epoch's value is loaded
// with acquire, so whoever sees a packet complete sees what it wrote; the counts at failure are written before
// failed_, whose release publishes them.
// Owns: the epoch signal; keeps the runtime alive.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hsadrv/short_lock.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv::detail {

class Timeline {
  public:
    /// At most `packets`, a power of two, are in flight at once.
    Timeline(std::string label, std::uint32_t packets)
        : label_(std::move(label)),
          epoch_(Signal::create(start)),
          mask_(2 * packets - 1),
          slots_(std::make_unique<std::atomic<std::uint64_t>[]>(2 * packets)) {}
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    /// How messages call the stream: "stream 3 on gpu0 gfx90a".
    const std::string& label() const noexcept { return label_; }
    SignalRef signal() const noexcept { return epoch_.ref(); }

    /// The signal is below this when so many packets are complete.
    static constexpr std::int64_t below(std::uint64_t count) noexcept {
        return start - static_cast<std::int64_t>(count) + 1;
    }

    std::uint64_t submitted() const noexcept { return submitted_.load(std::memory_order_relaxed); }
    /// One more counted packet, in this slot of its queue, or the last of so many. Before it is published. Returns
    /// the new count.
    std::uint64_t submit(std::uint64_t slot, std::uint32_t packets = 1) noexcept {
        const std::uint64_t count = submitted() + 1;
        slots_[count & mask_].store(std::uint64_t{packets} << slot_bits | slot, std::memory_order_relaxed);
        submitted_.store(count, std::memory_order_relaxed);
        return count;
    }
    static constexpr std::uint32_t most_packets = 0x7fff;  ///< of one count

    /// Where the packet lies that makes this count, or the first of them.
    std::uint64_t slot_of(std::uint64_t count) const noexcept {
        return slots_[count & mask_].load(std::memory_order_relaxed) & slot_mask;
    }
    std::uint32_t packets_of(std::uint64_t count) const noexcept {
        return static_cast<std::uint32_t>(slots_[count & mask_].load(std::memory_order_relaxed) >> slot_bits);
    }
    void move(std::uint64_t count, std::uint64_t slot) noexcept {
        slots_[count & mask_].store(std::uint64_t{packets_of(count)} << slot_bits | slot,
                                    std::memory_order_relaxed);
    }
    /// Of the first packet that has not run.
    std::optional<std::uint64_t> first_pending_slot() const noexcept {
        const std::uint64_t next = finished() + 1;
        if (next > submitted()) return std::nullopt;
        return slot_of(next);
    }
    /// Of the packet that runs, if this is the queue's read index: within the first count that has not run.
    std::optional<std::uint64_t> running_slot(std::uint64_t read_index) const noexcept {
        const std::uint64_t next = finished() + 1;
        if (next > submitted()) return std::nullopt;
        const std::uint64_t first = slot_of(next);
        return std::clamp(read_index, first, first + packets_of(next) - 1);
    }

    /// Complete, and not lost: after a failure this stays as it was.
    std::uint64_t completed() const noexcept {
        const std::int64_t value = epoch_.load();
        if (value >= 0) return static_cast<std::uint64_t>(start - value);
        has_failed();
        return completed_at_failure_.load(std::memory_order_relaxed);
    }
    /// Packets that have run, lost ones among them: a stream whose failure was not its queue's still runs what it has.
    std::uint64_t finished() const noexcept {
        const std::int64_t value = epoch_.load();
        if (value >= 0) return static_cast<std::uint64_t>(start - value);
        has_failed();
        return decremented_at_failure_.load(std::memory_order_relaxed) +
               static_cast<std::uint64_t>(failed_value - value);
    }
    bool reached(std::uint64_t count) const noexcept { return completed() >= count; }
    bool in_flight() const noexcept { return submitted() > finished(); }

    bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    /// The same, for who was woken by the signal: a moment passes between its failing and the rest.
    bool has_failed() const noexcept {
        if (failed()) return true;
        if (epoch_.load() >= 0) return false;
        while (!failed()) std::this_thread::yield();
        return true;
    }
    /// The first failure counts: false if there was one before. Wakes everybody. Packets after `complete` are lost.
    bool fail(std::exception_ptr error, std::uint64_t complete = UINT64_MAX) const noexcept;
    /// What comes from `own` on is lost if the other's `count` is.
    void depend(std::shared_ptr<const Timeline> upstream, std::uint64_t count, std::uint64_t own);
    /// Did the stream fail before so many packets were complete, or one that they depended on? Then the failure is
    /// its own, too.
    bool lost(std::uint64_t count) const;
    /// Null until it has failed.
    std::exception_ptr error() const noexcept;
    [[noreturn]] void rethrow() const { std::rethrow_exception(error()); }

  private:
    // Half of the range each way: neither a count of packets nor the value of a failed stream can overflow.
    static constexpr std::int64_t start = std::int64_t{1} << 62;
    static constexpr std::int64_t failed_value = -(std::int64_t{1} << 62);
    // A slot's number and, above it, how many packets there are.
    static constexpr unsigned slot_bits = 48;
    static constexpr std::uint64_t slot_mask = (std::uint64_t{1} << slot_bits) - 1;

    std::string label_;
    Signal epoch_;
    // Written by whoever submits, under the stream's mutex; relaxed, because it only says whether work is in
    // flight, and the slots are looked at only for packets that are published.
    std::atomic<std::uint64_t> submitted_{0};
    std::uint64_t mask_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> slots_;
    mutable std::atomic<std::uint64_t> completed_at_failure_{0}, decremented_at_failure_{0};
    mutable std::atomic<bool> failed_{false};

    struct Upstream {
        std::shared_ptr<const Timeline> timeline;
        std::uint64_t count, own;
    };
    mutable ShortLock mutex_;  // guards what follows; no other timeline's is taken with it
    mutable std::exception_ptr error_;
    mutable std::vector<Upstream> upstreams_;
};

}  // namespace hsadrv::detail
