// Plans of replays: every dependency is kept by a branch's order or by waits, whatever the graph.
#include "hsadrv/stream/graph_plan.hpp"

#include <algorithm>
#include <random>

#include "tests/support/catch.hpp"

using hsadrv::detail::GraphPlan;
using hsadrv::detail::GraphPlanNode;
using hsadrv::detail::GraphStep;
using hsadrv::detail::plan_graph;
using Kind = GraphPlanNode::Kind;

namespace {

using Nodes = std::vector<GraphPlanNode>;

GraphPlanNode kernel(std::vector<std::uint32_t> after) { return {Kind::kernel, std::move(after)}; }

/// For each step, all that have run when it starts, by the branch's order and its waits.
std::vector<std::vector<bool>> orders(const GraphPlan& plan) {
    std::vector<std::vector<bool>> before(plan.steps.size(), std::vector<bool>(plan.steps.size()));
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        const auto follow = [&](std::size_t other) {
            REQUIRE(other < s);
            before[s][other] = true;
            for (std::size_t i = 0; i < other; ++i) before[s][i] = before[s][i] || before[other][i];
        };
        for (const std::uint32_t other : plan.steps[s].waits) follow(other);
        for (std::size_t other = s; other-- > 0;) {
            if (plan.steps[other].branch != plan.steps[s].branch) continue;
            follow(other);
            break;
        }
    }
    return before;
}

std::vector<std::size_t> steps_of(const Nodes& graph, const GraphPlan& plan) {
    std::vector<std::size_t> step(graph.size(), SIZE_MAX);
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        for (const std::uint32_t n : plan.steps[s].nodes) {
            REQUIRE(step[n] == SIZE_MAX);
            step[n] = s;
        }
    }
    return step;
}

/// Throws away the empty nodes of a list.
void expand(const Nodes& graph, std::uint32_t node, std::vector<std::uint32_t>& to) {
    for (const std::uint32_t before : graph[node].after) {
        if (graph[before].kind == Kind::empty)
            expand(graph, before, to);
        else
            to.push_back(before);
    }
}

void check_plan(const Nodes& graph, const GraphPlan& plan, std::uint32_t most, std::size_t longest) {
    CHECK(plan.branches <= most);
    const auto before = orders(plan);
    const auto step_of = steps_of(graph, plan);
    for (std::uint32_t n = 0; n < graph.size(); ++n) {
        CHECK((step_of[n] == SIZE_MAX) == (graph[n].kind == Kind::empty));
        if (graph[n].kind == Kind::empty) continue;
        std::vector<std::uint32_t> after;
        expand(graph, n, after);
        for (const std::uint32_t a : after)
            CHECK((step_of[a] == step_of[n] ? a < n : bool(before[step_of[n]][step_of[a]])));
    }
    std::vector<bool> over(plan.steps.size());
    const auto end_with = [&](std::size_t s) {
        over[s] = true;
        for (std::size_t i = 0; i < s; ++i) over[i] = over[i] || before[s][i];
    };
    std::vector<bool> begun(plan.branches);
    begun[0] = true;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        const GraphStep& step = plan.steps[s];
        CHECK(step.branch < plan.branches);
        if (step.branch == 0) end_with(s);
        CHECK((begun[step.branch] || step.waits_for_begin || !step.waits.empty()));
        begun[step.branch] = true;
        const bool calls = graph[step.nodes.front()].kind == Kind::call;
        CHECK(step.nodes.size() <= (calls ? 1 : longest));
        for (const std::uint32_t other : step.waits) {
            CHECK(plan.steps[other].awaited);
            CHECK(plan.steps[other].branch != step.branch);
        }
    }
    for (const std::uint32_t end : plan.ends) {
        CHECK(plan.steps[end].awaited);
        end_with(end);
    }
    CHECK(std::all_of(over.begin(), over.end(), [](bool one) { return one; }));
}

Nodes random_graph(std::mt19937_64& random) {
    Nodes graph(random() % 40);
    const auto wide = random() % 3;
    for (std::uint32_t n = 0; n < graph.size(); ++n) {
        const auto kind = random() % 8;
        graph[n].kind = kind == 0 ? Kind::empty : kind < 3 ? Kind::call : Kind::kernel;
        for (auto edges = random() % (wide + 2); n > 0 && edges > 0; --edges)
            graph[n].after.push_back(static_cast<std::uint32_t>(
                random() % 2 ? n - 1 - random() % std::min<std::uint32_t>(n, 4) : random() % n));
    }
    return graph;
}

}  // namespace

TEST_CASE("a line of kernels is one step of one branch", "[graph]") {
    const GraphPlan plan = plan_graph(Nodes{kernel({}), kernel({0}), kernel({1})}, 8, 256);
    REQUIRE(plan.steps.size() == 1);
    CHECK(plan.steps[0].nodes == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(plan.branches == 1);
    CHECK(plan.ends.empty());
    CHECK_FALSE(plan.steps[0].awaited);
    CHECK(plan_graph(Nodes{kernel({}), kernel({0}), kernel({1})}, 8, 2).steps.size() == 2);
    CHECK(plan_graph({}, 8, 256).branches == 1);
}

TEST_CASE("a diamond has two branches and two waits", "[graph]") {
    const GraphPlan plan = plan_graph(Nodes{kernel({}), kernel({0}), kernel({0}), kernel({1, 2})}, 8, 256);
    CHECK(plan.branches == 2);
    REQUIRE(plan.steps.size() == 4);
    std::size_t waits = 0;
    for (const GraphStep& step : plan.steps) waits += step.waits.size();
    CHECK(waits == 2);
    CHECK(plan.ends.empty());  // the last node is the launching stream's
}

TEST_CASE("independent nodes have a branch each, up to the limit", "[graph]") {
    const Nodes graph(20, kernel({}));
    CHECK(plan_graph(graph, 8, 256).branches == 8);
    CHECK(plan_graph(graph, 1, 256).steps.size() == 1);
    CHECK(plan_graph(Nodes(3, kernel({})), 8, 256).branches == 3);
}

TEST_CASE("a wait that another one implies is left out, and a branch that is idle is used again", "[graph]") {
    // 0 forks into 1 and 2, which 3 joins; 4 and 5 follow 3.
    const Nodes graph{kernel({}), kernel({0}), kernel({0}), kernel({0, 1, 2}), kernel({3}), kernel({3, 0})};
    const GraphPlan plan = plan_graph(graph, 8, 256);
    CHECK(plan.branches == 2);
    for (const GraphStep& step : plan.steps) CHECK(step.waits.size() <= 1);
}

TEST_CASE("plans keep the dependencies of random graphs", "[graph]") {
    std::mt19937_64 random(1);
    for (int i = 0; i < 3000; ++i) {
        const Nodes graph = random_graph(random);
        for (const std::uint32_t most : {1u, 2u, 8u})
            for (const std::size_t longest : {1u, 3u, 256u})
                check_plan(graph, plan_graph(graph, most, longest), most, longest);
    }
}
