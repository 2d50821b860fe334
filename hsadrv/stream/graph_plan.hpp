// Internal: which branch of a replay runs each node of a graph, and what the branches wait for.
//
//   GraphPlan plan = plan_graph(nodes, 8);
//   for (const GraphStep& step : plan.steps) …      // wait for step.waits, run step.nodes on branch step.branch
//
// A branch runs its nodes in order, so that only edges between branches need a wait; waits that another one implies are
// left out. Consecutive kernels of a branch are one step, which is enqueued with one doorbell, unless another branch
// waits for a kernel in the middle. Branch 0 is the stream on which the graph is launched.
//
// Pure. Thread safety: no state. Throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hsadrv::detail {

struct GraphPlanNode {
    enum class Kind : std::uint8_t {
        kernel,
        call,   ///< of the stream: a copy, a host function, …
        empty,  ///< only orders
    };
    Kind kind = Kind::kernel;
    std::vector<std::uint32_t> after = {};  ///< earlier nodes
};

struct GraphStep {
    std::uint32_t branch = 0;
    std::vector<std::uint32_t> nodes = {};  ///< kernels, or one call
    std::vector<std::uint32_t> waits = {};  ///< earlier steps, of other branches
    bool waits_for_begin = false;           ///< for what the launching stream did before
    bool awaited = false;                   ///< by another branch, or by the launching stream at the end
};

struct GraphPlan {
    std::uint32_t branches = 1;
    std::vector<GraphStep> steps = {};     ///< in an order in which they may be enqueued
    std::vector<std::uint32_t> ends = {};  ///< steps that the launching stream waits for after its own
};

/// `most_branches`: at least one; with fewer than the graph is wide, independent nodes share one. At most
/// `longest_step` kernels are one step.
GraphPlan plan_graph(std::span<const GraphPlanNode> nodes, std::uint32_t most_branches, std::size_t longest_step);

}  // namespace hsadrv::detail
