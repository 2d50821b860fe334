// Internal: what a Stream is made of.
//
// The timeline counts packets: those that complete on it are "counted", and the barrier bit makes them complete
// in order. Copies run on DMA engines, with a signal each; a copy waits for the packets before it through a gate,
// a barrier packet that brings a signal to zero, and the next packet waits for the copy through a barrier
// packet. Host functions are to the stream what copies are. A Point names the moment when an operation is
// complete, by either kind of signal.
//
// stream_core.cpp: waiting and failure; stream_packets.cpp: packets; stream_copy.cpp: copies and fills;
// stream_order.cpp: events, signals, host functions; stream_profiling.cpp: what is profiled; autopsy.cpp: why it
// does not move.
//
// Thread safety: the mutex orders submissions; fail(), kernels_in_flight() and timeline() may be used from the
// runtime's threads and take only the failure mutex. Lock order: the fault board's, mutex_, the queue pool's, a
// queue's, failure_mutex_.
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

#include "hsadrv/event.hpp"
#include "hsadrv/fault.hpp"
#include "hsadrv/graph_state.hpp"
#include "hsadrv/hold_list.hpp"
#include "hsadrv/kernarg_ring.hpp"
#include "hsadrv/launch_lane.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/queue_pool.hpp"
#include "hsadrv/signal.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream.hpp"
#include "hsadrv/stream_handle.hpp"
#include "hsadrv/stream_profile.hpp"
#include "hsadrv/timeline.hpp"

namespace hsadrv::detail {

/// Pinned memory through which pageable host memory is copied. Filled front to back; reused from the front
/// when the last copy out of or into it is complete.
struct Staging {
    std::shared_ptr<Allocation> memory;
    std::size_t used_bytes = 0;
    Point last;
};

/// Packets that are not one kernel: kept until they are complete, for moving them to another queue and for
/// saying what the stream waits for.
struct Note {
    enum class Kind : std::uint8_t { gate, copy, host, event, signal, decrement, batch };
    Kind kind = Kind::gate;
    Condition condition = Condition::less;  ///< of signal
    std::uint32_t count = 1;                ///< slots
    std::uint64_t slot = 0;                 ///< the first
    std::uint64_t epoch = 0;                ///< complete with this count; 0: not counted
    hsa_signal_t on = {0};                  ///< waited for, or decremented
    std::int64_t value = 0;                 ///< of signal; of event: the count that is waited for
    std::shared_ptr<const Timeline> upstream = {};  ///< of event; its signal is waited for

    bool is_over(const Timeline& timeline, std::uint64_t read_index) const noexcept {
        return epoch != 0 ? timeline.reached(epoch) : slot + count <= read_index;
    }
};

/// Of packets that only order: copies see to their own visibility, and the kernels around them acquire and release at
/// system scope.
inline constexpr PacketOrder ordering_only{.barrier = true, .acquire = FenceScope::none, .release = FenceScope::none};

class StreamCore {
  public:
    StreamCore(AgentRef gpu, const StreamOptions& options);
    StreamCore(const StreamCore&) = delete;
    StreamCore& operator=(const StreamCore&) = delete;
    /// Ends the work that is still in flight; copies are waited for. Stream::close is the orderly way.
    ~StreamCore();

    AgentRef agent() const noexcept { return agent_; }
    QueueRef queue() const noexcept { return queue_->ref(); }
    const std::string& label() const noexcept { return timeline_->label(); }
    const std::shared_ptr<Timeline>& timeline() const noexcept { return timeline_; }
    const std::shared_ptr<StreamHandle>& handle() const noexcept { return handle_; }

    LaunchLane& lane() noexcept { return lane_; }
    // The launch path where the lane declines. begin leaves the mutex locked; commit may be left out.
    std::byte* begin_dispatch(const DispatchSpec& spec, Deadline deadline);
    void commit_dispatch(const DispatchSpec& spec, std::byte* kernarg, Deadline deadline);

    void submit(std::span<const Packet> packets, Deadline deadline);
    void copy(void* destination, const void* source, std::size_t size_bytes, Deadline deadline);
    void copy_rect(const Rect& rect, Deadline deadline);
    void fill(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
              Deadline deadline);

    Event record(const EventOptions& options, Deadline deadline);
    void wait_for(const EventState& event, Deadline deadline);
    void wait_for(SignalRef signal, Condition condition, std::int64_t value, Deadline deadline);
    void decrement(SignalRef signal, Deadline deadline);
    void call(std::function<void()> function, Deadline deadline);
    void on_complete(std::function<void(std::exception_ptr)> callback, Deadline deadline);

    void begin_capture();
    std::shared_ptr<GraphState> end_capture();
    void replay(const std::shared_ptr<GraphState>& graph, Deadline deadline);

    void profile(bool on, Deadline deadline);
    Profile take_profile(Deadline deadline);

    void keep_alive(std::shared_ptr<const void> object);
    void attach(std::shared_ptr<const void> object);
    // For stream_handle.hpp. hold() is keep_alive() but for dropping what is held no longer.
    void hold(std::shared_ptr<const void> object);
    /// The same where something is in flight or being captured, else nothing.
    void hold_if_in_flight(std::shared_ptr<const void> object);
    /// Moves to `done` what is held no longer. True if more will come later. Waits for nobody; for who wants memory back.
    bool try_retire(std::vector<std::shared_ptr<const void>>& done);
    bool capturing() const noexcept { return capturing_.load(std::memory_order_acquire); }
    std::optional<Point> try_mark();
    bool is_reached(const Point& point) const noexcept { return reached(point); }
    void synchronize(Deadline deadline);
    bool query();
    /// The next call that waits throws it. For errors found where nothing can be thrown.
    void defer(std::exception_ptr error) noexcept;
    Stream::Progress progress() const { return {timeline_->submitted(), timeline_->completed()}; }

    bool failed() const noexcept { return timeline_->failed(); }
    bool kernels_in_flight() const noexcept { return timeline_->in_flight(); }
    /// Do callbacks or host functions wait for it?
    bool awaited() const noexcept { return awaited_.use_count() > 1; }
    /// The stream fails, and whoever waits for it wakes. From any thread; the first failure counts.
    void fail(std::exception_ptr error) noexcept;
    void fail(const Fault& fault) noexcept;
    /// If its queue is dead and the stream is not to blame: moves to another queue. Does nothing if another
    /// thread holds the stream's mutex, which then does it.
    void try_follow_queue() noexcept;
    /// If its kernel faulted, it never ends: stops the queue, for the sake of the others on it.
    void try_free_queue() noexcept;
    /// An agent has faulted and this stream's work has not moved for a while: then the fault is its own.
    void claim_fault() noexcept;

  private:
    friend class Autopsy;

    /// Does the caller hold the mutex while it waits?
    enum class Lock { held, free };

    std::unique_lock<LaneMutex> lock(Deadline deadline, const char* call) const;
    /// For what is submitted or captured already; with the mutex held.
    void push_hold(std::shared_ptr<const void>&& object);
    void throw_if_failed() const {
        if (failed()) [[unlikely]]
            timeline_->rethrow();
    }
    void open_gates() noexcept;
    bool finish_copies() noexcept;
    void look_around(Lock lock) noexcept;
    void check_copies() noexcept;
    /// At the end of a wait: throws what was lost meanwhile.
    void throw_if_lost();
    std::string situation() const;

    bool reached(const Point& point) const noexcept { return detail::reached(*timeline_, point); }
    Point tail() const;
    /// Returns when the point is reached. Throws the failure, or Timeout naming the call.
    void wait(const Point& point, Deadline deadline, const char* call, Lock lock = Lock::held);
    /// Waits until one more packet is complete, or a little while: for those who need room.
    void wait_for_progress(Deadline deadline, const char* call);

    // Packets, with the mutex held.
    std::uint64_t reserve(std::uint32_t count, Deadline deadline, const char* call);
    void put(const Packet& packet, Note&& note, Deadline deadline, const char* call);
    /// put() for a packet that completes on the epoch: returns the count at which it is complete.
    std::uint64_t put_counted(const Packet& packet, Deadline deadline, const char* call);
    std::uint64_t put_counted(const Packet& packet, Note&& note, Deadline deadline, const char* call);
    void wait_for_turn(Deadline deadline, const char* call);
    /// The next counted packet lies here, or so many.
    std::uint64_t count_packets(std::uint64_t slot, std::uint32_t packets = 1) noexcept;
    void drop_notes() noexcept;
    /// While the stream is captured: records the call, and the caller returns.
    template <class Call>
    bool captured(Call&& call) {
        if (!capture_) [[likely]]
            return false;
        capture_->add(std::forward<Call>(call));
        return true;
    }
    void refuse_in_capture(const char* call) const;
    void put_run(const GraphState& graph, std::size_t first, std::size_t count, Deadline deadline);
    void follow_queue();
    void follow_queue_if_dead() noexcept;
    void profile_queue();
    // What is profiled (stream_profiling.cpp).
    void begin_profile();
    /// A kernel with a signal of its own, and the count: returns that.
    std::uint64_t put_profiled(const Packet& kernel, Deadline deadline, const char* call);
    void copy_on_host(void* to, const void* from, std::size_t size_bytes);
    /// Calls `function` on the callbacks' thread when the signal is below the value, or at once.
    void when(SignalRef signal, std::int64_t below, std::function<void()> function);
    /// From here on packets wait for the copies before them.
    void join_copies(Deadline deadline, const char* call);
    /// A signal that is zero when every packet before it is complete; null if everything is.
    std::shared_ptr<PooledSignal> gate(Deadline deadline, const char* call);
    /// What an operation on another engine has to wait for; null if nothing.
    std::shared_ptr<PooledSignal> before_next(Deadline deadline, const char* call);
    /// Such an operation, done when `done` is zero, is the stream's last now.
    void set_copy_tail(std::shared_ptr<PooledSignal> done, Note::Kind kind);
    void set_queue(std::shared_ptr<SharedQueue> queue);

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
    hsa_status_t put_copy(const EngineCall& engine, End to, End from, std::uint64_t bytes, Deadline deadline,
                          std::shared_ptr<const void> keep, Point& point);
    static ProfileRecord copy_record(End to, End from, std::uint64_t bytes);
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

    /// What was to be held when another thread had the mutex: with the mutex.
    void take_late_holds() {
        if (has_late_holds_.load(std::memory_order_acquire)) [[unlikely]]
            hold_late_ones();
    }
    void hold_late_ones();
    void hold_later(std::shared_ptr<const void>&& object);
    template <class Batch>
    void retire(Batch& batch) {
        take_late_holds();
        batch.take(holds_, [this](const Point& point) { return reached(point); });
    }

    std::mutex attached_mutex_;
    std::vector<std::shared_ptr<const void>> attached_;  // destroyed last
    std::shared_ptr<StreamHandle> handle_ = std::make_shared<StreamHandle>(*this);
    mutable LaunchLane lane_;  // its mutex is the stream's
    LaneMutex& mutex_ = lane_.mutex;
    AgentRef agent_;
    std::uint64_t packets_;  // in flight, at most
    std::shared_ptr<Timeline> timeline_;
    SignalPool& signals_;
    QueuePool& queues_;
    GrowingRing<Note> notes_;

    std::shared_ptr<PooledSignal>
        copy_tail_;  // the last operation, if it is a copy or host function that no packet waits for yet
    Note::Kind copy_tail_kind_ = Note::Kind::copy;
    std::vector<std::shared_ptr<PooledSignal>> copies_;  // in flight; a negative value is an error
    HoldList holds_;
    // Of who found the mutex taken, perhaps by a thread that waits long.
    std::mutex late_mutex_;
    std::vector<std::shared_ptr<const void>> late_holds_;
    std::atomic<bool> has_late_holds_{false};
    Allocation kernarg_memory_;
    KernargRing& kernargs_ = lane_.kernargs;
    Staging staging_[2];
    unsigned staging_turn_ = 0;
    std::exception_ptr deferred_;
    std::shared_ptr<const void> awaited_ = std::make_shared<char>();  // each callback that waits has a copy
    std::atomic<bool> capturing_{false};  // set and cleared with the mutex, looked at without
    std::shared_ptr<GraphState> capture_;  // null but between begin_capture() and end_capture()
    std::atomic<bool> stuck_{false};  // relaxed: a hint for who looks around
    bool profiled_ = false;   // devices write times into packets' signals
    bool profiling_ = false;  // what is submitted is written down
    std::size_t profile_records_;
    std::unique_ptr<StreamProfile> profile_;  // null until it first is

    mutable std::mutex failure_mutex_;
    std::vector<std::shared_ptr<PooledSignal>> gates_;
    // When this stream's work was last seen to move, for claim_fault; under the failure mutex.
    std::uint64_t seen_completed_ = 0;
    Deadline::Clock::time_point seen_at_{};

    std::shared_ptr<SharedQueue> queue_;
};

}  // namespace hsadrv::detail
