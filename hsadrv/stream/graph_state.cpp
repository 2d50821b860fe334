#include "hsadrv/stream/graph_state.hpp"

#include <algorithm>

#include "hsadrv/error.hpp"
#include "hsadrv/event.hpp"
#include "hsadrv/kernarg_ring.hpp"
#include "hsadrv/queue/known_kernels.hpp"

namespace hsadrv::detail {

namespace {

constexpr std::size_t chunk_bytes = 64u << 10;
// A run of kernels is reserved in one step; a longer run would take too much of the ring.
constexpr std::size_t longest_run = 256;

}  // namespace

std::size_t GraphState::nodes() const noexcept {
    std::size_t count = 0;
    for (const Step& step : steps_) count += step.call ? 1 : step.count;
    return count;
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

// The launch completes the last packet on the stream's signal; the other packets need none.
void GraphState::commit_kernel(const DispatchSpec& spec, std::byte* kernarg) {
    if (spec.names_queue)
        throw InvalidArgument(
            "hsadrv::Graph: a kernel with a hidden queue pointer cannot be recorded, because a replay may run on "
            "another queue; compile it with optimisation, which removes the argument if it is unused");
    const bool joins = !steps_.empty() && !steps_.back().call && steps_.back().count < longest_run;
    packets_.push_back(kernel_dispatch(spec, kernarg));
    Kernel kernel;
    kernel.blocks[0] = {kernarg, spec.kernarg_bytes, {}};
    kernel.code = kernel_code(spec.kernel_object);
    kernels_.push_back(std::move(kernel));
    if (!joins) steps_.push_back({.first = packets_.size() - 1});
    ++steps_.back().count;
    set_fences(steps_.back());
}

/// The first kernel of a run acquires and the last one releases at system scope; agent scope is enough between them.
void GraphState::set_fences(const Step& run) {
    for (std::size_t i = 0; i < run.count; ++i) {
        const PacketOrder order{.barrier = true,
                                .acquire = i == 0 ? FenceScope::system : FenceScope::agent,
                                .release = i + 1 == run.count ? FenceScope::system : FenceScope::agent};
        Packet& packet = packets_[run.first + i];
        packet.words[0] = (packet.words[0] & 0xffff0000u) | packet_header(PacketType::kernel_dispatch, order);
    }
}

std::shared_ptr<EventState> GraphState::begin_launch(const std::shared_ptr<const Timeline>& timeline) {
    auto launch = std::make_shared<EventState>(
        EventState{.timeline = timeline, .completion = {.epochs = UINT64_MAX}, .agent = agent_});
    const std::lock_guard lock(mutex_);
    std::erase_if(launches_, [](const Launch& other) { return other.complete->over(); });
    launches_.push_back({launched_++, launch});
    return launch;
}

void GraphState::end_launch(EventState& launch) noexcept {
    const std::lock_guard lock(mutex_);
    launch.completion.epochs = launch.timeline->submitted();
}

std::byte* GraphState::begin_update(std::size_t index, const DispatchSpec& spec, Deadline deadline) {
    if (index >= kernels_.size())
        throw InvalidArgument("hsadrv::Graph::update(" + std::to_string(index) + "): the graph has " +
                              std::to_string(kernels_.size()) + " kernels");
    if (spec.names_queue)
        throw InvalidArgument("hsadrv::Graph::update(" + std::to_string(index) +
                              "): a kernel with a hidden queue pointer cannot be replayed");
    Kernel& kernel = kernels_[index];
    Kernel::Block& next = kernel.blocks[1 - kernel.current];
    // A lost launch may still be in a ring, after another stream's packets: it keeps this block.
    bool taken = false;
    for (const auto& user : next.users) {
        if (user->over()) continue;
        if (user->lost())
            taken = true;
        else
            Event(user).synchronize(deadline);
    }
    if (taken || next.size_bytes < spec.kernarg_bytes || next.data == nullptr)
        next = {allocate(spec.kernarg_bytes), spec.kernarg_bytes, {}};
    else
        next.users.clear();
    kernel.next = spec;
    return next.data;
}

void GraphState::commit_update(std::size_t index) {
    Kernel& kernel = kernels_[index];
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(launches_, [](const Launch& launch) { return launch.complete->over(); });
        for (const Launch& launch : launches_)
            if (launch.number >= kernel.since) kernel.blocks[kernel.current].users.push_back(launch.complete);
        kernel.since = launched_;
    }
    kernel.current = 1 - kernel.current;
    kernel.code = kernel_code(kernel.next.kernel_object);
    const std::uint32_t header = packets_[index].words[0] & 0xffffu;
    Packet packet = kernel_dispatch(kernel.next, kernel.blocks[kernel.current].data);
    packet.words[0] = (packet.words[0] & 0xffff0000u) | header;
    packets_[index] = packet;
}

}  // namespace hsadrv::detail
