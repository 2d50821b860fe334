#include "hsadrv/stream/graph_replay.hpp"

#include <exception>
#include <new>
#include <utility>

#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

GraphReplay::GraphReplay(StreamCore& stream, std::shared_ptr<GraphState> graph, Deadline deadline)
    : graph_(std::move(graph)), deadline_(deadline) {
    const GraphPlan& plan = graph_->plan();
    branches_.reserve(plan.branches);
    branches_.push_back(&stream);
    if (plan.branches == 1) {
        launch_.emplace(*graph_, std::span(&stream.timeline(), 1), leftovers_);
        return;
    }
    for (std::size_t number = 1; number < plan.branches; ++number)
        branches_.push_back(&stream.branch(number, deadline));
    std::vector<std::shared_ptr<Timeline>> timelines;
    for (StreamCore* branch : branches_) timelines.push_back(branch->timeline());
    launch_.emplace(*graph_, timelines, leftovers_);
    entered_.resize(plan.branches);
    done_.resize(plan.steps.size());
}

GraphReplay::~GraphReplay() {
    launch_.reset();
    for (StreamCore* branch : branches_) {
        try {
            branch->keep_alive(graph_);
        } catch (const std::bad_alloc&) {  // it is leaked
        }
    }
}

void GraphReplay::run() {
    try {
        submit();
    } catch (...) {
        try {
            join_all();
        } catch (...) {  // nothing that follows may run before the branches are complete
            branches_.front()->fail(std::current_exception());
            throw;
        }
        throw;
    }
}

void GraphReplay::submit() {
    const GraphPlan& plan = graph_->plan();
    if (plan.branches > 1) {
        branches_.front()->await_room(1, deadline_, "Graph::launch");  // to join the branches, whatever comes
        begin_ = branches_.front()->mark();
    }
    for (const GraphStep& step : plan.steps) submit(step);
    for (const std::uint32_t end : plan.ends) branches_.front()->wait_for(done_[end], deadline_);
}

void GraphReplay::submit(const GraphStep& step) {
    StreamCore& stream = *branches_[step.branch];
    if (!entered_.empty()) entered_[step.branch] = true;
    if (step.waits_for_begin) stream.wait_for(begin_, deadline_);
    for (const std::uint32_t other : step.waits) stream.wait_for(done_[other], deadline_);
    const auto packets = launch_->packets(step);
    if (packets.empty())
        graph_->call(step)(stream, deadline_);
    else
        stream.put_run(packets, deadline_);
    if (step.awaited) done_[static_cast<std::size_t>(&step - graph_->plan().steps.data())] = stream.mark();
}

/// The deadline may have passed, and the room that others may use be full.
void GraphReplay::join_all() {
    for (std::size_t i = 1; i < entered_.size(); ++i)
        if (entered_[i]) branches_.front()->wait_for(branches_[i]->mark(), Deadline::never(), Room::last);
}

}  // namespace hsadrv::detail
