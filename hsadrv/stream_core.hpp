// Internal: what a Stream is made of.
//
// Completion is counted on one signal, the epoch: it starts at epoch_start and every kernel or barrier packet
// of the stream decrements it, so that `epoch_start - value` packets are complete. The barrier bit makes them
// complete in order. Copies run on DMA engines, with a signal each; a copy waits for the packets before it
// through a gate, a barrier packet that brings a signal to zero, and the next kernel waits for the copy
// through a barrier packet. A Point names the moment when an operation is complete, by either kind of signal.
//
// Thread safety: the mutex orders submissions; fail() and kernels_in_flight() may be called from the
// runtime's threads and take only the failure mutex. Lock order: mutex_, then failure_mutex_.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hsadrv/fault.hpp"
#include "hsadrv/hold_list.hpp"
#include "hsadrv/kernarg_ring.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/queue.hpp"
#include "hsadrv/signal.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv::detail {

/// Pinned memory through which pageable host memory is copied. Filled front to back; reused from the front
/// when the last copy out of or into it is complete.
struct Staging {
    std::shared_ptr<Allocation> memory;
    std::size_t used_bytes = 0;
    Point last;
};

class StreamCore {
  public:
    StreamCore(AgentRef gpu, const StreamOptions& options);
    StreamCore(const StreamCore&) = delete;
    StreamCore& operator=(const StreamCore&) = delete;
    /// Ends the queue with whatever is still on it; copies in flight are waited for. Stream::close is the
    /// orderly way.
    ~StreamCore();

    AgentRef agent() const noexcept { return agent_; }
    QueueRef queue() const noexcept { return queue_; }
    const std::string& label() const noexcept { return label_; }

    // The launch path. begin takes the lock and end gives it back; commit may be left out.
    std::byte* begin_dispatch(const DispatchSpec& spec, Deadline deadline);
    void commit_dispatch(const DispatchSpec& spec, std::byte* kernarg, Deadline deadline);
    void end_dispatch() noexcept { mutex_.unlock(); }

    void copy(void* destination, const void* source, std::size_t size_bytes, Deadline deadline);
    void copy_rect(const Rect& rect, Deadline deadline);
    void fill(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
              Deadline deadline);

    void keep_alive(std::shared_ptr<const void> object);
    void synchronize(Deadline deadline);
    bool query();
    /// The next call that waits throws it. For errors found where nothing can be thrown.
    void defer(std::exception_ptr error) noexcept;
    Stream::Progress progress() const;

    bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    bool kernels_in_flight() const noexcept;
    /// A memory fault is this stream's: it fails, and whoever waits for it wakes. From any thread; the first
    /// one counts.
    void fail(const Fault& fault) noexcept;

  private:
    // Half of the range each way: neither a count of packets nor the value of a failed stream can overflow.
    static constexpr std::int64_t epoch_start = std::int64_t{1} << 62;
    static constexpr std::int64_t epoch_failed = -(std::int64_t{1} << 62);

    std::unique_lock<std::mutex> lock(Deadline deadline, const char* call);
    [[noreturn]] void throw_failure();
    void throw_if_failed() {
        if (failed()) [[unlikely]]
            throw_failure();
    }
    void on_queue_error() noexcept;
    /// With the failure mutex held: records the failure and wakes everyone who waits for this stream's work.
    void poison() noexcept;
    void open_gates() noexcept;
    void finish_copies() noexcept;
    /// An agent has faulted and this stream's work has not moved for a while: then the fault is its own.
    void claim_fault() noexcept;

    std::uint64_t epochs_completed() const noexcept;
    bool reached(const Point& point) const noexcept;
    Point tail() const;
    /// Returns when the point is reached. Throws the failure, or Timeout naming the call.
    void wait(const Point& point, Deadline deadline, const char* call);
    /// Waits until one more packet is complete, or a little while: for those who need room.
    void wait_for_progress(Deadline deadline, const char* call);
    std::string situation() const;

    // Packets, with the mutex held.
    std::uint64_t put(const Packet& packet, Deadline deadline, const char* call);
    /// put() for a packet that completes on the epoch: returns the count at which it is complete.
    std::uint64_t put_counted(const Packet& packet, Deadline deadline, const char* call);
    /// Brings packets that the caller put on the queue into the count, with a barrier behind them.
    void cover_foreign(Deadline deadline, const char* call);
    /// From here on packets wait for the copies before them.
    void join_copies(Deadline deadline, const char* call);
    /// A signal that is zero when every packet before it is complete.
    std::shared_ptr<PooledSignal> gate(Deadline deadline, const char* call);

    // Copies, with the mutex held (stream_copy.cpp, stream_rect.cpp).
    struct End {
        void* address;
        AgentRef device;  ///< none: host memory that the GPU can reach
    };
    /// Two addresses and what they belong to.
    struct Route {
        void* destination;
        const void* source;
        PointerInfo to, from;
        bool to_pageable() const noexcept { return to.kind == PointerInfo::Kind::pageable; }
        bool from_pageable() const noexcept { return from.kind == PointerInfo::Kind::pageable; }
        void* host_destination() const noexcept { return to.host_address(destination); }
        const void* host_source() const noexcept { return from.host_address(source); }
        /// Destination minus source, by the agents' view and, where both have one, by the host's.
        std::intptr_t agent_distance() const noexcept;
        std::optional<std::intptr_t> host_distance() const;
    };
    /// Throws InvalidArgument for null and for ranges that leave their allocations or all memory.
    static Route route(const char* call, void* destination, std::size_t destination_bytes, const void* source,
                       std::size_t source_bytes);
    /// May the CPU copy, now? Waits for what is before where the caller has to wait anyway.
    bool on_host(const Route& route, std::size_t size_bytes, Deadline deadline, const char* call);
    /// Is nothing before this, so that the host may act in the stream's order?
    bool turn_of_host(bool wait_for_it, Deadline deadline, const char* call);
    using EngineCall =
        std::function<hsa_status_t(std::uint32_t count, const hsa_signal_t* dependency, hsa_signal_t done)>;
    /// One copy by an engine, behind everything before it. If the runtime refuses it nothing has happened.
    hsa_status_t put_copy(const EngineCall& engine, Deadline deadline, std::shared_ptr<const void> keep, Point& point);
    Point copy_linear(End to, End from, std::size_t size_bytes, Deadline deadline,
                      std::shared_ptr<const void> keep = {});
    void copy_through_host(End to, End from, std::size_t size_bytes, Deadline deadline);
    void upload(End to, const void* from, std::size_t size_bytes, Deadline deadline);
    void download(void* to, End from, std::size_t size_bytes, Deadline deadline);
    End end_of(const void* pointer, const PointerInfo& info) const;
    bool make_reachable(const PointerInfo& info, AgentRef engine) const;
    /// Whose engine copies; and what it does not reach is pageable from here on.
    AgentRef settle(Route& route) const;
    AgentRef engine_for(End to, End from) const noexcept;

    /// One plane of a rectangle; the pitches lie between rows.
    struct PlaneEnd {
        End end;
        std::size_t pitch_bytes;
        PlaneEnd rows_from(std::size_t row) const noexcept;
    };
    struct Plane {
        PlaneEnd to, from;
        std::size_t width_bytes, height;
    };
    Point copy_plane(const Plane& plane, Deadline deadline, const std::shared_ptr<const void>& keep = {});
    bool try_rows(const Plane& plane, Deadline deadline, const std::shared_ptr<const void>& keep, Point& point);
    void upload_plane(PlaneEnd to, PlaneEnd from, std::size_t width_bytes, std::size_t height, Deadline deadline);
    void download_plane(PlaneEnd to, PlaneEnd from, std::size_t width_bytes, std::size_t height, Deadline deadline);
    void plane_through_host(const Plane& plane, Deadline deadline);

    /// A part of one of the two staging buffers, of at least `least_bytes`; waits for the last user of a buffer
    /// before it is filled anew.
    struct StagingPart {
        Staging* staging;
        std::byte* data;
        std::size_t size_bytes;
    };
    StagingPart stage(std::size_t wanted_bytes, Deadline deadline, std::size_t least_bytes = 1);

    template <class Batch>
    void retire(Batch& batch) {
        batch.take(holds_, [this](const Point& point) { return reached(point); });
    }

    std::mutex mutex_;
    AgentRef agent_;
    std::string label_;
    SignalPool& signals_;
    Signal epoch_;
    // Written under the mutex, read by the runtime's threads; relaxed, because it only says whether work is
    // in flight.
    std::atomic<std::uint64_t> epochs_submitted_{0};
    std::uint64_t next_slot_ = 0;               // the write index that our last packet left behind
    std::vector<std::uint64_t> slot_of_epoch_;  // for messages: where a packet was written

    std::shared_ptr<PooledSignal>
        copy_tail_;  // the last operation, if it is a copy that no packet waits for yet
    HoldList holds_;
    Allocation kernarg_memory_;
    KernargRing kernargs_;
    Staging staging_[2];
    unsigned staging_turn_ = 0;
    std::exception_ptr deferred_;

    // Failure. The mutex guards the fault and the gates; failed_ is released after what it announces.
    mutable std::mutex failure_mutex_;
    std::atomic<bool> failed_{false};
    std::optional<Fault> fault_;
    std::uint64_t completed_at_failure_ = 0;
    std::vector<std::shared_ptr<PooledSignal>> gates_;

    // When this stream's work was last seen to move, for claim_fault; under the failure mutex.
    std::uint64_t seen_completed_ = 0;
    Deadline::Clock::time_point seen_at_{};

    Queue queue_;  // last: no error callback runs once it is destroyed
};

}  // namespace hsadrv::detail
