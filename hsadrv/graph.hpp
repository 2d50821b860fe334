// Work that is recorded once and replayed many times: prebuilt packets, one doorbell for a run of kernels.
//
//   stream.begin_capture();
//   kernel.launch(stream, {.grid = n, .workgroup = 256}, a, b, n);     // recorded, not run
//   stream.copy_async(out, b, bytes);
//   hsadrv::Graph graph = stream.end_capture();
//   for (int step = 0; step < 1000; ++step) graph.launch(stream);
//   graph.update(0, kernel, {.grid = m, .workgroup = 256}, a, c, m);   // the first kernel, from the next launch on
//
// A replay is in the stream's order, as if everything recorded had been submitted again. Between its kernels memory
// is made visible to the device; host and other devices see what it wrote when the replay is complete.
// Recorded are kernels, copies, fills, host functions, submit(), and waits for and decrements of signals; what a copy
// reads, it reads at each replay. keep_alive() during capture holds for the life of the graph.
// Keeps alive: launches in flight keep the graph's storage. Owns: argument blocks. Copies of a Graph share it.
// Thread safety: launch from any thread, also on several streams at once, if what it does allows it; update() not
// while another thread launches. Errors: a fault in a replay fails its stream, as any kernel's does.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/kernel.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

namespace detail {
class GraphState;
}

class Graph {
  public:
    /// Nothing: launching it does nothing.
    Graph() noexcept = default;

    AgentRef agent() const noexcept;
    /// Recorded kernels, in their order: update() counts them from zero.
    std::size_t kernels() const noexcept;
    /// Everything recorded, kernels included.
    std::size_t nodes() const noexcept;

    /// Replays it. Returns when it is submitted. Throws InvalidArgument for a stream of another agent; what the
    /// recorded calls throw.
    void launch(Stream& stream, Deadline deadline = {}) const;

    /// Replaces a kernel's launch: other arguments, another grid, even another kernel. Checked like
    /// Kernel::launch, with nothing changed if that throws. A replay in flight keeps its arguments: waits, until
    /// `config.deadline`, only if the last two updates' replays both are in flight still.
    template <class... Args>
    void update(std::size_t index, const Kernel& kernel, const LaunchConfig& config, const Args&... args) {
        kernel.prepare(
            config, [&](const DispatchSpec& spec) { return begin_update(index, spec, config.deadline); }, args...);
        commit_update(index);
    }

  private:
    explicit Graph(std::shared_ptr<detail::GraphState> state) noexcept : state_(std::move(state)) {}
    std::byte* begin_update(std::size_t index, const DispatchSpec& spec, Deadline deadline);
    void commit_update(std::size_t index);

    std::shared_ptr<detail::GraphState> state_;
    friend class Stream;
};

}  // namespace hsadrv
