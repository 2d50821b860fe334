#include "hsadrv/event.hpp"

#include <hsa/hsa_ext_amd.h>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/host_clock.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/signal/watched_wait.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/live_streams.hpp"

namespace hsadrv {

namespace {

/// A capture runs nothing.
void refuse_captured(const detail::EventState& event, const char* call) {
    if (!event.captured) return;
    throw InvalidArgument(std::string(call) + ": the event was recorded in a capture of " + event.timeline->label() +
                          ", which runs nothing; only streams can wait for it, in the same capture");
}

/// When the event's packet completed, in ticks of the device's clock as seen by the system.
std::uint64_t ticks_of(const detail::EventState& event) {
    refuse_in_forked_child("Event::time");
    refuse_captured(event, "hsadrv::Event::time()");
    if (!event.clock) throw InvalidArgument("hsadrv::Event::time(): recorded without timing; record({.timing = true})");
    if (!event.reached())
        throw Error("hsadrv::Event::time(): the event of " + event.timeline->label() +
                    " is not complete; synchronize() it first");
    if (event.lost()) event.timeline->rethrow();
    hsa_amd_profiling_dispatch_time_t time{};
    check(hsa_amd_profiling_get_dispatch_time(event.agent.native(), event.clock->native(), &time),
          [&] { return "hsa_amd_profiling_get_dispatch_time(" + event.timeline->label() + ")"; });
    return time.end;
}

void await(const detail::EventState& event, Deadline deadline) {
    const detail::Timeline& timeline = *event.timeline;
    const auto [signal, below] = timeline.signal_of(event.completion);
    const auto try_wait = [&, signal = signal, below = below](std::chrono::milliseconds slice) {
        return signal.try_wait(Condition::less, below, deadline.sliced(slice)).has_value();
    };
    detail::watched_wait(try_wait, [&] {
        detail::live_streams::poll();
        if (event.lost()) return true;
        if (deadline.passed())
            throw Timeout("hsadrv::Event::synchronize(" + deadline.text() +
                          "): " + detail::live_streams::autopsy_of(timeline));
        return false;
    });
    if (event.lost()) timeline.rethrow();
}

}  // namespace

bool Event::query() const {
    if (!state_) return true;
    refuse_in_forked_child("Event::query");
    refuse_captured(*state_, "hsadrv::Event::query()");
    const bool reached = state_->reached();  // read first: a lost copy is reached, too
    if (state_->lost()) state_->timeline->rethrow();
    return reached;
}

void Event::synchronize(Deadline deadline) const {
    if (!state_) return;
    refuse_in_forked_child("Event::synchronize");
    refuse_captured(*state_, "hsadrv::Event::synchronize()");
    detail::call_log::logged(
        detail::call_log::Area::stream, "Event::synchronize",
        [&] { return "an event of " + state_->timeline->label() + ", " + deadline.text(); },
        [&] { await(*state_, deadline); });
}

std::chrono::steady_clock::time_point Event::time() const {
    if (!state_) throw InvalidArgument("hsadrv::Event::time(): the event was never recorded");
    return detail::host_time(ticks_of(*state_));
}

std::chrono::nanoseconds elapsed(const Event& begin, const Event& end) {
    if (!begin || !end) throw InvalidArgument("hsadrv::elapsed(): an event that was never recorded");
    const auto from = ticks_of(*begin.state_), to = ticks_of(*end.state_);
    return detail::duration_of(static_cast<std::int64_t>(to - from));
}

}  // namespace hsadrv
