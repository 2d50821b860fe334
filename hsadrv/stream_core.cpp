#include "hsadrv/stream_core.hpp"

#include <cstdio>
#include <thread>

#include "hsadrv/error.hpp"
#include "hsadrv/runtime.hpp"

namespace hsadrv::detail {

namespace {

using namespace std::chrono_literals;

// Blocked waits look around this often: for a memory fault that the runtime gave to nobody.
constexpr auto look_around = 200ms;
// A stream whose work has not moved for this long after a fault of its agent takes the fault for its own.
constexpr auto fault_grace = 1000ms;
// A copy that is ready to run is done long before; an engine that is not never will be.
constexpr auto copy_patience = 5s;

std::span<const hsa_signal_t> one(const hsa_signal_t& signal) noexcept { return {&signal, 1}; }

// Copies see to their own visibility, and the kernels around them acquire and release at system scope.
constexpr PacketOrder ordering_only{
    .barrier = true, .acquire = FenceScope::none, .release = FenceScope::none};

}  // namespace

StreamCore::StreamCore(AgentRef gpu, const StreamOptions& options)
    : agent_(gpu),
      label_(gpu.label()),
      signals_(Driver::current().runtime().signals()),
      epoch_(Signal::create(epoch_start)),
      slot_of_epoch_(std::size_t{2} * options.packets) {
    if (options.kernarg_bytes == 0 || options.kernarg_bytes % KernargRing::alignment_bytes != 0)
        throw InvalidArgument("Stream(" + label_ + ", kernarg_bytes " +
                              std::to_string(options.kernarg_bytes) + "): the size must be a multiple of " +
                              std::to_string(KernargRing::alignment_bytes));
    queue_ = Queue::create(gpu, {.packets = options.packets, .on_error = [this] { on_queue_error(); }});
    kernarg_memory_ = Allocation::from_pool(host_pool(HostMemory::kernarg), options.kernarg_bytes);
    kernargs_ = KernargRing(static_cast<std::byte*>(kernarg_memory_.data()), options.kernarg_bytes,
                            2 * options.packets);
    faults::enter(*this);
}

StreamCore::~StreamCore() {
    faults::leave(*this);
    if (in_forked_child()) return;
    queue_ = Queue();  // no packet runs, and no error callback, from here on
    open_gates();
    finish_copies();
}

// What copies use is freed when they are done with it. An engine that hangs keeps its memory: leaked, not
// corrupted.
void StreamCore::finish_copies() noexcept {
    const Deadline deadline(copy_patience);
    const auto done = [&](const Point& point) {
        return !point.copy || point.copy->ref().try_wait(Condition::less, 1, deadline).has_value();
    };
    if (copy_tail_ && !done({.copy = copy_tail_})) return static_cast<void>(new auto(std::move(holds_)));
    while (!holds_.empty()) {
        if (!done(holds_.front().when)) return static_cast<void>(new auto(std::move(holds_)));
        holds_.pop();
    }
}

std::unique_lock<std::mutex> StreamCore::lock(Deadline deadline, const char* call) {
    std::unique_lock held(mutex_, std::try_to_lock);
    if (held.owns_lock()) return held;
    if (deadline.is_never()) {
        held.lock();
        return held;
    }
    while (!held.try_lock()) {
        if (deadline.passed())
            throw Timeout(std::string(call) + "(" + deadline.text() + ", " + label_ +
                          "): another thread is submitting to the stream and has to wait itself");
        std::this_thread::sleep_for(50us);
    }
    return held;
}

// ---- completion

std::uint64_t StreamCore::epochs_completed() const noexcept {
    const std::int64_t value = epoch_.load();
    // A failed stream's count was stored before the value that says so.
    return value < 0 ? completed_at_failure_ : static_cast<std::uint64_t>(epoch_start - value);
}

bool StreamCore::reached(const Point& point) const noexcept {
    return point.copy ? point.copy->ref().load() <= 0 : epochs_completed() >= point.epochs;
}

Point StreamCore::tail() const {
    if (copy_tail_) return {.copy = copy_tail_};
    return {.epochs = epochs_submitted_.load(std::memory_order_relaxed)};
}

bool StreamCore::kernels_in_flight() const noexcept {
    return epochs_submitted_.load(std::memory_order_relaxed) > epochs_completed();
}

void StreamCore::wait(const Point& point, Deadline deadline, const char* call) {
    const SignalRef signal = point.copy ? point.copy->ref() : epoch_.ref();
    const std::int64_t below = point.copy ? 1 : epoch_start - static_cast<std::int64_t>(point.epochs) + 1;
    while (!signal.try_wait(Condition::less, below, deadline.sliced(look_around))) {
        claim_fault();
        if (failed()) break;
        if (deadline.passed())
            throw Timeout(std::string(call) + "(" + deadline.text() + ", " + label_ + "): " + situation());
    }
    throw_if_failed();
}

void StreamCore::wait_for_progress(Deadline deadline, const char* call) {
    const std::uint64_t completed = epochs_completed();
    if (kernels_in_flight())
        epoch_.try_wait(Condition::less, epoch_start - static_cast<std::int64_t>(completed),
                        deadline.sliced(20ms));
    else  // the ring is full of packets that the caller put there
        std::this_thread::sleep_for(100us);
    claim_fault();
    throw_if_failed();
    if (deadline.passed() && epochs_completed() == completed)
        throw Timeout(std::string(call) + "(" + deadline.text() + ", " + label_ +
                      "): no room: " + situation());
}

std::string StreamCore::situation() const {
    const std::uint64_t submitted = epochs_submitted_.load(std::memory_order_relaxed),
                        completed = epochs_completed();
    std::string text = std::to_string(completed) + " of " + std::to_string(submitted) + " packets complete";
    if (submitted == completed) return text + ", a copy is in flight";
    const Packet packet = queue_.ref().peek(slot_of_epoch_[(completed + 1) % slot_of_epoch_.size()]);
    const auto dispatch = packet.as<hsa_kernel_dispatch_packet_t>();
    // The packet processor invalidates headers, so the setup word tells a dispatch from a barrier.
    return text + ", the first of the others is " +
           (dispatch.setup != 0 ? kernel_label(dispatch.kernel_object) : "a wait for a copy");
}

// ---- failure

void StreamCore::on_queue_error() noexcept {
    const std::lock_guard lock(failure_mutex_);
    poison();
}

void StreamCore::fail(const Fault& fault) noexcept {
    const std::lock_guard lock(failure_mutex_);
    if (failed()) return;
    fault_ = fault;
    poison();
}

void StreamCore::poison() noexcept {
    if (failed()) return;
    completed_at_failure_ = epochs_completed();
    failed_.store(true, std::memory_order_release);
    // Wakes who waits for packets; the gates wake the copies behind them, which would block an engine that
    // others use.
    epoch_.store(epoch_failed);
    for (const auto& gate : gates_) gate->ref().store(0);
}

void StreamCore::open_gates() noexcept {
    const std::lock_guard lock(failure_mutex_);
    for (const auto& gate : gates_) gate->ref().store(0);
}

void StreamCore::claim_fault() noexcept {
    const std::optional<Fault> fault = faults::of(agent_);
    if (!fault || !kernels_in_flight()) return;
    {
        const std::lock_guard lock(failure_mutex_);
        const std::uint64_t completed = epochs_completed();
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

void StreamCore::throw_failure() {
    std::optional<Fault> fault;
    {
        const std::lock_guard lock(failure_mutex_);
        fault = fault_;
    }
    if (!fault) queue_.ref().throw_if_failed();
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(fault->address));
    throw MemoryFault("memory fault on " + label_ + " at address " + address + " (" + fault->reason_text() +
                          "); the stream has failed: " + situation(),
                      fault->address);
}

// ---- packets

std::uint64_t StreamCore::put(const Packet& packet, Deadline deadline, const char* call) {
    const QueueRef queue = queue_;
    std::optional<std::uint64_t> slot;
    while (!(slot = queue.try_reserve(1))) [[unlikely]] wait_for_progress(deadline, call);
    next_slot_ = *slot + 1;
    queue.write(*slot, packet);
    queue.publish(*slot, 1);
    return *slot;
}

std::uint64_t StreamCore::put_counted(const Packet& packet, Deadline deadline, const char* call) {
    const QueueRef queue = queue_;
    std::optional<std::uint64_t> slot;
    while (!(slot = queue.try_reserve(1))) [[unlikely]] wait_for_progress(deadline, call);
    const std::uint64_t epoch = epochs_submitted_.load(std::memory_order_relaxed) + 1;
    slot_of_epoch_[epoch % slot_of_epoch_.size()] = *slot;
    epochs_submitted_.store(epoch,
                            std::memory_order_relaxed);  // before a fault can ask whether work is in flight
    next_slot_ = *slot + 1;
    queue.write(*slot, packet);
    queue.publish(*slot, 1);
    return epoch;
}

void StreamCore::cover_foreign(Deadline deadline, const char* call) {
    // Our own packets need none: their barrier bit makes them complete after whatever is before them.
    const std::uint64_t ours = next_slot_;
    if (queue_.ref().write_index() == ours) return;
    join_copies(deadline, call);
    if (next_slot_ == ours) put_counted(barrier_and({}, epoch_.native(), ordering_only), deadline, call);
}

void StreamCore::join_copies(Deadline deadline, const char* call) {
    if (!copy_tail_) return;
    if (!reached({.copy = copy_tail_})) {
        holds_.make_room(1);
        const hsa_signal_t copy = copy_tail_->native();
        const std::uint64_t epoch =
            put_counted(barrier_and(one(copy), epoch_.native(), ordering_only), deadline, call);
        holds_.push({.epochs = epoch}, copy_tail_);
    }
    copy_tail_.reset();
}

std::shared_ptr<PooledSignal> StreamCore::gate(Deadline deadline, const char* call) {
    auto signal = signals_.acquire(1);
    {
        const std::lock_guard lock(failure_mutex_);
        std::erase_if(gates_, [](const auto& gate) { return gate->ref().load() <= 0; });
        gates_.push_back(signal);
    }
    put(barrier_and({}, signal->native(), ordering_only), deadline, call);
    return signal;
}

std::byte* StreamCore::begin_dispatch(const DispatchSpec& spec, Deadline deadline) {
    static constexpr const char* call = "Stream::dispatch";
    std::unique_lock held = lock(deadline, call);
    throw_if_failed();
    if (spec.kernarg_bytes > kernargs_.capacity_bytes()) [[unlikely]]
        throw InvalidArgument(std::string(call) + ": " + std::to_string(spec.kernarg_bytes) +
                              " B of arguments; the stream has room for " +
                              std::to_string(kernargs_.capacity_bytes()) +
                              " B, see StreamOptions::kernarg_bytes");
    if (copy_tail_) [[unlikely]]
        join_copies(deadline, call);
    std::byte* kernarg = kernargs_.try_reserve(spec.kernarg_bytes);
    while (kernarg == nullptr) [[unlikely]] {
            kernargs_.reclaim(epochs_completed());
            kernarg = kernargs_.try_reserve(spec.kernarg_bytes);
            if (kernarg == nullptr) wait_for_progress(deadline, call);
        }
    held.release();  // end_dispatch unlocks
    return kernarg;
}

void StreamCore::commit_dispatch(const DispatchSpec& spec, std::byte* kernarg, Deadline deadline) {
    const Packet packet = kernel_dispatch({.kernel_object = spec.kernel_object,
                                           .grid = spec.grid,
                                           .workgroup = spec.workgroup,
                                           .private_segment_bytes = spec.private_segment_bytes,
                                           .group_segment_bytes = spec.group_segment_bytes,
                                           .kernarg = kernarg,
                                           .completion = epoch_.native(),
                                           .order = {}});
    kernargs_.commit(put_counted(packet, deadline, "Stream::dispatch"));
}

// ---- waiting

void StreamCore::keep_alive(std::shared_ptr<const void> object) {
    RetiredHolds retired;
    const auto held = lock({}, "Stream::keep_alive");
    retire(retired);
    if (Point point = tail(); !reached(point)) holds_.push(std::move(point), std::move(object));
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
        cover_foreign(deadline, call);
        last = tail();
    }
    wait(last, deadline, call);
    for (std::size_t count = RetiredHolds::most; count == RetiredHolds::most;) {
        RetiredHolds retired;
        const auto held = lock(deadline, call);
        if (copy_tail_ && reached({.copy = copy_tail_})) copy_tail_.reset();
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
    const QueueRef queue = queue_;
    if (queue.write_index() - queue.read_index() >= queue.size()) return false;
    cover_foreign({}, "Stream::query");
    if (reached(tail())) {
        // A failing queue ends in the same value as one that is done.
        throw_if_failed();
        return true;
    }
    claim_fault();
    return false;
}

Stream::Progress StreamCore::progress() const {
    return {epochs_submitted_.load(std::memory_order_relaxed), epochs_completed()};
}

}  // namespace hsadrv::detail
