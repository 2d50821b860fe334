// Captures a stream's calls and replays them.
#include <algorithm>
#include <new>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/leak.hpp"
#include "hsadrv/base/traced.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/graph_replay.hpp"
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

void StreamCore::begin_capture() {
    const auto held = lock_data("Stream::begin_capture");
    throw_if_failed();
    refuse_in_capture("Stream::begin_capture");
    capture_.begin(std::make_shared<CaptureSession>(agent_, label()));
    mutex_.disable_fast_path();
}

std::shared_ptr<GraphState> StreamCore::end_capture() {
    const std::string call = "Stream::end_capture(" + label() + ")";
    std::shared_ptr<CaptureSession> session;
    std::string text;
    bool closed = false;
    {
        const auto held = lock_data("Stream::end_capture");
        if (!capture_) throw InvalidArgument(call + ": begin_capture() was not called");
        session = capture_.session();
        if (!capture_.is_origin())
            throw InvalidArgument(call + ": the capture began on " + session->origin() + "; end it there");
        const auto forked = session->not_joined(capture_.last());
        closed = std::any_of(forked.begin(), forked.end(), [](const auto& stream) { return stream.closed; });
        if (!forked.empty()) {
            text = call + ": work that was recorded on ";
            for (const auto& stream : forked) text += (&stream == forked.data() ? "" : " and on ") + stream.label;
            text += closed ? " is not joined, and a stream of it was closed; the capture is dropped"
                           : " is not joined: wait for an event of it, wait(other.record()), and end the capture then";
            if (!closed) throw InvalidArgument(text);
        }
        session->end();
        capture_.leave();
    }
    session->dismiss();
    if (closed) throw InvalidArgument(text);
    session->graph()->finish();
    return session->graph();
}

void StreamCore::leave_capture(const CaptureSession& session) noexcept {
    const std::lock_guard held(mutex_);
    if (capture_.session().get() == &session) capture_.leave();
}

void StreamCore::refuse_in_capture(const char* call) const {
    if (records())
        throw InvalidArgument(std::string(call) + "(" + label() +
                              "): the stream is being captured, and this cannot be recorded; end_capture() first");
}

void StreamCore::join_capture(const EventState& event, const char* call) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidArgument(std::string(call) + "(" + label() + "): the event belongs to a capture that began on " +
                              event.captured->session->origin() + why);
    };
    const std::shared_ptr<CaptureSession>& session = event.captured->session;
    if (session->over()) refuse(", which has ended");
    if (event.agent != agent_) refuse(": a graph is of one GPU");
    if (!capture_) {
        capture_.join(session, handle_, label());
        mutex_.disable_fast_path();
    } else if (capture_.session() != session) {
        refuse("; this stream takes part in one that began on " + capture_.session()->origin());
    }
    capture_.follow(event.captured->nodes);
}

void StreamCore::replay(const std::shared_ptr<GraphState>& graph, Deadline deadline) {
    static constexpr const char* call = "Graph::launch";
    if (graph->agent() != agent_)
        throw InvalidArgument(std::string(call) + "(" + label() + "): the graph was recorded on " +
                              graph->agent().label());
    const auto text = [&] { return label() + ", " + std::to_string(graph->plan().steps.size()) + " steps"; };
    call_log::logged(call_log::Area::launch, call, text, [&] {
        if (graph->is_one_run()) return replay_run(graph, deadline);
        const LateHolds late;
        auto held = lock(deadline, call);
        throw_if_failed();
        if (records_replay(graph)) return;
        const CallOrder::Composite order(order_, std::move(held));
        GraphReplay(*this, graph, deadline).run();
    });
}

bool StreamCore::records_replay(const std::shared_ptr<GraphState>& graph) {
    if (records()) capture_.session()->graph()->nest(*graph);
    return captured([graph](StreamCore& core, Deadline when) { core.replay(graph, when); });
}

// One call, in few instructions. The caller's Graph may become another one while this waits.
void StreamCore::replay_run(const std::shared_ptr<GraphState> graph, Deadline deadline) {
    GraphState::Leftovers leftovers;
    const Submission submission(*this, deadline, "Graph::launch");
    if (records_replay(graph)) return;
    const GraphEnqueue launch(*graph, std::span(&timeline_, 1), leftovers);
    const auto keep = [&] {
        try {
            push_hold(std::shared_ptr<const void>(graph));
        } catch (const std::bad_alloc&) {
            leak(graph);
        }
    };
    try {
        put_packets(launch.packets(graph->plan().steps.front()), deadline);
    } catch (...) {
        keep();  // some may be enqueued
        throw;
    }
    keep();
}

EventState StreamCore::mark() {
    const std::lock_guard held(mutex_);
    throw_if_failed();
    return {.timeline = timeline_, .completion = tail(), .agent = agent_};
}

StreamCore& StreamCore::branch(std::size_t number, Deadline deadline) {
    StreamCore& other = branches_.at(number, *this);
    profile_as_this(other, deadline);
    return other;
}

void StreamCore::profile_as_this(StreamCore& other, Deadline deadline) {
    const bool profiles = [&] {
        const std::lock_guard held(mutex_);
        return profile_.on();
    }();
    other.profile(profiles, deadline);
}

void StreamCore::put_run(std::span<const Packet> kernels, Deadline deadline) {
    const auto held = lock(deadline, "Graph::launch");
    throw_if_failed();
    put_packets(kernels, deadline);
}

void StreamCore::put_packets(std::span<const Packet> kernels, Deadline deadline) {
    static constexpr const char* call = "Graph::launch";
    const auto take = [&](std::size_t count) {
        return take_slots(static_cast<std::uint32_t>(count), deadline, call,
                          [this] { return profile_.make_room(), true; });
    };
    if (profile_.on()) {
        for (const Packet& kernel : kernels) {
            Profiled profiled = profile_kernel(kernel);
            put_profiled(take(2), kernel, std::move(profiled));
        }
        return;
    }
    // At most half of the ring at once; fences between the parts stay those of one run.
    const std::size_t most = std::max<std::size_t>(1, queue().size() / 2);
    for (std::size_t first = 0, part; first != kernels.size(); first += part) {
        part = std::min(most, kernels.size() - first);
        const std::span run = kernels.subspan(first, part);
        if (traced()) {  // each kernel's signal is the tool's
            const Packet count = barrier_and({}, timeline_->signal().native(), ordering_only);
            writer_.put_batch(take(part + 1), run, count, {.kind = PacketRecord::Kind::batch});
            continue;
        }
        auto last = run.back().as<hsa_kernel_dispatch_packet_t>();
        last.completion_signal = timeline_->signal().native();
        writer_.put_batch(take(part), run.first(part - 1), Packet::from(last), {.kind = PacketRecord::Kind::batch});
    }
}

}  // namespace hsadrv::detail
