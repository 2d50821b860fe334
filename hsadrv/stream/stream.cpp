#include "hsadrv/stream.hpp"

#include <new>

#include "hsadrv/base/leak.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv {

namespace {
AgentRef require_gpu(AgentRef agent) {
    refuse_in_forked_child("hsadrv::Stream");
    if (!agent || !agent.is_gpu())
        throw InvalidArgument("hsadrv::Stream(" + agent.label() + "): a stream needs a GPU; see Driver::gpus()");
    return agent;
}

/// Declines every launch; used by streams without a core.
detail::LaunchLane& closed_lane() noexcept {
    static auto* const lane = [] {
        auto* closed = new detail::LaunchLane;
        closed->mutex.disable_fast_path();
        return closed;
    }();
    return *lane;
}
}  // namespace

Stream::Stream(AgentRef gpu, const StreamOptions& options)
    : core_(std::make_unique<detail::StreamCore>(require_gpu(gpu), options)),
      lane_(&core_->lane()),
      drain_(options.drain) {
    core_->handle()->follow(this);
}

detail::StreamCore& Stream::core() const {
    if (!core_) [[unlikely]]
        throw StreamEnded("hsadrv::Stream: the stream is closed or moved-from; make a new one");
    return *core_;
}

Stream::Stream(Stream&& other) noexcept
    : core_(std::move(other.core_)), lane_(std::exchange(other.lane_, &closed_lane())), drain_(other.drain_) {
    if (core_) core_->handle()->follow(this);
}

Stream& Stream::operator=(Stream&& other) noexcept {
    if (this == &other) return *this;
    close(drain_);
    core_ = std::move(other.core_);
    lane_ = std::exchange(other.lane_, &closed_lane());
    drain_ = other.drain_;
    if (core_) core_->handle()->follow(this);
    return *this;
}

Stream::~Stream() { close(drain_); }

bool Stream::close(Deadline deadline) noexcept {
    if (!core_) return true;
    lane_ = &closed_lane();
    core_->handle()->follow(nullptr);
    if (in_forked_child()) {  // the parent's; its locks may be held forever
        static_cast<void>(core_.release());
        return false;
    }
    bool complete = false;
    try {
        const bool whole = core_->abandon(deadline);
        core_->synchronize(deadline);
        complete = whole;
    } catch (...) {
        // A failed stream, an exception of a host function, or a deadline that passed: the remaining work ends with the
        // queue.
    }
    core_.reset();
    return complete;
}

QueueRef Stream::queue() const { return core().queue(); }

void Stream::submit(std::span<const Packet> packets, Deadline deadline) { core().submit(packets, deadline); }

Event Stream::record(const EventOptions& options, Deadline deadline) { return core().record(options, deadline); }
void Stream::wait(const Event& event, Deadline deadline) {
    if (event.state_ && !core().try_wait_fast(*event.state_)) core().wait_for(*event.state_, deadline);
}
void Stream::wait(SignalRef signal, Condition condition, std::int64_t than, Deadline deadline) {
    core().wait_for(signal, condition, than, deadline);
}
void Stream::decrement(SignalRef signal, Deadline deadline) { core().decrement(signal, deadline); }
void Stream::call(std::function<void()> function, Deadline deadline) { core().call(std::move(function), deadline); }
void Stream::on_complete(std::function<void(std::exception_ptr)> callback, Deadline deadline) {
    core().on_complete(std::move(callback), deadline);
}
void Stream::begin_capture() { core().begin_capture(); }
bool Stream::capturing() const noexcept { return core_ && core_->capturing(); }
StreamCompletion Stream::completion() { return StreamCompletion(core()); }

bool StreamCompletion::await_ready() { return core_.query(); }
void StreamCompletion::await_suspend(std::coroutine_handle<> waiting) {
    core_.on_complete(
        [this, waiting](std::exception_ptr error) {
            error_ = std::move(error);
            waiting.resume();
        },
        {});
}

void Stream::copy_async(void* destination, const void* source, std::size_t size_bytes, Deadline deadline) {
    core().copier().copy(destination, source, size_bytes, deadline);
}

void Stream::copy_rect_async(const Rect& rect, Deadline deadline) { core().copier().copy_rect(rect, deadline); }

void Stream::fill_async(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
                        Deadline deadline) {
    core().copier().fill(destination, size_bytes, pattern, deadline);
}

void Stream::keep_alive(std::shared_ptr<const void> object) { core().keep_alive(std::move(object)); }
void Stream::attach(std::shared_ptr<const void> object) { core().attach(std::move(object)); }
void Stream::release(Allocation allocation) {
    std::shared_ptr<Allocation> kept;
    try {
        kept = std::make_shared<Allocation>(std::move(allocation));
    } catch (const std::bad_alloc&) {
        detail::leak(std::move(allocation));
        throw;
    }
    core().keep_alive(std::move(kept));
}

void Stream::profile(bool on, Deadline deadline) { core().profile(on, deadline); }
Profile Stream::take_profile(Deadline deadline) { return core().take_profile(deadline); }

void Stream::synchronize(Deadline deadline) { core().synchronize(deadline); }
bool Stream::query() { return core().query(); }
bool Stream::failed() const noexcept { return core_ && core_->failed(); }
Stream::Progress Stream::progress() const { return core().progress(); }
const std::shared_ptr<detail::StreamHandle>& Stream::handle() const { return core().handle(); }
AutoSynchronize Stream::auto_synchronize(Deadline deadline) { return {core().handle(), deadline}; }

std::byte* Stream::begin_dispatch(const DispatchSpec& spec, Deadline deadline) {
    return core().begin_dispatch(spec, deadline);
}
void Stream::commit_dispatch(const DispatchSpec& spec, std::byte* kernarg, Deadline deadline) {
    core().commit_dispatch(spec, kernarg, deadline);
}

AutoSynchronize::~AutoSynchronize() {
    Stream* const stream = stream_->stream();
    if (!stream) return;  // closed in this scope: nothing is in flight
    try {
        stream->core().synchronize(deadline_);
    } catch (...) {
        stream->core().defer(std::current_exception());
    }
}

}  // namespace hsadrv
