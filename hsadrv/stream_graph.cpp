// Recording a stream's calls, and replaying them.
#include "hsadrv/error.hpp"
#include "hsadrv/event_state.hpp"
#include "hsadrv/graph_state.hpp"
#include "hsadrv/stream_core.hpp"

namespace hsadrv::detail {

void StreamCore::begin_capture() {
    const auto held = lock({}, "Stream::begin_capture");
    throw_if_failed();
    refuse_in_capture("Stream::begin_capture");
    capture_ = std::make_shared<GraphState>(agent_);
    capturing_.store(true, std::memory_order_release);
    mutex_.divert();
}

std::shared_ptr<GraphState> StreamCore::end_capture() {
    const auto held = lock({}, "Stream::end_capture");
    if (!capture_)
        throw InvalidArgument("Stream::end_capture(" + label() + "): begin_capture() was not called");
    take_late_holds();
    capturing_.store(false, std::memory_order_release);
    return std::exchange(capture_, nullptr);
}

void StreamCore::refuse_in_capture(const char* call) const {
    if (capture_)
        throw InvalidArgument(std::string(call) + "(" + label() +
                              "): the stream is being captured, and this cannot be recorded; end_capture() first");
}

void StreamCore::replay(const std::shared_ptr<GraphState>& graph, Deadline deadline) {
    static constexpr const char* call = "Graph::launch";
    if (graph->agent() != agent_)
        throw InvalidArgument(std::string(call) + "(" + label() + "): the graph was recorded on " +
                              graph->agent().label());
    {
        const auto held = lock(deadline, call);
        throw_if_failed();
        if (captured([graph](StreamCore& core, Deadline when) { core.replay(graph, when); })) return;
    }
    for (const GraphState::Step& step : graph->steps()) {
        if (step.call) {
            step.call(*this, deadline);
            continue;
        }
        const auto held = lock(deadline, call);
        throw_if_failed();
        put_run(*graph, step.first, step.count, deadline);
    }
    RetiredHolds retired;
    const auto held = lock(deadline, call);
    retire(retired);
    Point last = tail();
    graph->launched(std::make_shared<EventState>(
        EventState{.timeline = timeline_, .point = last, .epochs = timeline_->submitted(), .agent = agent_}));
    holds_.push(std::move(last), graph);
}

void StreamCore::put_run(const GraphState& graph, std::size_t first, std::size_t count, Deadline deadline) {
    static constexpr const char* call = "Graph::launch";
    join_copies(deadline, call);
    if (profiling_) {
        for (std::size_t i = 0; i < count; ++i) put_profiled(graph.packets()[first + i], deadline, call);
        return;
    }
    wait_for_turn(deadline, call);
    drop_notes();
    notes_.make_room(1);
    const auto packets = static_cast<std::uint32_t>(count);
    const std::uint64_t slot = reserve(packets, deadline, call);
    const std::uint64_t epoch = count_packets(slot, packets);
    const QueueRef queue = queue_->ref();
    const Packet* packet = graph.packets().data() + first;
    for (std::uint32_t i = 0; i + 1 < packets; ++i) queue.write(slot + i, packet[i]);
    auto last = packet[packets - 1].as<hsa_kernel_dispatch_packet_t>();
    last.completion_signal = timeline_->signal().native();
    queue.write(slot + packets - 1, Packet::from(last));
    queue.publish(slot, packets);
    notes_.push_back({.kind = Note::Kind::batch, .count = packets, .slot = slot, .epoch = epoch});
}

}  // namespace hsadrv::detail
