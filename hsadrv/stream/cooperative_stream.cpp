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

namespace {

/// The kernel is after what is on the stream, and before what follows.
class BesideStream : public CallOrder::Parts {
  public:
    BesideStream(StreamCore& stream, StreamCore& beside) : stream_(stream), beside_(beside) {}
    void join() override { stream_.wait_for(beside_.mark(), Deadline::never(), Room::last); }
    void follow() override { beside_.wait_for(stream_.mark(), Deadline::never(), Room::last); }
    void fail(std::exception_ptr error) noexcept override { stream_.fail(std::move(error)); }

  private:
    StreamCore &stream_, &beside_;
};

}  // namespace

void CooperativeStream::launch(StreamCore& stream, const DispatchSpec& spec, const Sizes& sizes, const Write& write,
                               Deadline deadline) {
    static constexpr const char* call = "Kernel::launch (cooperative)";
    BesideStream parts(stream, *core_);
    CallOrder::Composite order = stream.keep_order(deadline, call);
    stream.await_room(deadline, call);  // for the packet that waits for the kernel
    const std::uint64_t state = state_of(sizes, deadline);
    order.set_parts(parts);
    core_->wait_for(stream.mark(), deadline);
    const auto fill = [&](std::byte* to, QueueRef queue) { write(to, queue, state); };
    core_->dispatch(spec, fill, deadline);
    try {
        parts.join();
    } catch (...) {
        parts.fail(std::current_exception());  // the stream's later work may not overtake the kernel
        throw;
    }
}

}  // namespace hsadrv::detail
