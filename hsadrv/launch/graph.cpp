#include "hsadrv/graph.hpp"

#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv {

AgentRef Graph::agent() const noexcept { return state_ ? state_->agent() : AgentRef(); }
std::size_t Graph::kernels() const noexcept { return state_ ? state_->kernels() : 0; }
std::size_t Graph::nodes() const noexcept { return state_ ? state_->nodes() : 0; }

std::size_t Graph::kernel(const GraphNode& node) const {
    if (!state_ || node.graph != state_->id())
        throw InvalidArgument("hsadrv::Graph::kernel: the node was not added to this graph by a GraphBuilder");
    const auto found = state_->kernel_of(node.number);
    if (!found)
        throw InvalidArgument("hsadrv::Graph::kernel: node " + std::to_string(node.number) +
                              " is not one kernel; update() replaces kernels");
    return *found;
}

Graph Stream::end_capture() { return Graph(core().end_capture()); }

void Graph::launch(Stream& stream, Deadline deadline) const {
    if (state_) stream.core().replay(state_, deadline);
}

void Graph::update(std::size_t index, const Kernel& kernel, const LaunchConfig& config,
                   std::span<const LaunchArgument> arguments) {
    refuse_in_forked_child("Graph::update");
    kernel.prepare_arguments(
        config, [&](const DispatchSpec& spec) { return begin_update(index, spec, config.deadline); }, arguments);
    detail::GraphState::Holds holds;
    for (const LaunchArgument& argument : arguments)
        if (argument.memory().keep_alive) holds.push_back(argument.memory().keep_alive);
    state_->commit_update(index, std::move(holds));
}

std::byte* Graph::begin_update(std::size_t index, const DispatchSpec& spec, Deadline deadline) {
    refuse_in_forked_child("Graph::update");
    if (!state_) throw InvalidArgument("hsadrv::Graph::update(): the graph is empty");
    return state_->begin_update(index, spec, deadline);
}
void Graph::commit_update(std::size_t index) { state_->commit_update(index); }

}  // namespace hsadrv
