// Internal: one replay of a graph on a stream and its branches.
//
//   GraphReplay replay(stream, graph, deadline);
//   replay.run();
//
// Branches that do not follow another one wait for what the stream did before; at the end the stream waits for all
// branches. If the launch is cut short, what was enqueued runs, and the stream waits for it all the same. Thread
// safety: none; the caller keeps the stream's order. Borrows the stream.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hsadrv/deadline.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/graph_state.hpp"

namespace hsadrv::detail {

class GraphReplay {
  public:
    GraphReplay(StreamCore& stream, std::shared_ptr<GraphState> graph, Deadline deadline);
    GraphReplay(const GraphReplay&) = delete;
    GraphReplay& operator=(const GraphReplay&) = delete;
    /// The streams keep the graph until they have read its packets' arguments.
    ~GraphReplay();

    void run();

  private:
    void submit();
    void submit(const GraphStep& step);
    void join_all();

    std::shared_ptr<GraphState> graph_;
    Deadline deadline_;
    std::vector<StreamCore*> branches_;  // the first is the stream
    std::vector<bool> entered_;          // by a step; empty if there is one branch
    GraphState::Leftovers leftovers_;
    std::optional<GraphEnqueue> launch_;
    EventState begin_;
    std::vector<EventState> done_;  // of awaited steps; empty if there is one branch
};

}  // namespace hsadrv::detail
