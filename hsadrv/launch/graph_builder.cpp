#include "hsadrv/graph_builder.hpp"

#include <numeric>
#include <string>
#include <utility>

#include "hsadrv/error.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv {

namespace {

// Arguments of kernels are in the graph; this bounds those of one kernel.
constexpr std::size_t most_kernarg_bytes = 64u << 10;

detail::GraphState& state_of(const Stream& stream) {
    const auto& session = stream.core().capture().session();
    if (!session) throw InvalidArgument("hsadrv::GraphBuilder: it has no graph: finish() has failed");
    return *session->graph();
}

}  // namespace

GraphBuilder::GraphBuilder(AgentRef gpu)
    : stream_(gpu, {.name = "of a GraphBuilder", .packets = 64, .kernarg_bytes = most_kernarg_bytes}) {
    stream_.begin_capture();
}

std::size_t GraphBuilder::nodes() const { return state_of(stream_).nodes(); }

std::vector<std::uint32_t> GraphBuilder::numbers_of(const Nodes& nodes) const {
    std::vector<std::uint32_t> numbers;
    for (const GraphNode& node : nodes) {
        if (node.graph != state_of(stream_).id())
            throw InvalidArgument(node.graph == 0
                                      ? "hsadrv::GraphBuilder: a GraphNode that no builder returned"
                                      : "hsadrv::GraphBuilder: a GraphNode of another graph, or of one that "
                                        "is finished");
        if (node.number >= state_of(stream_).numbers())
            throw InvalidArgument("hsadrv::GraphBuilder: the graph has no node " + std::to_string(node.number));
        numbers.push_back(node.number);
    }
    return numbers;
}

GraphNode GraphBuilder::add(const Nodes& after, const std::function<void(Stream&)>& record) {
    detail::GraphState& graph = state_of(stream_);
    detail::StreamCapture& capture = stream_.core().capture();
    const auto first = static_cast<std::uint32_t>(graph.numbers());
    capture.set_last(numbers_of(after));
    try {
        record(stream_);
    } catch (...) {
        graph.drop_from(first);
        throw;
    }
    const auto last = capture.last();
    const bool one = graph.numbers() > first && last.size() == 1;
    return {graph.id(), one ? last.front() : graph.add_empty(last)};
}

GraphNode GraphBuilder::copy(const Nodes& after, void* destination, const void* source, std::size_t size_bytes) {
    return add(after, [&](Stream& stream) { stream.copy_async(destination, source, size_bytes); });
}

GraphNode GraphBuilder::copy_rect(const Nodes& after, const Rect& rect) {
    return add(after, [&](Stream& stream) { stream.copy_rect_async(rect); });
}

GraphNode GraphBuilder::fill(const Nodes& after, void* destination, std::size_t size_bytes,
                             std::span<const std::byte> pattern) {
    return add(after, [&](Stream& stream) { stream.fill_async(destination, size_bytes, pattern); });
}

GraphNode GraphBuilder::call(const Nodes& after, std::function<void()> function) {
    return add(after, [&](Stream& stream) { stream.call(std::move(function)); });
}

GraphNode GraphBuilder::graph(const Nodes& after, const Graph& graph) {
    return add(after, [&](Stream& stream) { graph.launch(stream); });
}

GraphNode GraphBuilder::empty(const Nodes& after) {
    return add(after, [](Stream&) {});
}

Graph GraphBuilder::finish() {
    // Streams that took part need not be joined: the end of a replay is that of all nodes.
    std::vector<std::uint32_t> all(state_of(stream_).numbers());
    std::iota(all.begin(), all.end(), 0);
    stream_.core().capture().set_last(std::move(all));
    stream_.core().throw_if_failed();  // else the next capture would not begin, and the graph be lost
    Graph graph = stream_.end_capture();
    stream_.begin_capture();
    return graph;
}

}  // namespace hsadrv
