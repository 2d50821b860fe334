// Internal: the implementation of a Stream.
//
// The timeline counts packets: packets that complete on it are "counted", and the barrier bit makes them complete in
// order. Copies run on DMA engines and have a signal each. A copy waits for the packets before it through a gate, a
// barrier packet that sets a signal to zero; the next packet waits for the copy through a barrier packet. Host
// functions are ordered like copies. A Completion states when an operation is complete, by either kind of signal.
//
// Its parts: Timeline counts; CallOrder orders the calls of several threads; QueueWriter writes packets to the queue;
// CopyQueue submits copies to engines when they may run, and StreamCopier builds them; StreamHolds keeps objects alive;
// StreamProfile records times; StreamCapture records calls, BranchStreams has the streams of graphs' branches.
// stream_core.cpp: waiting and failure; stream_packets.cpp: packets; stream_order.cpp: events, signals, host functions;
// stream_graph.cpp: graphs.
//
// LOCKING. The mutex (LaunchLane::mutex) guards all members, the ring's reservations and the log. It is held for the
// time of some packets, and never while something waits: not for room, a signal, another stream, the list of streams or
// a large copy. So any thread may take it: handlers, polls, messages, query(). What a call that submits needs is tried
// with the mutex held; if it is not there, the call gives the mutex back, waits, and begins again (take_slots).
// Meanwhile it keeps the order of calls (call_order.hpp), which only calls that submit take, so that operations of
// several parts stay whole: a copy through staging memory, a replay, a cooperative launch. Host functions go between
// the parts while a call waits, because it may wait for them. A thread that has a stream's mutex takes no other
// stream's, but for the one that moves streams off a stopped queue (dead_queue.hpp). Ranks: lock_rank.hpp.
//
// Thread safety: fail(), timeline() and what an atomic guards, any thread; the rest with the mutex, where it says so.
#pragma once

#include <atomic>
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
#include "hsadrv/kernarg_ring.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/queue/fault.hpp"
#include "hsadrv/signal.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream.hpp"
#include "hsadrv/stream/branch_streams.hpp"
#include "hsadrv/stream/call_order.hpp"
#include "hsadrv/stream/copy_queue.hpp"
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/launch_lane.hpp"
#include "hsadrv/stream/queue_writer.hpp"
#include "hsadrv/stream/stream_capture.hpp"
#include "hsadrv/stream/stream_copier.hpp"
#include "hsadrv/stream/stream_handle.hpp"
#include "hsadrv/stream/stream_holds.hpp"
#include "hsadrv/stream/stream_printf.hpp"
#include "hsadrv/stream/stream_profile.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

class StreamRemains;

/// When a host function's operation is complete: as the function returns, or when the signal becomes zero.
enum class HostEnd { now, later };
using HostFunction = std::function<HostEnd(SignalRef done)>;

class StreamCore {
  public:
    StreamCore(AgentRef gpu, const StreamOptions& options, bool cooperative = false);  ///< cooperative_stream.hpp
    StreamCore(const StreamCore&) = delete;
    StreamCore& operator=(const StreamCore&) = delete;
    /// Ends the work in flight, but waits for copies. Stream::close is the orderly way.
    ~StreamCore();

    AgentRef agent() const noexcept { return agent_; }
    QueueRef queue() const noexcept { return writer_.queue_ref(); }
    const std::string& label() const noexcept { return timeline_->label(); }
    const std::shared_ptr<Timeline>& timeline() const noexcept { return timeline_; }
    const std::shared_ptr<StreamHandle>& handle() const noexcept { return handle_; }

    LaunchLane& lane() noexcept { return lane_; }
    /// The mutex, in the order of the calls that submit. Throws Timeout, ForkedChild.
    std::unique_lock<LaneMutex> lock(Deadline deadline, const char* call, Room room = Room::ordinary);
    /// The mutex at once, for what submits nothing. Throws ForkedChild.
    std::unique_lock<LaneMutex> lock_data(const char* call) const;
    LaneMutex& mutex() const noexcept { return mutex_; }
    /// No other thread's calls go between those of this thread until it ends.
    CallOrder::Composite keep_order(Deadline deadline, const char* call) { return keep_order(lock(deadline, call)); }
    CallOrder::Composite keep_order(std::unique_lock<LaneMutex> held) { return {order_, std::move(held)}; }

    // The slow launch path, when the lane declines.
    /// The queue that the arguments may name. Throws for arguments that no launch of the stream has room for.
    std::shared_ptr<const void> begin_dispatch(const DispatchSpec& spec) const;
    /// False: nothing happened, the arguments name a queue that the stream has left.
    bool dispatch(const DispatchSpec& spec, const std::byte* arguments, const std::shared_ptr<const void>& named,
                  Deadline deadline);
    /// Both. `fill` writes the arguments, for that queue, without the mutex, perhaps more than once.
    template <class Fill>
    void dispatch(const DispatchSpec& spec, Fill&& fill, Deadline deadline) {
        ArgumentBlock arguments;
        std::shared_ptr<const void> named;
        do {
            named = begin_dispatch(spec);
            fill(arguments.of(spec.kernarg_bytes), queue());
        } while (!dispatch(spec, arguments.data(), named, deadline));
    }
    void submit(std::span<const Packet> packets, Deadline deadline);
    StreamCopier& copier() noexcept { return copier_; }
    Event record(const EventOptions& options, Deadline deadline);
    /// wait_for() in few instructions for the common case (launch_lane.hpp). False: nothing happened.
    bool try_wait_fast(const EventState& event);
    /// Room::last: for work that is enqueued already, which this stream must follow.
    void wait_for(const EventState& event, Deadline deadline, Room room = Room::ordinary);
    void wait_for(SignalRef signal, Condition condition, std::int64_t value, Deadline deadline);
    void decrement(SignalRef signal, Deadline deadline);
    void call(HostFunction function, Deadline deadline);
    void on_complete(std::function<void(std::exception_ptr)> callback);
    void begin_capture();
    std::shared_ptr<GraphState> end_capture();
    void replay(const std::shared_ptr<GraphState>& graph, Deadline deadline);
    // For graph_replay.hpp. mark() is everything submitted so far; branches count from 1.
    void put_run(std::span<const Packet> kernels, Deadline deadline);
    EventState mark();
    StreamCore& branch(std::size_t number, Deadline deadline);
    /// `other` profiles, if this does.
    void profile_as_this(StreamCore& other, Deadline deadline);
    /// Returns when there is room for so many packets, and for a kernel's arguments.
    void await_room(std::uint32_t packets, Deadline deadline, const char* call, std::size_t kernarg_bytes = 0);
    BranchStreams& branches() noexcept { return branches_; }
    StreamPrintf& printf() noexcept { return printf_; }
    StreamCapture& capture() noexcept { return capture_; }  ///< with the mutex held
    void leave_capture(const CaptureSession& session) noexcept;
    void profile(bool on, Deadline deadline);
    Profile take_profile();

    void keep_alive(std::shared_ptr<const void> object);
    void attach(std::shared_ptr<const void> object);
    /// The same without releasing old holds, whose destructors may take locks. No effect if nothing is in flight or
    /// being captured.
    void hold(std::shared_ptr<const void> object);
    /// Moves expired holds to `done`. Returns true if more will expire later.
    bool retire_all(std::vector<std::shared_ptr<const void>>& done);
    bool capturing() const noexcept { return capture_.active(); }
    Completion tail() const;  ///< everything submitted so far; with the mutex held
    void synchronize(Deadline deadline);
    bool query();
    /// The next call that waits throws it. For errors found where nothing can be thrown.
    void defer(std::exception_ptr error) noexcept;
    /// Drops a deferred error and an unfinished capture; false if there was one. Then waits for other threads' calls.
    bool abandon(Deadline deadline);
    Stream::Progress progress() const { return {timeline_->submitted(), timeline_->completed()}; }

    bool failed() const noexcept { return timeline_->failed(); }
    /// The stream fails and its waiters wake. Any thread; the first failure counts.
    void fail(std::exception_ptr error) noexcept { timeline_->fail(std::move(error)); }
    /// It is a part of a stream that ends: fails, with work or without.
    void end_with_stream() noexcept;
    /// Its agent is lost. `suspects`: queues that may have caused the fault, this stream's among them; 0: not this one.
    void fail(const Fault& fault, std::size_t suspects) noexcept;
    /// If it has failed and its next packet may wait for lost work: stops the queue, so that its other streams move.
    void try_free_queue() noexcept;

    QueueWriter& writer() noexcept { return writer_; }
    const QueueWriter& writer() const noexcept { return writer_; }
    const std::shared_ptr<SharedQueue>& shared_queue() const noexcept { return writer_.queue(); }
    /// The kind of the last operation, if that is a copy or host function that no packet waits for.
    std::optional<PacketRecord::Kind> trailing() const noexcept {
        return copy_tail_ ? std::optional(copy_tail_kind_) : std::nullopt;
    }
    void make_ready_for(const SharedQueue& queue) {
        holds_.make_room(1);
        writer_.make_ready_for(queue);
    }
    /// Keeps the old queue, which the caller has, while kernels' arguments may name it.
    void change_queue(const std::shared_ptr<SharedQueue>& fresh) noexcept;

    // For the stream's own parts; with the mutex held unless stated otherwise.
    void throw_if_failed() const { timeline_->throw_if_failed(); }
    void retire(RetiredHolds& batch);
    /// While it is being captured: records the call and returns true; the caller then returns.
    template <class Call>
    bool captured(Call&& call) {
        return records() ? (capture_.add(std::forward<Call>(call)), true) : false;
    }
    /// Whether calls are recorded: not the parts of one that had begun before the capture.
    bool records() const noexcept { return capture_ && !order_.is_part(); }
    /// Calls of host functions that went between; with the mutex held.
    std::uint64_t passes() const noexcept { return order_.passes(); }
    /// Whether no earlier work is pending, so that the host may act in the stream's order.
    bool host_may_run(bool wait_for_it, Deadline deadline, const char* call);
    /// Waits, or works long, without the mutex.
    void wait_away(const Completion& completion, Deadline deadline, const char* call);
    template <class Work>
    void work_away(std::size_t size_bytes, Work&& work) {
        bool late = false;  // it cannot be: no call goes between
        std::optional<CallOrder::Away> away;
        if (size_bytes > small_copy_bytes) away.emplace(order_, Deadline::never(), late, CallOrder::While::working);
        work();
    }
    /// No packet and no engine uses the objects held until then: lost work may still be in a ring. Needs no mutex.
    bool is_over(const Completion& completion) const noexcept {
        return completion.copy ? completion.copy->ref().load() == 0 : timeline_->finished() >= completion.epochs;
    }
    /// One copy by an engine, in stream order. Throws the runtime's error; a later one fails the stream.
    Completion put_copy(CopyQueue::Start start, CopySide to, CopySide from, std::uint64_t bytes, Deadline deadline,
                        std::shared_ptr<const void> keep, CopyQueue::Parts parts = {});
    void copy_on_host(void* to, const void* from, std::size_t size_bytes);
    /// Copies that wait for earlier work never run. Any thread.
    void end_waiting_copies() noexcept { copy_queue_->end(); }
    void check_copies() noexcept;  ///< fails the stream if an engine reports an error in one of them, or is lost
    void check_engines() noexcept;

  private:
    void push_hold(std::shared_ptr<const void>&& object);
    void end_timeline() noexcept;
    void end_work() noexcept;
    bool finish_copies() noexcept;
    void throw_if_lost();
    /// Slots for packets that follow everything before. `prepare` makes room for what comes with them, and returns
    /// whether it could; it is called again after each wait, and last before the slots are taken.
    template <class Prepare>
    std::uint64_t take_slots(std::uint32_t count, Deadline deadline, const char* call, Prepare&& prepare,
                             Room room = Room::ordinary) {
        for (;;) {
            if (try_join_copies(room) && prepare())
                if (const auto slot = writer_.try_reserve(count, room)) return *slot;
            writer_.wait_for_room(deadline, call, room);
        }
    }
    /// A packet that waits for a signal's value (value_wait.hpp); the host calls `may_open` before it opens the relay.
    /// `prepare` as for take_slots().
    template <class MayOpen, class Prepare>
    std::uint64_t put_value_wait(const BarrierValue& wait, MayOpen&& may_open, PacketRecord&& record, Deadline deadline,
                                 const char* call, Room room, Prepare&& prepare);
    /// A kernel with a signal of its own, in two slots. Returns its count.
    struct Profiled {
        ProfileRecord record;
        std::shared_ptr<PooledSignal> signal;
    };
    Profiled profile_kernel(const Packet& kernel);
    std::uint64_t put_profiled(std::uint64_t slot, const Packet& kernel, Profiled&& profiled);
    std::uint64_t put_beside_count(std::uint64_t slot, const Packet& kernel, hsa_signal_t done) noexcept;
    /// From here on packets wait for the copies before them. False: there is no room for that.
    bool try_join_copies(Room room = Room::ordinary);
    /// A signal that is zero when every packet before it is complete; null: no room.
    std::shared_ptr<PooledSignal> try_gate();
    /// The signal that an operation on another engine must wait for; null if there is none.
    std::shared_ptr<PooledSignal> before_next(Deadline deadline, const char* call);
    /// Where a launch's arguments go; null: there is no room. `beside`: memory of their own.
    std::byte* arguments_place(std::size_t room_bytes, std::shared_ptr<const void>& beside);
    /// Makes such an operation, complete when `done` is zero, the stream's last.
    void set_copy_tail(std::shared_ptr<PooledSignal> done, PacketRecord::Kind kind);
    void put_packets(std::span<const Packet> kernels, Deadline deadline);
    void replay_run(std::shared_ptr<GraphState> graph, Deadline deadline);
    bool records_replay(const std::shared_ptr<GraphState>& graph);
    void refuse_in_capture(const char* call) const;
    void join_capture(const EventState& event, const char* call);
    void begin_profile();

    StreamHolds holds_;  // destroyed last
    std::shared_ptr<StreamHandle> handle_ = std::make_shared<StreamHandle>(*this);
    mutable LaunchLane lane_;  // its mutex is the stream's
    LaneMutex& mutex_ = lane_.mutex;
    AgentRef agent_;
    CallOrder order_{mutex_};
    bool waits_for_values_;  // its queue accepts packets that wait for values
    std::shared_ptr<Timeline> timeline_;
    std::shared_ptr<StreamRemains> remains_;  // null once it is being destroyed
    std::shared_ptr<CopyQueue> copy_queue_;
    SignalPool& signals_;
    std::shared_ptr<PooledSignal> copy_tail_;  // the last operation, if no packet waits for it yet
    PacketRecord::Kind copy_tail_kind_ = PacketRecord::Kind::copy;
    struct PendingCopy {
        Completion done;
        PacketRecord::Kind kind;  // copy or host
        AgentRef engine = {};     // whose engine copies
    };
    std::vector<PendingCopy> copies_;
    std::optional<Deadline> copies_until_;  // the end waits for them: from when the stream and its branches have failed
    Allocation kernarg_memory_;
    KernargRing& kernargs_ = lane_.kernargs;
    StreamCopier copier_;
    StreamProfile profile_;
    std::exception_ptr deferred_;
    StreamCapture capture_;
    BranchStreams branches_;
    StreamPrintf printf_;
    QueueWriter writer_;
};

/// The start of every submitting call: takes the mutex of a stream that has not failed. Expired holds are destroyed
/// after the mutex is released: a destructor may use the stream.
class Submission {
  public:
    Submission(StreamCore& stream, Deadline deadline, const char* call, Room room = Room::ordinary)
        : lock_(stream.lock(deadline, call, room)) {
        stream.throw_if_failed();
        stream.retire(retired_);
    }

  private:
    RetiredHolds retired_;
    std::unique_lock<LaneMutex> lock_;
};

}  // namespace hsadrv::detail
