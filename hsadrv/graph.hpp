// Work that is recorded once and replayed many times, from prebuilt packets with one doorbell for a run of kernels.
//
//   stream.begin_capture();
//   kernel.launch(stream, {.grid = n, .workgroup = 256}, a, b, n);     // recorded, not run
//   stream.copy_async(out, b, bytes);
//   hsadrv::Graph graph = stream.end_capture();
//   for (int step = 0; step < 1000; ++step) graph.launch(stream);
//   graph.update(0, kernel, {.grid = m, .workgroup = 256}, a, c, m);   // the first kernel, from the next launch on
//
// Other streams take part in a capture when they wait for an event that was recorded in it:
//
//   stream.begin_capture();
//   produce.launch(stream, …);
//   other.wait(stream.record());       // fork: from here on `other` is captured, too
//   left.launch(stream, …);
//   right.launch(other, …);            // may overlap with `left` in each replay
//   stream.wait(other.record());       // join: end_capture() requires it
//   graph = stream.end_capture();      // ends it for both
//
// A replay is ordered in the stream, as if everything recorded had been submitted again; branches run on streams of its
// own. GraphBuilder (graph_builder.hpp) builds graphs without streams. Its kernels see each other's
// writes on the device; the host and other devices see them when the replay is complete. Captured are kernels, copies,
// fills, host functions, submit(), and waits for and decrements of signals. A copy reads its source at each replay.
// keep_alive() during capture holds for the life of the graph. Keeps alive: launches in flight keep the graph's
// storage. Owns: argument blocks. Copies of a Graph share it. Thread safety: launch from any thread, also on several
// streams at once if the recorded work permits it, and while one thread updates: the launches that have begun are as
// before. Errors: a fault
// in a replay fails its stream, as a fault of any kernel does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/kernel.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

namespace detail {
class GraphState;
}

/// A node of a GraphBuilder's graph. A value; the default one is none.
struct GraphNode {
    std::uint64_t graph = 0;
    std::uint32_t number = 0;
};

class Graph {
  public:
    /// An empty graph: launching it does nothing.
    Graph() noexcept = default;

    AgentRef agent() const noexcept;
    /// The number of recorded kernels; update() numbers them from zero in the order of recording.
    std::size_t kernels() const noexcept;
    /// The number of recorded operations, kernels included.
    std::size_t nodes() const noexcept;
    /// The number of the kernel that a GraphBuilder added as that node. Throws InvalidArgument for another node.
    std::size_t kernel(const GraphNode& node) const;

    /// Replays it. Returns once it is submitted. Throws InvalidArgument for a stream of another agent; what the
    /// recorded calls throw. A Timeout may come when some of its runs and calls are submitted already: they remain, in
    /// the stream's order.
    void launch(Stream& stream, Deadline deadline = {}) const;

    /// Replaces a kernel's launch: its arguments, its grid, or the kernel itself. Checked like Kernel::launch; if that
    /// throws, the graph is unchanged. A replay in flight keeps its arguments. Waits, until `config.deadline`, only if
    /// replays of both of the last two updates are still in flight.
    template <class... Args>
        requires(!detail::are_launch_arguments<Args...>)
    void update(std::size_t index, const Kernel& kernel, const LaunchConfig& config, const Args&... args) {
        kernel.prepare(
            config, [&](const DispatchSpec& spec) { return begin_update(index, spec, config.deadline); }, args...);
        commit_update(index);
    }
    /// The same for arguments whose types are known at run time; see launch_argument.hpp. Holds their memory until
    /// another update has replaced it and no replay uses it.
    void update(std::size_t index, const Kernel& kernel, const LaunchConfig& config,
                std::span<const LaunchArgument> arguments);

  private:
    explicit Graph(std::shared_ptr<detail::GraphState> state) noexcept : state_(std::move(state)) {}
    std::byte* begin_update(std::size_t index, const DispatchSpec& spec, Deadline deadline);
    void commit_update(std::size_t index);

    std::shared_ptr<detail::GraphState> state_;
    friend class Stream;
};

}  // namespace hsadrv
