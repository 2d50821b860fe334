#include "hsadrv/stream.hpp"

#include <new>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/leak.hpp"
#include "hsadrv/base/refuse.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/base/traced.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/queue/known_kernels.hpp"
#include "hsadrv/signal/signal_wait.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/graph_state.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv {

namespace {

using detail::hex;
using detail::call_log::Area;
using detail::call_log::logged;

/// Calls `body` with the core, and logs the stream's label and what each of `more` returns.
template <class Body, class... More>
auto on_stream(detail::StreamCore& core, const char* name, Body&& body, const More&... more) {
    const auto text = [&] {
        std::string text = core.label();
        ((text += ", " + more()), ...);
        return text;
    };
    return logged(Area::stream, name, text, [&] { return body(core); });
}

std::string bytes_text(std::size_t size_bytes) { return std::to_string(size_bytes) + " B"; }

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
    : core_(logged(
          Area::stream, "Stream::Stream", [&] { return gpu.label(); },
          [&] { return std::make_unique<detail::StreamCore>(require_gpu(gpu), options); })),
      lane_(&core_->lane()),
      drain_(options.drain) {
    if (detail::call_log::on(Area::launch) || detail::traced()) lane_->mutex.disable_fast_path();
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
    core_->handle()->follow(nullptr);
    if (in_forked_child()) {  // the parent's; its locks may be held forever
        lane_ = &closed_lane();
        static_cast<void>(core_.release());
        return false;
    }
    const auto end = [&] {
        bool complete = false;
        try {
            const bool whole = core_->abandon(deadline);
            core_->synchronize(deadline);
            complete = whole;
        } catch (...) {
            // A failed stream, an exception of a host function, or a deadline that passed: the remaining work ends with
            // the queue.
        }
        lane_ = &closed_lane();  // after the locks of abandon(): calls that wait have read it before theirs
        core_.reset();
        return complete;
    };
    return logged(Area::stream, "Stream::close", [&] { return core_->label() + ", " + deadline.text(); }, end);
}

QueueRef Stream::queue() const { return core().queue(); }

void Stream::submit(std::span<const Packet> packets, Deadline deadline) {
    on_stream(
        core(), "Stream::submit", [&](auto& core) { core.submit(packets, deadline); },
        [&] { return std::to_string(packets.size()) + " packets"; });
}
Event Stream::record(const EventOptions& options, Deadline deadline) {
    return on_stream(core(), "Stream::record", [&](auto& core) { return core.record(options, deadline); });
}
void Stream::wait(const Event& event, Deadline deadline) {
    on_stream(
        core(), "Stream::wait",
        [&](auto& core) {
            if (event.state_ && !core.try_wait_fast(*event.state_)) core.wait_for(*event.state_, deadline);
        },
        [&] { return event.state_ ? "an event of " + event.state_->timeline->label() : std::string("no event"); });
}
void Stream::wait(SignalRef signal, Condition condition, std::int64_t than, Deadline deadline) {
    on_stream(
        core(), "Stream::wait", [&](auto& core) { core.wait_for(signal, condition, than, deadline); },
        [&] { return "signal " + hex(signal.native().handle) + ", value " + detail::condition_text(condition, than); });
}
void Stream::decrement(SignalRef signal, Deadline deadline) {
    on_stream(
        core(), "Stream::decrement", [&](auto& core) { core.decrement(signal, deadline); },
        [&] { return "signal " + hex(signal.native().handle); });
}
void Stream::call(std::function<void()> function, Deadline deadline) {
    on_stream(core(), "Stream::call", [&](auto& core) {
        if (!function) detail::refuse("Stream::call(" + core.label() + ")", "an empty function");
        core.call([function = std::move(function)](SignalRef) { return function(), detail::HostEnd::now; }, deadline);
    });
}
void Stream::on_complete(std::function<void(std::exception_ptr)> callback, Deadline) {
    on_stream(core(), "Stream::on_complete", [&](auto& core) { core.on_complete(std::move(callback)); });
}
void Stream::begin_capture() {
    on_stream(core(), "Stream::begin_capture", [](auto& core) { core.begin_capture(); });
}
bool Stream::capturing() const noexcept { return core_ && core_->capturing(); }
StreamCompletion Stream::completion() { return StreamCompletion(core()); }

bool StreamCompletion::await_ready() { return core_.query(); }
void StreamCompletion::await_suspend(std::coroutine_handle<> waiting) {
    core_.on_complete([this, waiting](std::exception_ptr error) {
        error_ = std::move(error);
        waiting.resume();
    });
}

void Stream::copy_async(void* destination, const void* source, std::size_t size_bytes, Deadline deadline) {
    on_stream(
        core(), "Stream::copy_async",
        [&](auto& core) { core.copier().copy(destination, source, size_bytes, deadline); },
        [&] { return hex(destination) + ", " + hex(source) + ", " + bytes_text(size_bytes); });
}
void Stream::copy_rect_async(const Rect& rect, Deadline deadline) {
    on_stream(
        core(), "Stream::copy_rect_async", [&](auto& core) { core.copier().copy_rect(rect, deadline); },
        [&] { return rect.text(); });
}
void Stream::fill_async(void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
                        Deadline deadline) {
    on_stream(
        core(), "Stream::fill_async",
        [&](auto& core) { core.copier().fill(destination, size_bytes, pattern, deadline); },
        [&] {
            return hex(destination) + ", " + bytes_text(size_bytes) + ", " + bytes_text(pattern.size()) + " pattern";
        });
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

void Stream::profile(bool on, Deadline deadline) {
    on_stream(
        core(), "Stream::profile", [&](auto& core) { core.profile(on, deadline); },
        [&] { return std::string(on ? "true" : "false"); });
}
Profile Stream::take_profile(Deadline) { return core().take_profile(); }

void Stream::synchronize(Deadline deadline) {
    on_stream(
        core(), "Stream::synchronize", [&](auto& core) { core.synchronize(deadline); },
        [&] { return deadline.text(); });
}
bool Stream::query() {
    return on_stream(core(), "Stream::query", [](auto& core) { return core.query(); });
}
bool Stream::failed() const noexcept { return core_ && core_->failed(); }
Stream::Progress Stream::progress() const {
    refuse_in_forked_child("Stream::progress");
    return core().progress();
}
const std::shared_ptr<detail::StreamHandle>& Stream::handle() const { return core().handle(); }
Stream* WeakStream::get() const noexcept { return handle_ ? handle_->stream() : nullptr; }
AutoSynchronize Stream::auto_synchronize(Deadline deadline) { return {core().handle(), deadline}; }

std::shared_ptr<const void> Stream::begin_dispatch(const DispatchSpec& spec) const {
    return core().begin_dispatch(spec);
}
bool Stream::dispatch_filled(const DispatchSpec& spec, const std::byte* arguments,
                             const std::shared_ptr<const void>& named, Deadline deadline) {
    const auto text = [&] {
        return core().label() + ", " + detail::kernel_call_text(spec.kernel_object, arguments) + ", grid " +
               spec.grid.text() + ", work-group " + spec.workgroup.text() + ", " +
               std::to_string(spec.group_segment_bytes) + " B LDS";
    };
    return logged(Area::launch, "Kernel::launch", text,
                  [&] { return core().dispatch(spec, arguments, named, deadline); });
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
