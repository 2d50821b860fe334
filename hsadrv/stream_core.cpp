#include "hsadrv/stream_core.hpp"

#include <algorithm>
#include <thread>
#include <tuple>

#include "hsadrv/error.hpp"
#include "hsadrv/known_kernels.hpp"
#include "hsadrv/live_streams.hpp"
#include "hsadrv/runtime.hpp"
#include "hsadrv/text.hpp"

namespace hsadrv::detail {

namespace {

using namespace std::chrono_literals;

// A stream whose work has not moved for this long after a fault of its agent takes the fault for its own.
constexpr auto fault_grace = 1000ms;
// A copy that is ready to run is done long before; an engine that is not never will be.
constexpr auto copy_patience = 5s;

std::string label_of(AgentRef gpu, const StreamOptions& options) {
    static std::atomic<unsigned> streams{0};
    const std::string name =
        options.name.empty() ? "stream " + std::to_string(streams.fetch_add(1, std::memory_order_relaxed))
                             : "stream '" + options.name + "'";
    return name + " on " + gpu.label();
}

}  // namespace

StreamCore::StreamCore(AgentRef gpu, const StreamOptions& options)
    : agent_(gpu),
      packets_(options.packets),
      timeline_(std::make_shared<Timeline>(label_of(gpu, options), options.packets)),
      signals_(Driver::current().runtime().signals()),
      queues_(Driver::current().runtime().queues()),
      profile_records_(options.profile_records) {
    if (options.kernarg_bytes == 0 || options.kernarg_bytes % KernargRing::alignment_bytes != 0)
        throw InvalidArgument("Stream(" + label() + ", kernarg_bytes " + std::to_string(options.kernarg_bytes) +
                              "): the size must be a multiple of " +
                              std::to_string(KernargRing::alignment_bytes));
    lane_.timeline = timeline_.get();
    lane_.limit = options.packets;
    lane_.agent = gpu.native();
    lane_.completion = timeline_->signal().native().handle;
    set_queue(queues_.take({.gpu = gpu,
                            .packets = options.packets,
                            .exclusive = options.exclusive_queue,
                            .priority = options.priority,
                            .cu_mask = options.cu_mask}));
    kernarg_memory_ = Allocation::from_pool(host_pool(HostMemory::kernarg), options.kernarg_bytes);
    kernargs_ = KernargRing(static_cast<std::byte*>(kernarg_memory_.data()), options.kernarg_bytes,
                            2 * options.packets);
    if (options.profile) begin_profile();
    queue_->enter(*this);
    live_streams::enter(*this);
}

namespace {
/// What packets that are still in flight use, until they are complete.
struct Remains {
    Allocation kernargs;
    HoldList holds;
    GrowingRing<Note> notes;
    std::vector<std::shared_ptr<PooledSignal>> gates, profile;
    std::shared_ptr<void> closing;
};
}  // namespace

StreamCore::~StreamCore() {
    live_streams::leave(*this);
    if (in_forked_child()) return;
    const bool idle = !timeline_->in_flight() || queue_->dead(), exclusive = queue_->needs().exclusive;
    // A queue with a kernel of ours that does not end is of no use to anybody else.
    const bool stopped = idle || exclusive || queue_->stop_for(*this);
    if (stopped) {
        queue_->leave(*this);
        if (exclusive) queue_.reset();  // no packet runs from here on
    }
    open_gates();
    const bool copied = finish_copies();
    try {
        take_late_holds();
    } catch (...) {  // no memory for notes: leaked, not freed too early
        static_cast<void>(new (std::nothrow) auto(std::move(late_holds_)));
    }
    // An engine that hangs keeps its memory and its signals: leaked, not corrupted.
    if (!copied) static_cast<void>(new auto(std::tuple(std::move(holds_), std::move(copies_), std::move(profile_))));
    if (stopped) {
        handle_->close(!copied);
        return;
    }
    // Our packets are behind another stream's: what they use must stay until they are done.
    handle_->leave();
    std::shared_ptr<void> closing(nullptr, [handle = handle_, copied](void*) { handle->close(!copied); });
    std::vector<std::shared_ptr<PooledSignal>> profile;
    if (profile_) profile = profile_->take_signals();
    queue_->leave(*this, std::make_shared<Remains>(Remains{std::move(kernarg_memory_), std::move(holds_),
                                                           std::move(notes_), std::move(gates_), std::move(profile),
                                                           std::move(closing)}));
}

// What copies use is freed when they are done with it.
bool StreamCore::finish_copies() noexcept {
    const Deadline deadline(copy_patience);
    return std::all_of(copies_.begin(), copies_.end(), [&](const auto& copy) {
        return copy->ref().try_wait(Condition::less, 1, deadline).has_value();
    });
}

std::unique_lock<LaneMutex> StreamCore::lock(Deadline deadline, const char* call) const {
    std::unique_lock held(mutex_, std::try_to_lock);
    if (held.owns_lock()) return held;
    if (deadline.is_never()) {
        held.lock();
        return held;
    }
    while (!held.try_lock()) {
        if (deadline.passed())
            throw Timeout(std::string(call) + "(" + deadline.text() + ", " + label() +
                          "): another thread is submitting to the stream and has to wait itself");
        std::this_thread::sleep_for(50us);
    }
    return held;
}

// ---- waiting

Point StreamCore::tail() const {
    if (copy_tail_) return {.copy = copy_tail_};
    return {.epochs = timeline_->submitted()};
}

void StreamCore::look_around(Lock lock) noexcept {
    claim_fault();
    live_streams::leave_dead_queues(lock == Lock::held ? this : nullptr);
    if (lock == Lock::held) follow_queue_if_dead();
}

void StreamCore::wait(const Point& point, Deadline deadline, const char* call, Lock lock) {
    const auto [signal, below] = signal_of(*timeline_, point);
    while (!signal.try_wait(Condition::less, below, deadline.sliced(look_around_period))) {
        look_around(lock);
        if (failed()) break;
        if (deadline.passed())
            throw Timeout(std::string(call) + "(" + deadline.text() + ", " + label() +
                          "): " + live_streams::autopsy_of(*timeline_, lock == Lock::held ? this : nullptr));
    }
    if (timeline_->has_failed()) timeline_->rethrow();
}

void StreamCore::wait_for_progress(Deadline deadline, const char* call) {
    const std::uint64_t completed = timeline_->completed();
    if (kernels_in_flight())
        timeline_->signal().try_wait(Condition::less, Timeline::below(completed + 1), deadline.sliced(20ms));
    else  // the ring is full of packets of other streams
        std::this_thread::sleep_for(100us);
    look_around(Lock::held);
    throw_if_failed();
    if (deadline.passed() && timeline_->completed() == completed)
        throw Timeout(std::string(call) + "(" + deadline.text() + ", " + label() +
                      "): no room: " + live_streams::autopsy_of(*timeline_, this));
}

void StreamCore::keep_alive(std::shared_ptr<const void> object) {
    if (in_forked_child()) return static_cast<void>(new auto(std::move(object)));  // the parent's; leaked
    RetiredHolds retired;
    const std::unique_lock held(mutex_, std::try_to_lock);
    if (!held.owns_lock()) return hold_later(std::move(object));
    if (!capture_) retire(retired);
    push_hold(std::move(object));
}

void StreamCore::hold_if_in_flight(std::shared_ptr<const void> object) {
    const std::unique_lock held(mutex_, std::try_to_lock);
    if (!held.owns_lock()) return hold_later(std::move(object));
    push_hold(std::move(object));
}

void StreamCore::push_hold(std::shared_ptr<const void>&& object) {
    if (capture_) return capture_->keep_alive(std::move(object));
    if (Point point = tail(); !reached(point)) holds_.push(std::move(point), std::move(object));
}

void StreamCore::attach(std::shared_ptr<const void> object) {
    const std::lock_guard held(attached_mutex_);
    if (std::find(attached_.begin(), attached_.end(), object) == attached_.end())
        attached_.push_back(std::move(object));
}

void StreamCore::hold(std::shared_ptr<const void> object) {
    const std::unique_lock held(mutex_, std::try_to_lock);
    if (!held.owns_lock()) return hold_later(std::move(object));
    holds_.push(tail(), std::move(object));
}

void StreamCore::hold_later(std::shared_ptr<const void>&& object) {
    const std::lock_guard late(late_mutex_);
    late_holds_.push_back(std::move(object));
    has_late_holds_.store(true, std::memory_order_release);
}

// What has been submitted meanwhile is waited for as well: later than need be, never too early.
void StreamCore::hold_late_ones() {
    const std::lock_guard late(late_mutex_);
    while (!late_holds_.empty()) {
        if (capture_)
            capture_->keep_alive(late_holds_.back());
        else
            holds_.push(tail(), late_holds_.back());
        late_holds_.pop_back();
    }
    has_late_holds_.store(false, std::memory_order_release);
}

bool StreamCore::try_retire(std::vector<std::shared_ptr<const void>>& done) {
    const std::unique_lock held(mutex_, std::try_to_lock);
    if (!held.owns_lock()) return true;
    take_late_holds();
    while (!holds_.empty() && reached(holds_.front().when)) {
        done.reserve(done.size() + 1);
        done.push_back(holds_.pop().object);
    }
    return !holds_.empty() && !failed();
}

std::optional<Point> StreamCore::try_mark() {
    const std::unique_lock held(mutex_, std::try_to_lock);
    return held.owns_lock() ? std::optional(tail()) : std::nullopt;
}

void StreamCore::defer(std::exception_ptr error) noexcept {
    const std::lock_guard held(mutex_);
    if (!deferred_) deferred_ = std::move(error);
}

void StreamCore::synchronize(Deadline deadline) {
    static constexpr const char* call = "Stream::synchronize";
    Point last;
    {
        const auto held = lock(deadline, call);
        if (deferred_) std::rethrow_exception(std::exchange(deferred_, nullptr));
        throw_if_failed();
        refuse_in_capture(call);
        last = tail();
    }
    wait(last, deadline, call, Lock::free);
    for (std::size_t count = RetiredHolds::most; count == RetiredHolds::most;) {
        RetiredHolds retired;
        const auto held = lock(deadline, call);
        throw_if_lost();
        if (copy_tail_ && reached({.copy = copy_tail_})) copy_tail_.reset();
        drop_notes();
        retire(retired);
        count = retired.count;
    }
}

bool StreamCore::query() {
    RetiredHolds retired;
    const auto held = lock({}, "Stream::query");
    if (deferred_) std::rethrow_exception(std::exchange(deferred_, nullptr));
    throw_if_failed();
    retire(retired);
    if (!reached(tail())) {
        look_around(Lock::held);
        throw_if_failed();
        return false;
    }
    // A failing stream ends in the same value as one that is done.
    throw_if_lost();
    return true;
}

void StreamCore::throw_if_lost() {
    check_copies();
    if (timeline_->lost(timeline_->submitted())) timeline_->rethrow();
    throw_if_failed();
}

// ---- failure

void StreamCore::fail(std::exception_ptr error) noexcept {
    timeline_->fail(std::move(error));
    // The gates wake the copies behind them, which would block an engine that others use.
    open_gates();
}

void StreamCore::fail(const Fault& fault) noexcept {
    std::exception_ptr error;
    try {
        throw MemoryFault("memory fault on " + label() + " at address " + hex(fault.address) + " (" +
                              fault.reason_text() + "), " + fault.place_text() +
                              "; the stream has failed: " + situation(),
                          fault.address, fault.nearest);
    } catch (...) {
        error = std::current_exception();
    }
    fail(std::move(error));
    stuck_.store(true, std::memory_order_relaxed);
}

void StreamCore::try_free_queue() noexcept {
    if (!stuck_.load(std::memory_order_relaxed)) return;
    const std::unique_lock held(mutex_, std::try_to_lock);
    if (held.owns_lock() && !queue_->needs().exclusive) queue_->stop_for(*this);
}

void StreamCore::open_gates() noexcept {
    const std::lock_guard lock(failure_mutex_);
    for (const auto& gate : gates_) gate->ref().store(0);
}

void StreamCore::claim_fault() noexcept {
    const std::optional<Fault> fault = faults::of(agent_);
    if (!fault || failed() || !kernels_in_flight()) return;
    {
        const std::lock_guard lock(failure_mutex_);
        const std::uint64_t completed = timeline_->completed();
        const auto now = Deadline::Clock::now();
        if (completed != seen_completed_ || seen_at_ == Deadline::Clock::time_point{}) {
            seen_completed_ = completed;
            seen_at_ = now;
            return;
        }
        if (now - std::max(seen_at_, fault->when) < fault_grace) return;
    }
    fail(*fault);
}

void StreamCore::check_copies() noexcept {
    std::erase_if(copies_, [this](const auto& copy) {
        const std::int64_t value = copy->ref().load();
        if (value < 0)
            fail(std::make_exception_ptr(Error("a copy of " + label() + " failed: its engine reports an error")));
        return value <= 0;
    });
}

std::string StreamCore::situation() const {
    const std::uint64_t submitted = timeline_->submitted(), completed = timeline_->completed();
    std::string text = std::to_string(completed) + " of " + std::to_string(submitted) + " packets complete";
    const auto slot = timeline_->running_slot(queue_->ref().read_index());
    if (!slot) return text + ", a copy is in flight";
    const Packet packet = queue_->ref().peek(*slot);
    const auto dispatch = packet.as<hsa_kernel_dispatch_packet_t>();
    // The packet processor invalidates headers, so the setup word tells a dispatch from a barrier.
    return text + ", the first of the others is " +
           (dispatch.setup != 0 ? kernel_label(dispatch.kernel_object) : "a wait");
}

}  // namespace hsadrv::detail
