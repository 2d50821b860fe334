// Captures a stream's calls and replays them.
#include <algorithm>
#include <new>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

void StreamCore::begin_capture() {
    const auto held = writer_.lock({}, "Stream::begin_capture");
    throw_if_failed();
    refuse_in_capture("Stream::begin_capture");
    capture_ = std::make_shared<GraphState>(agent_);
    capturing_.store(true, std::memory_order_release);
    mutex_.disable_fast_path();
}

std::shared_ptr<GraphState> StreamCore::end_capture() {
    const auto held = writer_.lock({}, "Stream::end_capture");
    if (!capture_) throw InvalidArgument("Stream::end_capture(" + label() + "): begin_capture() was not called");
    take_deferred_holds();
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
    const auto text = [&] { return label() + ", " + std::to_string(graph->steps().size()) + " steps"; };
    call_log::logged(call_log::Area::launch, call, text, [&] {
        {
            const auto held = writer_.lock(deadline, call);
            throw_if_failed();
            if (captured([graph](StreamCore& core, Deadline when) { core.replay(graph, when); })) return;
        }
        // Also if the launch is cut short: packets in the ring read the graph's arguments.
        struct KeepGraph {
            StreamCore& core;
            const std::shared_ptr<GraphState>& graph;
            std::shared_ptr<EventState> launch = graph->begin_launch(core.timeline());
            ~KeepGraph() {
                graph->end_launch(*launch);
                try {
                    core.keep_alive(graph);
                } catch (const std::bad_alloc&) {  // it is leaked
                }
            }
        } keep{*this, graph};
        for (const GraphState::Step& step : graph->steps()) {
            if (step.call) {
                step.call(*this, deadline);
                continue;
            }
            const auto held = writer_.lock(deadline, call);
            throw_if_failed();
            put_run(*graph, step.first, step.count, deadline);
        }
    });
}

void StreamCore::put_run(const GraphState& graph, std::size_t first, std::size_t count, Deadline deadline) {
    static constexpr const char* call = "Graph::launch";
    join_copies(deadline, call);
    if (profile_.on()) {
        for (std::size_t i = 0; i < count; ++i) put_profiled(graph.packets()[first + i], deadline, call);
        return;
    }
    // At most half of the ring at once; fences between the parts stay those of one run.
    const std::size_t most = std::max<std::size_t>(1, queue().size() / 2);
    for (std::size_t end = first + count, part; first != end; first += part) {
        part = std::min(most, end - first);
        const std::span run = std::span(graph.packets()).subspan(first, part);
        auto last = run.back().as<hsa_kernel_dispatch_packet_t>();
        last.completion_signal = timeline_->signal().native();
        writer_.put_batch(run.first(part - 1), Packet::from(last), {.kind = PacketRecord::Kind::batch}, deadline, call);
    }
}

}  // namespace hsadrv::detail
