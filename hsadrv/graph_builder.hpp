// Builds a Graph node by node, each with the nodes that it follows.
//
//   hsadrv::GraphBuilder build(gpu);
//   const auto upload = build.copy({}, in.data(), host.data(), bytes);
//   const auto left = build.kernel({upload}, f, {.grid = n, .workgroup = 256}, in, a, n);
//   const auto right = build.kernel({upload}, g, {.grid = n, .workgroup = 256}, in, b, n);
//   build.kernel({left, right}, add, {.grid = n, .workgroup = 256}, a, b, n);
//   const hsadrv::Graph graph = build.finish();
//   graph.launch(stream);                                    // left and right may overlap
//   graph.update(graph.kernel(left), f, …);                  // graph.hpp
//
// A node starts when those that it follows are complete, and sees what they wrote. Nodes that do not follow each other,
// directly or through others, may overlap: a replay runs up to eight branches at once, on streams of its own, between
// the work before and after it on the launching stream. Arguments are checked when a node is added; if that throws, the
// graph is unchanged. Capture (Stream::begin_capture) records the same graphs from calls of streams. Owns: a stream,
// until it is destroyed. The graph keeps alive what a captured one does. Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/graph.hpp"
#include "hsadrv/kernel.hpp"
#include "hsadrv/rect.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

class GraphBuilder {
  public:
    /// The nodes that a node follows; in any order.
    using Nodes = std::vector<GraphNode>;

    /// Throws what Stream's constructor throws.
    explicit GraphBuilder(AgentRef gpu);

    AgentRef agent() const noexcept { return stream_.agent(); }
    std::size_t nodes() const;

    /// As Kernel::launch. The deadline in `config` is ignored.
    template <class... Args>
    GraphNode kernel(const Nodes& after, const Kernel& kernel, const LaunchConfig& config, const Args&... args) {
        return add(after, [&](Stream& stream) { kernel.launch(stream, config, args...); });
    }
    /// As Stream::copy_async. Reads the source at each replay. Pageable memory makes launching the graph wait.
    GraphNode copy(const Nodes& after, void* destination, const void* source, std::size_t size_bytes);
    GraphNode copy_rect(const Nodes& after, const Rect& rect);
    /// As Stream::fill_async.
    GraphNode fill(const Nodes& after, void* destination, std::size_t size_bytes, std::span<const std::byte> pattern);
    template <class T>
    GraphNode fill(const Nodes& after, T* destination, const T& value, std::size_t count) {
        return add(after, [&](Stream& stream) { stream.fill_async(destination, value, count); });
    }
    /// As Stream::call.
    GraphNode call(const Nodes& after, std::function<void()> function);
    /// A whole graph of the same GPU, which is kept alive.
    GraphNode graph(const Nodes& after, const Graph& graph);
    /// No work: one node to follow in place of several.
    GraphNode empty(const Nodes& after);
    /// Whatever a capture records, in the order of the calls that `record` makes: array transfers, waits for signals,
    /// several launches. The node is complete when the last of them is.
    GraphNode add(const Nodes& after, const std::function<void(Stream&)>& record);

    /// Holds `object` for the life of the graph.
    void keep_alive(std::shared_ptr<const void> object) { stream_.keep_alive(std::move(object)); }

    /// The graph, ready to be launched. The builder then begins an empty one.
    Graph finish();

  private:
    std::vector<std::uint32_t> numbers_of(const Nodes& nodes) const;

    Stream stream_;  // captured
};

}  // namespace hsadrv
