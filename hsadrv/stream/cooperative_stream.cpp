#include "hsadrv/stream/cooperative_stream.hpp"

#include <exception>
#include <utility>

#include "hsadrv/error.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "shared/grid_state.hpp"

namespace hsadrv::detail {

namespace {

StreamOptions options_of(const StreamCore& stream) {
    return {.name = "cooperative launches of " + stream.label().substr(0, stream.label().rfind(" on ")),
            .packets = 256,
            .kernarg_bytes = 64u << 10};
}

}  // namespace

CooperativeStream::CooperativeStream(const StreamCore& stream)
    : core_(std::make_unique<StreamCore>(stream.agent(), options_of(stream), true)) {}

CooperativeStream::~CooperativeStream() = default;

std::byte* CooperativeStream::new_state() {
    constexpr std::size_t block_bytes = 4096;
    if (next_ == end_) {
        const auto block =
            std::make_shared<Allocation>(Allocation::from_pool(device_pool(core_->agent()), block_bytes));
        core_->attach(block);  // its packets may outlive this
        next_ = static_cast<std::byte*>(block->data());
        end_ = next_ + block_bytes;
    }
    return std::exchange(next_, next_ + sizeof(shared::GridState));
}

std::uint64_t CooperativeStream::state_of(const Sizes& sizes, Deadline deadline) {
    std::byte* place = nullptr;
    {
        const std::lock_guard lock(mutex_);
        for (const State& state : states_)
            if (state.sizes == sizes) return state.address;
        states_.reserve(states_.size() + 1);
        place = new_state();
    }
    const auto address = reinterpret_cast<std::uint64_t>(place);
    const shared::GridState state{.grids = address + offsetof(shared::GridState, grids_meet),
                                  .grid_number = 0,
                                  .grid_count = 1,
                                  .items_before = 0,
                                  .items = sizes.workitems,
                                  .meet = {},
                                  .workgroups = sizes.workgroups,
                                  .arrived = 0,
                                  .passed = 0,
                                  .grids_meet = {},
                                  .reserved = 0};
    core_->copier().copy(place, &state, sizeof state, deadline);
    const std::lock_guard lock(mutex_);
    states_.push_back({sizes, address});
    return address;
}

// From the mark on nothing waits, so that no host function goes between: its work would run beside the kernel. But for
// the room of the queue, which other streams' launches may take meanwhile.
void CooperativeStream::launch(StreamCore& stream, const DispatchSpec& spec, const Sizes& sizes, const Write& write,
                               Deadline deadline) {
    static constexpr const char* call = "Kernel::launch (cooperative)";
    const LateHolds late;
    const CallOrder::Composite order = stream.keep_order(deadline, call);
    stream.await_room(1, deadline, call);  // for the packet that waits for the kernel
    const std::uint64_t state = state_of(sizes, deadline);
    stream.profile_as_this(*core_, deadline);
    // A copy and the stream are waited for, and a kernel may be traced or profiled.
    core_->await_room(5, deadline, call, spec.kernarg_bytes);
    core_->wait_for(stream.mark(), deadline);
    const auto fill = [&](std::byte* to, QueueRef queue) { write(to, queue, state); };
    core_->dispatch(spec, fill, deadline);
    try {
        stream.wait_for(core_->mark(), Deadline::never(), Room::last);
    } catch (...) {
        stream.fail(std::current_exception());  // its later work may not overtake the kernel
        throw;
    }
}

}  // namespace hsadrv::detail
