// Internal: what a Graph consists of: nodes with their dependencies, argument blocks, and the steps of a replay.
//
// Thread safety: several streams of one capture may record at once. finish() and updates by one thread. Launches from
// any thread, also during an update, which waits for no launch that is being enqueued: that one has its packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "hsadrv/memory.hpp"
#include "hsadrv/packet.hpp"
#include "hsadrv/stream.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/graph_plan.hpp"

namespace hsadrv::detail {

class StreamCore;

/// The packets of replays, in the order of the steps. Not changed while a replay that is being enqueued reads them.
struct GraphPackets {
    std::vector<Packet> all;
    std::vector<std::shared_ptr<const void>> replaced;  ///< code of kernels that an update has replaced
};

/// One replay: what each of its branches has in flight.
struct GraphLaunch {
    std::vector<std::shared_ptr<EventState>> branches;
    std::shared_ptr<const GraphPackets> packets;  ///< while it is being enqueued

    bool over() const noexcept;
};

class GraphState {
  public:
    /// A call of a stream, made without holding its mutex.
    using Call = std::function<void(StreamCore&, Deadline)>;
    /// Numbers of nodes, in any order.
    using Nodes = std::vector<std::uint32_t>;
    using Holds = std::vector<std::shared_ptr<const void>>;

    explicit GraphState(AgentRef agent);

    /// Unique in the process, and never zero.
    std::uint64_t id() const noexcept { return id_; }
    AgentRef agent() const noexcept { return agent_; }
    /// Of the replays; after finish().
    const GraphPlan& plan() const noexcept { return plan_; }
    /// A step's packets; empty for a call.
    std::span<const Packet> packets(const GraphLaunch& launch, const GraphStep& step) const noexcept;
    /// Whether a replay is one step of kernels.
    bool is_one_run() const noexcept;
    const Call& call(const GraphStep& step) const noexcept { return calls_[step.nodes.front()]; }
    std::size_t kernels() const noexcept { return kernels_.size(); }
    std::size_t nodes() const noexcept { return nodes_.size() - dropped_; }
    /// Nodes are numbered below this; it includes those that were dropped.
    std::size_t numbers() const noexcept { return nodes_.size(); }
    /// The number of a node among the kernels.
    std::optional<std::size_t> kernel_of(std::uint32_t node) const noexcept;

    // Recording. Each node follows those of `after`, which were recorded before.
    std::byte* begin_kernel(const DispatchSpec& spec);
    std::uint32_t commit_kernel(const DispatchSpec& spec, std::byte* kernarg, const Nodes& after);
    std::uint32_t add(Call call, const Nodes& after);
    std::uint32_t add_empty(const Nodes& after);
    void keep_alive(std::shared_ptr<const void> object);
    /// It will replay `inner`. Throws InvalidArgument if graphs would be nested too deep: replays and destructors
    /// recurse.
    void nest(const GraphState& inner);
    /// Takes back the nodes from this number on. They stay as empty ones, because other streams of the capture, and
    /// events, may name them.
    void drop_from(std::uint32_t node) noexcept;
    /// Those of the nodes that none of `last` depends on, directly or through others.
    Nodes outside(const Nodes& nodes, const Nodes& last) const;
    /// Ends the recording: plans the replays.
    void finish();

    // Updating: begin returns the block for the new arguments, commit makes it the one of the next launch.
    std::byte* begin_update(std::size_t index, const DispatchSpec& spec, Deadline deadline);
    /// `holds`: what the arguments need, until another update replaces them and no replay reads them.
    void commit_update(std::size_t index, Holds holds = {});

    /// What a launch lets go of, perhaps code: to be destroyed without a lock.
    struct Leftovers {
        std::shared_ptr<const GraphPackets> packets;
        std::vector<std::shared_ptr<const GraphLaunch>> launches;
    };
    // Launching: begin before the first packet is submitted, end after the last one, when no other call has submitted
    // to the branches meanwhile.
    std::shared_ptr<GraphLaunch> begin_launch(std::span<const std::shared_ptr<Timeline>> branches,
                                              Leftovers& leftovers);
    void end_launch(GraphLaunch& launch, Leftovers& leftovers) noexcept;

  private:
    /// A kernel's argument blocks: one in use, one for the next update.
    struct Kernel {
        struct Block {
            std::byte* data = nullptr;
            std::size_t size_bytes = 0;
            std::vector<std::shared_ptr<const GraphLaunch>> users;  // that read it
            Holds holds;                                            // what its arguments need
        };
        std::uint32_t node = 0;
        std::size_t packet = 0;  // its index
        std::array<Block, 2> blocks;
        unsigned current = 0;
        std::uint64_t since = 0;  // the first launch that reads the current block
        DispatchSpec next;
        std::shared_ptr<const void> code;  // keeps its executable alive; null: made elsewhere
    };

    std::uint32_t add_node(GraphPlanNode::Kind kind, const Nodes& after);
    std::byte* allocate(std::size_t size_bytes);
    bool is_kernels(const GraphStep& step) const noexcept;
    void lay_out_packets();

    AgentRef agent_;
    std::uint64_t id_;
    mutable std::mutex recording_;  // guards what is recorded, until finish()
    std::vector<GraphPlanNode> nodes_;
    std::vector<Call> calls_;  // of the node with the same number
    std::size_t dropped_ = 0;
    unsigned depth_ = 0;  // of graphs within this one
    std::vector<Kernel> kernels_;
    std::vector<Packet> recorded_;       // packets in the order of recording
    std::vector<std::size_t> first_of_;  // of the step's packets
    GraphPlan plan_;
    std::vector<Allocation> chunks_;
    std::size_t used_bytes_ = 0;  // of the last chunk
    Holds kept_;

    struct Launch {
        std::uint64_t number;
        std::shared_ptr<const GraphLaunch> launch;
    };
    void drop_launches_that_are_over(const Timeline* timeline, Leftovers& leftovers);
    std::mutex mutex_;                       // guards the members below
    std::shared_ptr<GraphPackets> packets_;  // of the next launch
    std::vector<Launch> launches_;           // in flight
    std::uint64_t launched_ = 0;
};

/// From the begin of a launch to its end, with the order of its stream: only then what it has in flight is its own.
/// Borrows the graph, and what outlives the stream's mutex.
class GraphEnqueue {
  public:
    GraphEnqueue(GraphState& graph, std::span<const std::shared_ptr<Timeline>> branches,
                 GraphState::Leftovers& leftovers)
        : graph_(graph), leftovers_(leftovers), launch_(graph.begin_launch(branches, leftovers)) {}
    GraphEnqueue(const GraphEnqueue&) = delete;
    GraphEnqueue& operator=(const GraphEnqueue&) = delete;
    ~GraphEnqueue() { graph_.end_launch(*launch_, leftovers_); }

    std::span<const Packet> packets(const GraphStep& step) const noexcept { return graph_.packets(*launch_, step); }

  private:
    GraphState& graph_;
    GraphState::Leftovers& leftovers_;
    const std::shared_ptr<GraphLaunch> launch_;
};

}  // namespace hsadrv::detail
