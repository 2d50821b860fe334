#include "hsadrv/stream/graph_state.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "hsadrv/error.hpp"
#include "hsadrv/event.hpp"
#include "hsadrv/kernarg_ring.hpp"
#include "hsadrv/queue/known_kernels.hpp"

namespace hsadrv::detail {

namespace {

constexpr std::size_t chunk_bytes = 64u << 10;
// A run of kernels is reserved in one step; a longer run would take too much of the ring.
constexpr std::size_t longest_run = 256;
// Each needs a stream. A GPU runs few kernels at once, and has few queues.
constexpr std::uint32_t most_branches = 8;
constexpr unsigned deepest = 64;

/// The first kernel of a step acquires and the last one releases at system scope; agent scope is enough between them.
void set_fences(std::span<Packet> run) {
    for (std::size_t i = 0; i < run.size(); ++i) {
        const PacketOrder order{.barrier = true,
                                .acquire = i == 0 ? FenceScope::system : FenceScope::agent,
                                .release = i + 1 == run.size() ? FenceScope::system : FenceScope::agent};
        run[i].words[0] = (run[i].words[0] & 0xffff0000u) | packet_header(PacketType::kernel_dispatch, order);
    }
}

}  // namespace

GraphState::GraphState(AgentRef agent) : agent_(agent) {
    static std::atomic<std::uint64_t> made{0};  // relaxed: only distinct
    id_ = made.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool GraphLaunch::over() const noexcept {
    return std::all_of(branches.begin(), branches.end(), [](const auto& branch) { return branch->over(); });
}

bool GraphState::is_kernels(const GraphStep& step) const noexcept {
    return nodes_[step.nodes.front()].kind == GraphPlanNode::Kind::kernel;
}

bool GraphState::is_one_run() const noexcept { return plan_.steps.size() == 1 && is_kernels(plan_.steps.front()); }

std::span<const Packet> GraphState::packets(const GraphLaunch& launch, const GraphStep& step) const noexcept {
    const auto number = static_cast<std::size_t>(&step - plan_.steps.data());
    if (!is_kernels(step)) return {};
    return std::span(launch.packets->all).subspan(first_of_[number], step.nodes.size());
}

std::optional<std::size_t> GraphState::kernel_of(std::uint32_t node) const noexcept {
    const auto found = std::find_if(kernels_.begin(), kernels_.end(), [&](const auto& k) { return k.node == node; });
    if (found == kernels_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - kernels_.begin());
}

// ---- recording

std::byte* GraphState::begin_kernel(const DispatchSpec& spec) {
    const std::lock_guard lock(recording_);
    return allocate(spec.kernarg_bytes);
}

std::byte* GraphState::allocate(std::size_t size_bytes) {
    const std::size_t wanted = KernargRing::room_bytes(size_bytes);
    if (chunks_.empty() || chunks_.back().size_bytes() - used_bytes_ < wanted) {
        chunks_.push_back(Allocation::from_pool(host_pool(HostMemory::kernarg), std::max(chunk_bytes, wanted)));
        used_bytes_ = 0;
    }
    std::byte* data = static_cast<std::byte*>(chunks_.back().data()) + used_bytes_;
    used_bytes_ += wanted;
    return data;
}

std::uint32_t GraphState::add_node(GraphPlanNode::Kind kind, const Nodes& after) {
    calls_.emplace_back();
    nodes_.push_back({kind, after});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

// The launch completes the last packet of a step on the stream's signal; the other packets need none.
std::uint32_t GraphState::commit_kernel(const DispatchSpec& spec, std::byte* kernarg, const Nodes& after) {
    if (spec.names_queue)
        throw InvalidArgument(
            "hsadrv::Graph: a kernel with a hidden queue pointer cannot be recorded, because a replay may run on "
            "another queue; compile it with optimisation, which removes the argument if it is unused");
    Kernel kernel;
    kernel.blocks[0] = {kernarg, spec.kernarg_bytes, {}, {}};
    kernel.code = kernel_code(spec.kernel_object);
    const std::lock_guard lock(recording_);
    kernel.node = add_node(GraphPlanNode::Kind::kernel, after);
    recorded_.push_back(kernel_dispatch(spec, kernarg));
    kernels_.push_back(std::move(kernel));
    return kernels_.back().node;
}

std::uint32_t GraphState::add(Call call, const Nodes& after) {
    const std::lock_guard lock(recording_);
    const std::uint32_t node = add_node(GraphPlanNode::Kind::call, after);
    calls_.back() = std::move(call);
    return node;
}

std::uint32_t GraphState::add_empty(const Nodes& after) {
    const std::lock_guard lock(recording_);
    return add_node(GraphPlanNode::Kind::empty, after);
}

void GraphState::keep_alive(std::shared_ptr<const void> object) {
    const std::lock_guard lock(recording_);
    kept_.push_back(std::move(object));
}

void GraphState::nest(const GraphState& inner) {
    const std::lock_guard lock(recording_);
    depth_ = std::max(depth_, inner.depth_ + 1);  // the inner one is finished
    if (depth_ > deepest)
        throw InvalidArgument("hsadrv::Graph: a graph holds at most " + std::to_string(deepest) +
                              " others, one within the other");
}

void GraphState::drop_from(std::uint32_t node) noexcept {
    const std::lock_guard lock(recording_);
    while (!kernels_.empty() && kernels_.back().node >= node) {
        kernels_.pop_back();
        recorded_.pop_back();
    }
    for (std::size_t n = node; n < nodes_.size(); ++n) {
        nodes_[n].kind = GraphPlanNode::Kind::empty;
        calls_[n] = nullptr;
    }
    dropped_ += nodes_.size() - node;
}

GraphState::Nodes GraphState::outside(const Nodes& nodes, const Nodes& last) const {
    const std::lock_guard lock(recording_);
    std::vector<bool> inside(nodes_.size());
    for (const std::uint32_t node : last) inside[node] = true;
    for (std::size_t node = nodes_.size(); node-- > 0;) {
        if (!inside[node]) continue;
        for (const std::uint32_t before : nodes_[node].after) inside[before] = true;
    }
    Nodes found;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(found), [&](std::uint32_t n) { return !inside[n]; });
    return found;
}

void GraphState::finish() {
    const std::lock_guard lock(recording_);
    plan_ = plan_graph(nodes_, most_branches, longest_run);
    lay_out_packets();
}

void GraphState::lay_out_packets() {
    std::vector<std::size_t> kernel_at(nodes_.size());
    for (std::size_t k = 0; k < kernels_.size(); ++k) kernel_at[kernels_[k].node] = k;
    packets_ = std::make_shared<GraphPackets>();
    std::vector<Packet>& ordered = packets_->all;
    ordered.reserve(recorded_.size());
    for (const GraphStep& step : plan_.steps) {
        first_of_.push_back(ordered.size());
        if (!is_kernels(step)) continue;
        for (const std::uint32_t node : step.nodes) {
            kernels_[kernel_at[node]].packet = ordered.size();
            ordered.push_back(recorded_[kernel_at[node]]);
        }
        set_fences(std::span(ordered).subspan(first_of_.back()));
    }
    recorded_ = {};
}

// ---- launching

// Those of the caller's own timeline need no memory, and destroy nothing. Others stay if there is no memory.
void GraphState::drop_launches_that_are_over(const Timeline* timeline, Leftovers& leftovers) {
    std::erase_if(launches_, [&](const Launch& other) {
        if (!other.launch->over()) return false;
        const bool own = other.launch->branches.size() == 1 && other.launch->branches[0]->timeline.get() == timeline;
        try {
            if (!own) leftovers.launches.push_back(other.launch);
        } catch (const std::bad_alloc&) {
            return false;
        }
        return true;
    });
}

std::shared_ptr<GraphLaunch> GraphState::begin_launch(std::span<const std::shared_ptr<Timeline>> branches,
                                                      Leftovers& leftovers) {
    auto launch = std::make_shared<GraphLaunch>();
    launch->branches.reserve(branches.size());
    for (const auto& timeline : branches)
        launch->branches.push_back(std::make_shared<EventState>(
            EventState{.timeline = timeline, .completion = {.epochs = UINT64_MAX}, .agent = agent_}));
    const std::lock_guard lock(mutex_);
    drop_launches_that_are_over(branches.front().get(), leftovers);
    launches_.push_back({launched_, launch});
    ++launched_;
    launch->packets = packets_;
    return launch;
}

void GraphState::end_launch(GraphLaunch& launch, Leftovers& leftovers) noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& branch : launch.branches) branch->completion.epochs = branch->timeline->submitted();
    leftovers.packets.swap(launch.packets);
}

// ---- updating

std::byte* GraphState::begin_update(std::size_t index, const DispatchSpec& spec, Deadline deadline) {
    if (index >= kernels_.size())
        throw InvalidArgument("hsadrv::Graph::update(" + std::to_string(index) + "): the graph has " +
                              std::to_string(kernels_.size()) + " kernels");
    if (spec.names_queue)
        throw InvalidArgument("hsadrv::Graph::update(" + std::to_string(index) +
                              "): a kernel with a hidden queue pointer cannot be replayed");
    Kernel& kernel = kernels_[index];
    Kernel::Block& next = kernel.blocks[1 - kernel.current];
    // A launch that is being enqueued, or is lost and may still be in a ring, after another stream's packets: it keeps
    // this block.
    bool taken = false;
    for (const auto& user : next.users) {
        {
            const std::lock_guard lock(mutex_);
            if (user->packets) {  // it is being enqueued, which may take as long as this update
                taken = true;
                continue;
            }
        }
        for (const auto& branch : user->branches) {
            if (branch->over()) continue;
            if (branch->lost())
                taken = true;
            else
                Event(branch).synchronize(deadline);
        }
    }
    if (taken) kept_.insert(kept_.end(), next.holds.begin(), next.holds.end());
    if (taken || next.size_bytes < spec.kernarg_bytes || next.data == nullptr)
        next = {allocate(spec.kernarg_bytes), spec.kernarg_bytes, {}, {}};
    next.users.clear();
    next.holds.clear();
    kernel.next = spec;
    return next.data;
}

void GraphState::commit_update(std::size_t index, Holds holds) {
    Leftovers leftovers;  // destroyed without the lock
    Kernel& kernel = kernels_[index];
    std::shared_ptr<const void> code = kernel_code(kernel.next.kernel_object);
    const std::lock_guard lock(mutex_);
    if (packets_.use_count() > 1) {  // a launch reads them
        auto fresh = std::make_shared<GraphPackets>(GraphPackets{packets_->all, {}});
        packets_->replaced.push_back(kernel.code);
        packets_ = std::move(fresh);
    }
    drop_launches_that_are_over(nullptr, leftovers);
    for (const Launch& launch : launches_)
        if (launch.number >= kernel.since) kernel.blocks[kernel.current].users.push_back(launch.launch);
    kernel.since = launched_;
    kernel.current = 1 - kernel.current;
    kernel.blocks[kernel.current].holds = std::move(holds);
    kernel.code = std::move(code);
    Packet& packet = packets_->all[kernel.packet];
    const std::uint32_t header = packet.words[0] & 0xffffu;
    packet = kernel_dispatch(kernel.next, kernel.blocks[kernel.current].data);
    packet.words[0] = (packet.words[0] & 0xffff0000u) | header;
}

}  // namespace hsadrv::detail
