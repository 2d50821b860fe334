#include "hsadrv/stream/graph_plan.hpp"

#include <algorithm>

namespace hsadrv::detail {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

/// For each branch, how many of its nodes are complete.
using Clock = std::vector<std::uint32_t>;

void advance(Clock& clock, const Clock& other) {
    for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

class Planner {
  public:
    Planner(std::span<const GraphPlanNode> nodes, std::uint32_t most_branches, std::size_t longest_step)
        : nodes_(nodes), most_(most_branches), longest_(longest_step), placed_(nodes.size()) {}

    GraphPlan plan() {
        for (std::uint32_t n = 0; n < nodes_.size(); ++n) place(n);
        find_ends();
        make_steps();
        return std::move(plan_);
    }

  private:
    struct Placed {
        std::uint32_t branch = none;       // none: empty
        std::uint32_t position = 0;        // in its branch
        Clock complete;                    // when it is complete
        std::vector<std::uint32_t> after;  // without empty nodes
        std::vector<std::uint32_t> waits;  // nodes of other branches
        bool awaited = false;
    };
    struct Branch {
        std::vector<std::uint32_t> nodes;
    };

    /// Nodes before it that do something: empty ones are replaced by theirs.
    std::vector<std::uint32_t> before(std::uint32_t n) const {
        std::vector<std::uint32_t> found;
        for (const std::uint32_t a : nodes_[n].after) {
            if (placed_[a].branch == none)
                found.insert(found.end(), placed_[a].after.begin(), placed_[a].after.end());
            else
                found.push_back(a);
        }
        std::sort(found.begin(), found.end(), std::greater<>());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }

    bool is_complete(const Clock& clock, std::uint32_t n) const {
        return clock[placed_[n].branch] > placed_[n].position;
    }

    std::uint32_t choose(const Placed& node, const Clock& known) const {
        std::uint32_t first =
            none;  // it continues the branch of a node that it follows: the launching stream's, if it can
        for (const std::uint32_t a : node.after)
            if (branches_[placed_[a].branch].nodes.back() == a) first = std::min(first, placed_[a].branch);
        if (first != none) return first;
        for (std::uint32_t b = 0; b < branches_.size(); ++b)  // one that is idle then
            if (is_complete(known, branches_[b].nodes.back())) return b;
        if (branches_.size() < most_) return static_cast<std::uint32_t>(branches_.size());
        const auto shortest = std::min_element(branches_.begin(), branches_.end(), [](const auto& a, const auto& b) {
            return a.nodes.size() < b.nodes.size();
        });
        return static_cast<std::uint32_t>(shortest - branches_.begin());
    }

    void place(std::uint32_t n) {
        Placed& node = placed_[n];
        node.after = before(n);
        if (nodes_[n].kind == GraphPlanNode::Kind::empty) return;
        Clock known(most_);
        for (const std::uint32_t a : node.after) advance(known, placed_[a].complete);
        node.branch = choose(node, known);
        if (node.branch == branches_.size()) branches_.emplace_back();
        Branch& branch = branches_[node.branch];
        Clock here(most_);
        if (!branch.nodes.empty()) here = placed_[branch.nodes.back()].complete;
        for (const std::uint32_t a : node.after) {  // the latest first: it implies most of the others
            if (is_complete(here, a)) continue;
            node.waits.push_back(a);
            placed_[a].awaited = true;
            advance(here, placed_[a].complete);
        }
        node.position = static_cast<std::uint32_t>(branch.nodes.size());
        branch.nodes.push_back(n);
        here[node.branch] = node.position + 1;
        node.complete = std::move(here);
    }

    void find_ends() {
        if (branches_.empty()) return;
        Clock known = placed_[branches_[0].nodes.back()].complete;
        for (std::size_t b = branches_.size(); b-- > 1;) {
            const std::uint32_t last = branches_[b].nodes.back();
            if (is_complete(known, last)) continue;
            ends_.push_back(last);
            placed_[last].awaited = true;
            advance(known, placed_[last].complete);
        }
    }

    bool continues(const GraphStep& step, std::uint32_t n) const {
        return step.nodes.size() < longest_ && nodes_[step.nodes.back()].kind == GraphPlanNode::Kind::kernel &&
               nodes_[n].kind == GraphPlanNode::Kind::kernel && !placed_[step.nodes.back()].awaited &&
               placed_[n].waits.empty();
    }

    /// A step's waits end before its first node, and others wait for its last one: so the order of the first nodes is
    /// one in which steps may be enqueued.
    void make_steps() {
        for (std::uint32_t b = 0; b < branches_.size(); ++b) {
            std::size_t first = plan_.steps.size();
            for (const std::uint32_t n : branches_[b].nodes) {
                const bool fresh = plan_.steps.size() == first || !continues(plan_.steps.back(), n);
                if (fresh) plan_.steps.push_back({.branch = b});
                plan_.steps.back().nodes.push_back(n);
            }
            if (b > 0) plan_.steps[first].waits_for_begin = placed_[branches_[b].nodes.front()].waits.empty();
        }
        std::sort(plan_.steps.begin(), plan_.steps.end(),
                  [](const GraphStep& a, const GraphStep& b) { return a.nodes.front() < b.nodes.front(); });
        std::vector<std::uint32_t> step_of(nodes_.size(), none);
        for (std::uint32_t s = 0; s < plan_.steps.size(); ++s)
            for (const std::uint32_t n : plan_.steps[s].nodes) step_of[n] = s;
        for (GraphStep& step : plan_.steps) {
            for (const std::uint32_t n : placed_[step.nodes.front()].waits) step.waits.push_back(step_of[n]);
            step.awaited = placed_[step.nodes.back()].awaited;
        }
        for (const std::uint32_t n : ends_) plan_.ends.push_back(step_of[n]);
        plan_.branches = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(branches_.size()));
    }

    std::span<const GraphPlanNode> nodes_;
    std::uint32_t most_;
    std::size_t longest_;
    std::vector<Placed> placed_;
    std::vector<Branch> branches_;
    std::vector<std::uint32_t> ends_;
    GraphPlan plan_;
};

}  // namespace

GraphPlan plan_graph(std::span<const GraphPlanNode> nodes, std::uint32_t most_branches, std::size_t longest_step) {
    return Planner(nodes, most_branches, longest_step).plan();
}

}  // namespace hsadrv::detail
