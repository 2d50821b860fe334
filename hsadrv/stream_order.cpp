// What orders a stream and others: events, signals, host functions, callbacks.
#include <hsa/hsa_ext_amd.h>

#include "hsadrv/error.hpp"
#include "hsadrv/event_state.hpp"
#include "hsadrv/live_streams.hpp"
#include "hsadrv/runtime.hpp"
#include "hsadrv/stream_core.hpp"

namespace hsadrv::detail {

// Devices write times into a packet's own signal, and only on queues that were asked to.
void StreamCore::profile_queue() {
    check(hsa_amd_profiling_set_profiler_enabled(queue_->ref().native(), 1),
          "hsa_amd_profiling_set_profiler_enabled()");
    profiled_ = true;
}

void StreamCore::when(SignalRef signal, std::int64_t below, std::function<void()> function) {
    Driver::current().runtime().callbacks().on_signal(
        signal, Condition::less, below, [function = std::move(function), token = awaited_] { function(); },
        live_streams::look_after_awaited);
}

Event StreamCore::record(const EventOptions& options, Deadline deadline) {
    static constexpr const char* call = "Stream::record";
    const auto held = lock(deadline, call);
    throw_if_failed();
    refuse_in_capture(call);
    auto state = std::make_shared<EventState>();
    state->timeline = timeline_;
    state->agent = agent_;
    if (options.timing) {
        if (!profiled_) profile_queue();
        join_copies(deadline, call);
        state->clock = gate(deadline, call);
        holds_.make_room(1);
        const std::uint64_t epoch =
            put_counted(barrier_and({}, timeline_->signal().native(), ordering_only), deadline, call);
        holds_.push({.epochs = epoch}, state->clock);  // the packet writes to it
    }
    state->point = tail();
    state->epochs = timeline_->submitted();
    return Event(std::move(state));
}

void StreamCore::wait_for(const EventState& event, Deadline deadline) {
    static constexpr const char* call = "Stream::wait";
    RetiredHolds retired;
    const auto held = lock(deadline, call);
    throw_if_failed();
    refuse_in_capture(call);
    retire(retired);
    if (event.timeline == timeline_) return;  // the order of the stream has it
    const bool reached = event.reached();
    // What is lost only later is found by who waits for this stream: see depend().
    if ((reached || event.timeline->failed()) && event.lost()) {
        fail(event.timeline->error());
        throw_if_failed();
    }
    if (reached) return;
    join_copies(deadline, call);
    holds_.make_room(1);
    const hsa_signal_t done = timeline_->signal().native();
    Note note{.kind = Note::Kind::event, .upstream = event.timeline};
    std::uint64_t epoch = 0;
    if (event.point.copy) {
        const hsa_signal_t on = event.point.copy->native();
        note.on = on;
        epoch = put_counted(barrier_and(std::span(&on, 1), done, ordering_only), std::move(note), deadline, call);
        holds_.push({.epochs = epoch}, event.point.copy);
    } else {
        const SignalRef on = event.timeline->signal();
        note.on = on.native();
        note.value = static_cast<std::int64_t>(event.point.epochs);
        epoch = put_counted(
            barrier_value({.signal = on.native(), .condition = HSA_SIGNAL_CONDITION_LT,
                           .value = Timeline::below(event.point.epochs), .completion = done, .order = ordering_only}),
            std::move(note), deadline, call);
    }
    timeline_->depend(event.timeline, event.epochs, epoch);
}

void StreamCore::wait_for(SignalRef signal, Condition condition, std::int64_t value, Deadline deadline) {
    static constexpr const char* call = "Stream::wait";
    if (!signal) throw InvalidArgument(std::string(call) + "(" + label() + "): no signal");
    RetiredHolds retired;
    const auto held = lock(deadline, call);
    throw_if_failed();
    if (captured([=](StreamCore& core, Deadline when) { core.wait_for(signal, condition, value, when); })) return;
    retire(retired);
    join_copies(deadline, call);
    put_counted(barrier_value({.signal = signal.native(),
                               .condition = native_condition(condition),
                               .value = value,
                               .completion = timeline_->signal().native()}),
                {.kind = Note::Kind::signal, .condition = condition, .on = signal.native(), .value = value},
                deadline, call);
}

void StreamCore::decrement(SignalRef signal, Deadline deadline) {
    static constexpr const char* call = "Stream::decrement";
    if (!signal) throw InvalidArgument(std::string(call) + "(" + label() + "): no signal");
    RetiredHolds retired;
    const auto held = lock(deadline, call);
    throw_if_failed();
    if (captured([=](StreamCore& core, Deadline when) { core.decrement(signal, when); })) return;
    retire(retired);
    join_copies(deadline, call);
    put(barrier_and({}, signal.native()), {.kind = Note::Kind::decrement, .on = signal.native()}, deadline, call);
    put_counted(barrier_and({}, timeline_->signal().native(), ordering_only), deadline, call);
}

void StreamCore::call(std::function<void()> function, Deadline deadline) {
    static constexpr const char* call = "Stream::call";
    if (!function) throw InvalidArgument(std::string(call) + "(" + label() + "): an empty function");
    RetiredHolds retired;
    const auto held = lock(deadline, call);
    throw_if_failed();
    if (captured([function](StreamCore& core, Deadline when) { core.call(function, when); })) return;
    retire(retired);
    check_copies();
    std::shared_ptr<PooledSignal> before = before_next(deadline, call);
    const std::shared_ptr<PooledSignal> done = signals_.acquire(1);
    holds_.make_room(2);
    auto run = [timeline = timeline_, done, function = std::move(function)]{
        try {
            if (!timeline->failed()) function();
        } catch (...) {
            timeline->fail(std::current_exception());
        }
        done->ref().store(0);
    };
    when(before ? before->ref() : done->ref(), before ? 1 : 2, std::move(run));
    copies_.push_back(done);
    set_copy_tail(done, Note::Kind::host);
    if (before) holds_.push({.copy = done}, std::move(before));
    holds_.push({.copy = done}, done);
}

void StreamCore::on_complete(std::function<void(std::exception_ptr)> callback, Deadline deadline) {
    static constexpr const char* call = "Stream::on_complete";
    if (!callback) throw InvalidArgument(std::string(call) + "(" + label() + "): an empty function");
    const auto held = lock(deadline, call);
    refuse_in_capture(call);
    const Point last = tail();
    const std::uint64_t epochs = timeline_->submitted();
    auto run = [timeline = timeline_, epochs, copy = last.copy, callback = std::move(callback)]{
        callback(timeline->lost(epochs) ? timeline->error() : nullptr);
    };
    const auto [signal, below] = signal_of(*timeline_, last);
    when(signal, below, std::move(run));
}

}  // namespace hsadrv::detail
