// Ordering between a stream and others: events, signals, host functions, callbacks.
#include <hsa/hsa_ext_amd.h>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "hsadrv/stream/value_wait.hpp"

namespace hsadrv::detail {

namespace {
/// A host function in stream order. Its signal is zero when it is complete. It is negative if the work after it must
/// not run: the function threw, the stream failed before, or the call was dropped. A negative value wakes only the
/// host.
struct HostTurn {
    HostTurn(std::shared_ptr<Timeline> of, Completion previous, std::shared_ptr<PooledSignal> signal, HostFunction what)
        : timeline(std::move(of)), before(std::move(previous)), done(std::move(signal)), function(std::move(what)) {}
    HostTurn(const HostTurn&) = delete;
    HostTurn& operator=(const HostTurn&) = delete;
    ~HostTurn() {
        if (end != HostEnd::later) done->ref().store(end == HostEnd::now ? 0 : -1);
        if (timeline->failed()) static_cast<void>(timeline->lost_copy({before.epochs, done}));
    }
    void take() noexcept {
        try {
            if (timeline->lost_copy(before) || timeline->failed()) return;
            end = function(done->ref());
        } catch (...) {
            timeline->fail(std::current_exception());
        }
    }

    std::shared_ptr<Timeline> timeline;
    Completion before;  // a copy or a gate, if any
    std::shared_ptr<PooledSignal> done;
    HostFunction function;
    std::optional<HostEnd> end;
};

/// Calls the callback once, when the work is complete or lost. A failure may have lost only later work.
/// Owns the timeline: the callback may destroy the stream before this returns.
void tell_when_over(std::shared_ptr<Timeline> timeline, const Completion& last,
                    std::function<void(std::exception_ptr)> callback) {
    timeline->call_when(Driver::current().runtime().callbacks(), last,
                        [timeline, last, callback = std::move(callback)]() mutable {
                            const bool over = timeline->reached(last);  // read first: a lost copy is over, too
                            const bool lost = timeline->lost(last);
                            if (!lost && !over) return tell_when_over(timeline, last, std::move(callback));
                            callback(lost ? timeline->error() : nullptr);
                        });
}

/// A failure of the host's making, of a kernel that goes on, is told to the streams that depend on it at that moment:
/// the packet `own` may have been too late for that.
void fail_if_lost(const Timeline& mine, const EventState& event, std::uint64_t own) {
    if (event.timeline->failed() && event.lost()) mine.fail(event.timeline->error(), own - 1);
}

struct UnlockStraight {
    void operator()(LaneMutex* mutex) const noexcept { mutex->unlock_straight(); }
};
}  // namespace

Event StreamCore::record(const EventOptions& options, Deadline deadline) {
    static constexpr const char* call = "Stream::record";
    auto state = std::make_shared<EventState>();
    const auto held = options.timing ? lock(deadline, call) : lock_data(call);
    throw_if_failed();
    if (options.timing) refuse_in_capture(call);
    state->timeline = timeline_;
    state->agent = agent_;
    if (capture_) {
        state->captured = std::make_shared<const CapturePoint>(CapturePoint{capture_.session(), capture_.last()});
        return Event(std::move(state));
    }
    if (options.timing) {
        writer_.time_packets();
        while (!try_join_copies() || !(state->clock = try_gate())) writer_.wait_for_room(deadline, call);
        const std::uint64_t slot = take_slots(1, deadline, call, [this] { return holds_.make_room(1), true; });
        const std::uint64_t epoch =
            writer_.put_counted(slot, barrier_and({}, timeline_->signal().native(), ordering_only));
        holds_.push({.epochs = epoch}, state->clock);  // the packet writes to it
    }
    state->completion = tail();
    return Event(std::move(state));
}

bool StreamCore::try_wait_fast(const EventState& event) {
    const Timeline& upstream = *event.timeline;
    const std::uint64_t count = event.completion.epochs;
    if (event.captured || event.completion.copy || !waits_for_values_ || &upstream == timeline_.get() ||
        !mutex_.try_lock_fast())
        return false;
    const std::unique_ptr<LaneMutex, UnlockStraight> held(&mutex_);
    if (timeline_->failed() || upstream.failed()) return false;
    if (upstream.reached(count)) return true;
    if (timeline_->submitted() >= lane_.limit) return false;
    AqlRing& ring = *lane_.ring;
    writer_.log().make_room(ring.read_index());
    const std::uint64_t epoch = timeline_->submitted() + 1;
    timeline_->depend(event.timeline, event.completion, epoch);
    std::uint64_t slot = 0;
    if (!ring.try_reserve_one(slot, lane_.room)) {
        timeline_->undo_depend();
        return false;
    }
    timeline_->submit(slot);
    kernargs_.note(epoch);
    const hsa_signal_t on = upstream.signal().native();
    write_barrier_value(ring.slot(slot), {.signal = on,
                                          .condition = HSA_SIGNAL_CONDITION_LT,
                                          .value = Timeline::below(count),
                                          .completion = {lane_.completion},
                                          .order = ordering_only});
    PacketRecord& record = writer_.log().add(slot, epoch);
    record.kind = PacketRecord::Kind::event;
    record.on = on;
    record.vendor = true;
    ring.publish_one(slot);
    fail_if_lost(*timeline_, event, epoch);
    return true;
}

void StreamCore::wait_for(const EventState& event, Deadline deadline, Room room) {
    static constexpr const char* call = "Stream::wait";
    const Submission held(*this, deadline, call, room);
    if (event.captured) return join_capture(event, call);
    refuse_in_capture(call);
    if (event.timeline == timeline_) return;  // already ordered by the stream
    const bool reached = event.reached();
    // Work that is lost later is found by waiters of this stream: see depend().
    if ((reached || event.timeline->failed()) && event.lost()) {
        timeline_->fail(event.timeline->error(), timeline_->submitted());  // what is enqueued already is not lost
        throw_if_failed();
    }
    if (reached) return;
    const auto prepare = [this] {
        holds_.make_room(1);
        timeline_->make_room_for_upstream();
        return true;
    };
    const hsa_signal_t done = timeline_->signal().native();
    PacketRecord record{.kind = PacketRecord::Kind::event};
    std::uint64_t epoch = 0;
    if (event.completion.copy) {
        const hsa_signal_t on = event.completion.copy->native();
        record.on = on;
        const std::uint64_t slot = take_slots(1, deadline, call, prepare, room);
        epoch = writer_.put_counted(slot, barrier_and(std::span(&on, 1), done, ordering_only), std::move(record));
        holds_.push({.epochs = epoch}, event.completion.copy);
    } else {
        const std::uint64_t count = event.completion.epochs;
        const SignalRef on = event.timeline->signal();
        record.on = on.native();
        epoch = put_value_wait(
            {.signal = on.native(),
             .condition = HSA_SIGNAL_CONDITION_LT,
             .value = Timeline::below(count),
             .completion = done,
             .order = ordering_only},
            [upstream = event.timeline, count] { return upstream->reached(count); }, std::move(record), deadline, call,
            room, prepare);
    }
    timeline_->depend(event.timeline, event.completion, epoch);
    fail_if_lost(*timeline_, event, epoch);
}

void StreamCore::wait_for(SignalRef signal, Condition condition, std::int64_t value, Deadline deadline) {
    static constexpr const char* call = "Stream::wait";
    if (!signal) throw InvalidArgument(std::string(call) + "(" + label() + "): no signal");
    const Submission held(*this, deadline, call);
    if (captured([=](StreamCore& core, Deadline when) { core.wait_for(signal, condition, value, when); })) return;
    put_value_wait(
        {.signal = signal.native(),
         .condition = native_condition(condition),
         .value = value,
         .completion = timeline_->signal().native()},
        [] { return true; },
        {.kind = PacketRecord::Kind::signal, .condition = condition, .on = signal.native(), .value = value}, deadline,
        call, Room::ordinary, [this] { return holds_.make_room(1), true; });
}

template <class MayOpen, class Prepare>
std::uint64_t StreamCore::put_value_wait(const BarrierValue& wait, MayOpen&& may_open, PacketRecord&& record,
                                         Deadline deadline, const char* call, Room room, Prepare&& prepare) {
    record.vendor = waits_for_values_;
    if (waits_for_values_) {
        const std::uint64_t slot = take_slots(1, deadline, call, prepare, room);
        return writer_.put_counted(slot, barrier_value(wait), std::move(record));
    }
    std::optional<Relay> relay;
    const std::uint64_t slot = take_slots(
        1, deadline, call,
        [&] {  // of the stream's next packet
            relay.reset();
            relay.emplace(SignalRef(wait.signal), record.condition, wait.value, may_open, timeline_);
            return prepare();
        },
        room);
    const hsa_signal_t on = relay->opened()->native();
    const std::uint64_t epoch =
        writer_.put_counted(slot, barrier_and(std::span(&on, 1), wait.completion, wait.order), std::move(record));
    holds_.push({.epochs = epoch}, relay->keep());
    return epoch;
}

void StreamCore::decrement(SignalRef signal, Deadline deadline) {
    static constexpr const char* call = "Stream::decrement";
    if (!signal) throw InvalidArgument(std::string(call) + "(" + label() + "): no signal");
    const Submission held(*this, deadline, call);
    if (captured([=](StreamCore& core, Deadline when) { core.decrement(signal, when); })) return;
    const Packet decrements = barrier_and({}, signal.native());
    const std::uint64_t slot = take_slots(2, deadline, call, [] { return true; });
    writer_.put_batch(slot, std::span(&decrements, 1), barrier_and({}, timeline_->signal().native(), ordering_only),
                      {.kind = PacketRecord::Kind::decrement, .on = signal.native()});
}

void StreamCore::call(HostFunction function, Deadline deadline) {
    static constexpr const char* call = "Stream::call";
    std::shared_ptr<HostTurn> turn;  // what the function has is destroyed without the mutex
    const Submission held(*this, deadline, call);
    if (captured([function](StreamCore& core, Deadline when) { core.call(function, when); })) return;
    check_copies();
    const std::shared_ptr<PooledSignal> done = signals_.acquire(1);
    std::shared_ptr<PooledSignal> before = before_next(deadline, call);
    holds_.make_room(2);
    copies_.reserve(copies_.size() + 1);
    const Completion last{timeline_->submitted(), done};
    turn = std::make_shared<HostTurn>(timeline_, Completion{last.epochs, before}, done, std::move(function));
    timeline_->call_host(Driver::current().runtime().callbacks(), before ? before->ref() : done->ref(), before ? 1 : 2,
                         [turn]() mutable { std::exchange(turn, nullptr)->take(); });
    copies_.push_back({last, PacketRecord::Kind::host});
    set_copy_tail(done, PacketRecord::Kind::host);
    if (before) holds_.push(last, std::move(before));
    holds_.push(last, done);
}

void StreamCore::on_complete(std::function<void(std::exception_ptr)> callback) {
    static constexpr const char* call = "Stream::on_complete";
    if (!callback) throw InvalidArgument(std::string(call) + "(" + label() + "): an empty function");
    auto held = lock_data(call);
    refuse_in_capture(call);
    const Completion last = tail();
    held.unlock();  // the callback may destroy the stream, and with it the mutex
    tell_when_over(timeline_, last, std::move(callback));
}

}  // namespace hsadrv::detail
