#include "hsadrv/stream/cooperative_stream.hpp"

#include <chrono>
#include <exception>

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
    : state_(
          std::make_shared<Allocation>(Allocation::from_pool(device_pool(stream.agent()), sizeof(shared::GridState)))),
      core_(std::make_unique<StreamCore>(stream.agent(), options_of(stream), true)) {
    core_->attach(state_);  // its packets may outlive it
    const std::byte zero{};
    core_->copier().fill(state_->data(), sizeof(shared::GridState), std::span(&zero, 1), {});
}

CooperativeStream::~CooperativeStream() = default;

void CooperativeStream::set_sizes(const Sizes& sizes, Deadline deadline) {
    if (sizes == sizes_) return;
    const auto base = reinterpret_cast<std::uint64_t>(state_->data());
    const auto put = [&](std::size_t offset, const auto& value) {
        core_->copier().copy(static_cast<std::byte*>(state_->data()) + offset, &value, sizeof value, deadline);
    };
    sizes_ = {};  // unknown, if one is not written
    const struct {
        std::uint64_t grids;
        std::uint32_t number, count;
        std::uint64_t before, items;
    } head{base + offsetof(shared::GridState, grids_meet), 0, 1, 0, sizes.workitems};
    static_assert(sizeof head == offsetof(shared::GridState, meet));
    put(0, head);
    put(offsetof(shared::GridState, workgroups), sizes.workgroups);
    sizes_ = sizes;
}

void CooperativeStream::launch(StreamCore& stream, const DispatchSpec& spec, const Sizes& sizes, const Write& write,
                               Deadline deadline) {
    static constexpr const char* call = "Kernel::launch (cooperative)";
    const CallOrder::Composite order = stream.keep_order(deadline, call);
    stream.await_room(deadline, call);  // for the packet that waits for the kernel
    core_->wait_for(stream.mark(), deadline);
    set_sizes(sizes, deadline);
    const auto fill = [&](std::byte* to, QueueRef queue) {
        write(to, queue, reinterpret_cast<std::uint64_t>(state_->data()));
    };
    core_->dispatch(spec, fill, deadline);
    try {
        stream.wait_for(core_->mark(), Deadline(std::chrono::nanoseconds(0)), Room::last);
    } catch (...) {
        stream.fail(std::current_exception());  // its later work may not overtake the kernel
        throw;
    }
}

}  // namespace hsadrv::detail
