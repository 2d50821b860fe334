// Internal: what a Stream is made of.
//
// The timeline counts packets: those that complete on it are "counted", and the barrier bit makes them complete
// in order. Copies run on DMA engines, with a signal each; a copy waits for the packets before it through a gate,
// a barrier packet that brings a signal to zero, and the next packet waits for the copy through a barrier
// packet. Host functions are to the stream what copies are. A Completion names the moment when an operation is
// complete, by either kind of signal.
//
// Its parts: the timeline counts; QueueWriter puts packets on the queue; CopyQueue gives copies to engines when they
// may run, StreamCopier says which; StreamHolds keeps what is used; StreamProfile writes down. stream_core.cpp: waiting
// and failure; stream_packets.cpp: packets; stream_order.cpp: events, signals, host functions; stream_graph.cpp:
// graphs.
//
// Thread safety: the mutex orders submissions; fail(), kernels_in_flight() and timeline() may be used from the
// runtime's threads. Lock order: lock_rank.hpp.
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
#include "hsadrv/stream/copy_queue.hpp"
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/launch_lane.hpp"
#include "hsadrv/stream/queue_writer.hpp"
#include "hsadrv/stream/stream_copier.hpp"
#include "hsadrv/stream/stream_handle.hpp"
#include "hsadrv/stream/stream_holds.hpp"
#include "hsadrv/stream/stream_profile.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

class StreamCore {
  public:
    StreamCore(AgentRef gpu, const StreamOptions& options);
    StreamCore(const StreamCore&) = delete;
    StreamCore& operator=(const StreamCore&) = delete;
    /// Ends the work that is still in flight; copies are waited for. Stream::close is the orderly way.
    ~StreamCore();

    AgentRef agent() const noexcept { return agent_; }
    QueueRef queue() const noexcept { return writer_.queue_ref(); }
    const std::string& label() const noexcept { return timeline_->label(); }
    const std::shared_ptr<Timeline>& timeline() const noexcept { return timeline_; }
    const std::shared_ptr<StreamHandle>& handle() const noexcept { return handle_; }

    LaunchLane& lane() noexcept { return lane_; }
    // The launch path where the lane declines. begin leaves the mutex locked; commit may be left out.
    std::byte* begin_dispatch(const DispatchSpec& spec, Deadline deadline);
    void commit_dispatch(const DispatchSpec& spec, std::byte* kernarg, Deadline deadline);

    void submit(std::span<const Packet> packets, Deadline deadline);
    StreamCopier& copier() noexcept { return copier_; }
    Event record(const EventOptions& options, Deadline deadline);
    /// wait_for() in few instructions where nothing is out of the ordinary (launch_lane.hpp). False: nothing happened.
    bool try_wait_fast(const EventState& event);
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
    void attach(std::shared_ptr<const void> object) { holds_.attach(std::move(object)); }
    // For stream_handle.hpp. hold() is keep_alive() but for dropping what is held no longer.
    void hold(std::shared_ptr<const void> object);
    /// The same where something is in flight or being captured, else nothing.
    void hold_if_in_flight(std::shared_ptr<const void> object);
    /// Moves to `done` what is held no longer. True if more will come later. Does not wait.
    bool try_retire(std::vector<std::shared_ptr<const void>>& done);
    bool capturing() const noexcept { return capturing_.load(std::memory_order_acquire); }
    std::optional<Completion> try_mark();
    void synchronize(Deadline deadline);
    bool query();
    /// The next call that waits throws it. For errors found where nothing can be thrown.
    void defer(std::exception_ptr error) noexcept;
    Stream::Progress progress() const { return {timeline_->submitted(), timeline_->completed()}; }

    bool failed() const noexcept { return timeline_->failed(); }
    /// The stream fails, and whoever waits for it wakes. From any thread; the first failure counts.
    void fail(std::exception_ptr error) noexcept { timeline_->fail(std::move(error)); }
    /// Its agent is lost. `suspects`: so many queues may have made the fault, this stream's among them; 0: it did not.
    void fail(const Fault& fault, std::size_t suspects) noexcept;
    /// If it has failed and its next packet waits for what is lost: stops the queue, so that the others on it leave.
    void try_free_queue() noexcept;

    // With a StreamClaim.
    QueueWriter& writer() noexcept { return writer_; }
    const QueueWriter& writer() const noexcept { return writer_; }
    const std::shared_ptr<SharedQueue>& shared_queue() const noexcept { return writer_.queue(); }
    /// The last operation, if it is a copy or host function that no packet waits for.
    std::optional<PacketRecord::Kind> trailing() const noexcept {
        return copy_tail_ ? std::optional(copy_tail_kind_) : std::nullopt;
    }
    void make_ready_for(const SharedQueue& queue) {
        holds_.make_room(4);  // one, and what a thread that waits meanwhile has made room for
        writer_.make_ready_for(queue);
    }
    void change_queue(const std::shared_ptr<SharedQueue>& fresh) noexcept {
        holds_.push({.epochs = timeline_->submitted()}, writer_.change_queue(fresh));  // kernels' arguments may name it
    }

    // For the stream's own parts; with the mutex held where nothing else is said.
    void throw_if_failed() const { timeline_->throw_if_failed(); }
    void retire(RetiredHolds& batch);
    /// While the stream is captured: records the call, and the caller returns.
    template <class Call>
    bool captured(Call&& call) {
        if (!capture_) [[likely]]
            return false;
        capture_->add(std::forward<Call>(call));
        return true;
    }
    /// Is nothing before this, so that the host may act in the stream's order?
    bool host_may_run(bool wait_for_it, Deadline deadline, const char* call);
    /// No packet and no engine names what is held until then: lost work may still be in a ring. Needs no mutex.
    bool is_over(const Completion& completion) const noexcept {
        return completion.copy ? completion.copy->ref().load() == 0 : timeline_->finished() >= completion.epochs;
    }
    /// One copy by an engine, in the stream's order. Throws what the runtime says, or the stream fails with it later.
    Completion put_copy(CopyQueue::Engine engine, CopySide to, CopySide from, std::uint64_t bytes, Deadline deadline,
                        std::shared_ptr<const void> keep);
    /// By the CPU, in its turn.
    void copy_on_host(void* to, const void* from, std::size_t size_bytes);

  private:
    // Waiting and failure (stream_core.cpp).
    void push_hold(std::shared_ptr<const void>&& object);
    void take_deferred_holds();
    void end_timeline() noexcept;
    bool finish_copies() noexcept;
    void check_copies() noexcept;
    /// At the end of a wait: throws what was lost meanwhile.
    void throw_if_lost();
    Completion tail() const;
    /// A packet that waits for a signal's value (value_wait.hpp); `may_open` is asked by the host before it opens.
    template <class MayOpen>
    std::uint64_t put_value_wait(const BarrierValue& wait, MayOpen&& may_open, PacketRecord&& record, Deadline deadline,
                                 const char* call);
    /// A kernel with a signal of its own, and the count: returns that.
    std::uint64_t put_profiled(const Packet& kernel, Deadline deadline, const char* call);
    void put_run(const GraphState& graph, std::size_t first, std::size_t count, Deadline deadline);
    /// From here on packets wait for the copies before them.
    void join_copies(Deadline deadline, const char* call);
    /// A signal that is zero when every packet before it is complete.
    std::shared_ptr<PooledSignal> gate(Deadline deadline, const char* call);
    /// What an operation on another engine has to wait for; null if nothing.
    std::shared_ptr<PooledSignal> before_next(Deadline deadline, const char* call);
    /// Such an operation, done when `done` is zero, is the stream's last now.
    void set_copy_tail(std::shared_ptr<PooledSignal> done, PacketRecord::Kind kind);
    /// Calls `function` on the callbacks' thread when the signal is below the value, or the stream has failed.
    void when(SignalRef signal, std::int64_t below, std::function<void()> function);

    void refuse_in_capture(const char* call) const;
    void launched(const std::shared_ptr<GraphState>& graph) noexcept;
    void begin_profile();

    StreamHolds holds_;  // destroyed last
    std::shared_ptr<StreamHandle> handle_ = std::make_shared<StreamHandle>(*this);
    mutable LaunchLane lane_;  // its mutex is the stream's
    LaneMutex& mutex_ = lane_.mutex;
    AgentRef agent_;
    bool waits_for_values_;  // its queue, by packets of their own
    std::shared_ptr<Timeline> timeline_;
    std::shared_ptr<CopyQueue> copy_queue_;
    SignalPool& signals_;

    std::shared_ptr<PooledSignal> copy_tail_;  // the last operation, where it is one that no packet waits for yet
    PacketRecord::Kind copy_tail_kind_ = PacketRecord::Kind::copy;
    std::vector<std::shared_ptr<PooledSignal>> copies_;  // in flight; a negative value is an error
    Allocation kernarg_memory_;
    KernargRing& kernargs_ = lane_.kernargs;
    StreamCopier copier_;
    StreamProfile profile_;
    std::exception_ptr deferred_;
    std::atomic<bool> capturing_{false};   // set and cleared with the mutex, looked at without
    std::shared_ptr<GraphState> capture_;  // null but between begin_capture() and end_capture()

    QueueWriter writer_;
};

/// What a call that submits begins with: the mutex, of a stream that has not failed. What is held no longer by then is
/// destroyed when the mutex was given back: a destructor may use the stream.
class Submission {
  public:
    Submission(StreamCore& stream, Deadline deadline, const char* call) : lock_(stream.writer().lock(deadline, call)) {
        stream.throw_if_failed();
        stream.retire(retired_);
    }

  private:
    RetiredHolds retired_;
    std::unique_lock<LaneMutex> lock_;
};

}  // namespace hsadrv::detail
