#include "hsadrv/stream/stream_core.hpp"

#include <algorithm>
#include <thread>

#include "hsadrv/base/leak.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/signal/callback_thread.hpp"
#include "hsadrv/stream/live_streams.hpp"
#include "hsadrv/stream/stream_remains.hpp"
#include "hsadrv/stream/value_wait.hpp"

namespace hsadrv::detail {

namespace {

using namespace std::chrono_literals;

// A copy that is ready to run completes long before this; an engine that has not will never complete it.
constexpr auto copy_patience = 5s;

std::string label_of(AgentRef gpu, const StreamOptions& options) {
    static std::atomic<unsigned> streams{0};
    const std::string name = options.name.empty()
                                 ? "stream " + std::to_string(streams.fetch_add(1, std::memory_order_relaxed))
                                 : "stream '" + options.name + "'";
    return name + " on " + gpu.label();
}

std::shared_ptr<SharedQueue> take_queue(const std::string& label, AgentRef gpu, const StreamOptions& options,
                                        bool cooperative) {
    if (options.kernarg_bytes == 0 || options.kernarg_bytes % KernargRing::alignment_bytes != 0)
        throw InvalidArgument("Stream(" + label + ", kernarg_bytes " + std::to_string(options.kernarg_bytes) +
                              "): the size must be a multiple of " + std::to_string(KernargRing::alignment_bytes));
    faults::refuse_lost(gpu, "hsadrv::Stream");
    return Driver::current().runtime().queues().take({.gpu = gpu,
                                                      .packets = options.packets,
                                                      .exclusive = options.exclusive_queue,
                                                      .cooperative = cooperative,
                                                      .priority = options.priority,
                                                      .cu_mask = options.cu_mask});
}

}  // namespace

StreamCore::StreamCore(AgentRef gpu, const StreamOptions& options, bool cooperative)
    : agent_(gpu),
      waits_for_values_(queues_take_barrier_value(gpu)),
      timeline_(std::make_shared<Timeline>(label_of(gpu, options), options.packets)),
      remains_(std::make_shared<StreamRemains>(handle_, timeline_)),
      copy_queue_(std::make_shared<CopyQueue>(timeline_)),
      signals_(Driver::current().runtime().signals()),
      copier_(*this, gpu),
      profile_(gpu, options.profile_records),
      writer_(lane_, order_, timeline_, take_queue(timeline_->label(), gpu, options, cooperative), options.packets) {
    lane_.agent = gpu.native();
    kernarg_memory_ = Allocation::from_pool(host_pool(HostMemory::kernarg), options.kernarg_bytes);
    kernargs_ =
        KernargRing(static_cast<std::byte*>(kernarg_memory_.data()), options.kernarg_bytes, 2 * options.packets);
    if (options.profile) begin_profile();
    const std::shared_ptr<SharedQueue> queue = shared_queue();  // from the list on, a poll may move the stream
    queue->enter(*this);
    try {
        live_streams::enter(*this);
        live_streams::settle_producers(*queue);
        if (const auto fault = faults::of(gpu)) fail(*fault, 0);  // lost meanwhile
    } catch (...) {
        live_streams::leave(*this);
        shared_queue()->leave(*timeline_);
        throw;
    }
}

StreamCore::~StreamCore() {
    const std::shared_ptr remains = std::move(remains_);  // destroyed last, with no lock held
    remains->departure.begin();  // before it leaves the list: one of the two keeps what is freed meanwhile
    live_streams::leave(*this);  // from here on no poll uses it
    end_work();                  // before the queue stops
    order_.end();                // nor does any other thread's call
    end_work();
    copy_queue_->end();
    if (const auto runtime = Runtime::find()) {
        runtime->copies().cancel_of(timeline_.get());
        runtime->copies().cancel_of(timeline_->waits());  // the caller may destroy its signals
        runtime->callbacks().drop_of(timeline_->host_functions());
    }
    std::shared_ptr<SharedQueue> queue = shared_queue();
    const std::shared_ptr<PooledSignal> gate = writer_.log().last_gate();
    const bool idle = (!timeline_->in_flight() && !gate) || queue->dead(), exclusive = queue->needs().exclusive;
    // A queue that runs a kernel of ours that does not end is of no use to other streams.
    const bool stopped = idle || exclusive || queue->stop_for(this);
    if (stopped) {
        queue->leave(*timeline_);
        if (exclusive) {  // no packet runs after this
            writer_.drop_queue();
            queue.reset();
        }
    }
    const bool copied = finish_copies();
    if (!copied) timeline_->lose_copies();
    handle_->leave(!copied);  // from here on the handle itself keeps objects alive
    remains->kept = std::move(holds_);
    remains->kernargs = std::move(kernarg_memory_);
    remains->packets.emplace(std::move(writer_.log()));
    remains->profile.emplace(std::move(profile_));
    for (PendingCopy& copy : copies_) StreamRemains::stay_for(remains, std::move(copy.done));
    if (!stopped) {
        const Completion last{.epochs = timeline_->submitted(), .copy = gate};
        SharedQueue::outlive(queue, *timeline_, timeline_->signal_of(last), remains);
    }
    if (queue) live_streams::settle_producers(*queue);
    branches_.end(remains);
}

// Waiters are notified, here and in its branches, and work after it does not run.
void StreamCore::end_work() noexcept {
    {
        const std::lock_guard held(mutex_);
        if (timeline_->in_flight() || !timeline_->reached(tail()) || order_.is_wanted()) end_timeline();
    }
    branches_.fail();
}

void StreamCore::end_with_stream() noexcept {
    {
        const std::lock_guard held(mutex_);
        end_timeline();
    }
    branches_.fail();
}

void StreamCore::end_timeline() noexcept {
    std::exception_ptr error;
    copies_until_.emplace(copy_patience);
    try {
        error = std::make_exception_ptr(
            StreamEnded(label() + " was closed before its work was complete: " + writer_.situation()));
    } catch (...) {
        error = std::current_exception();
    }
    timeline_->fail(std::move(error));
}

// Memory that copies use is freed when they are complete. On a lost GPU no copy makes progress. A host function that
// runs has what it uses.
bool StreamCore::finish_copies() noexcept {
    const Deadline until = copies_until_.value_or(Deadline(copy_patience));
    return std::all_of(copies_.begin(), copies_.end(), [&](const PendingCopy& copy) {
        const bool lost = faults::of(copy.engine ? copy.engine : agent_).has_value();
        return copy.kind == PacketRecord::Kind::host ||
               copy.done.copy->ref().try_wait(Condition::less, 1, lost ? Deadline(0s) : until).has_value();
    });
}

// ---- locks

std::unique_lock<LaneMutex> StreamCore::lock(Deadline deadline, const char* call, Room room) {
    refuse_in_forked_child(call);
    const bool joins = room == Room::last;
    const std::shared_ptr<const Timeline> name = timeline_;  // of a stream that ends as this call gives up
    std::unique_lock held = order_.lock(joins ? Deadline::never() : deadline, joins);
    if (!held) throw_late(call, deadline, name->label());
    return held;
}

std::unique_lock<LaneMutex> StreamCore::lock_data(const char* call) const {
    refuse_in_forked_child(call);
    return std::unique_lock(mutex_);
}

void StreamCore::wait_away(const Completion& completion, Deadline deadline, const char* call) {
    bool late = false;
    {
        const CallOrder::Away away(order_, deadline, late);
        writer_.wait(completion, deadline, call);
    }
    if (late) throw_late(call, deadline, label());
    check_copies();
}

void StreamCore::await_room(std::uint32_t packets, Deadline deadline, const char* call, std::size_t kernarg_bytes) {
    const auto held = lock(deadline, call);
    throw_if_failed();
    const std::size_t bytes = KernargRing::room_bytes(kernarg_bytes);
    const auto has_kernargs = [&] {  // host functions have memory of their own: arguments_place()
        return kernarg_bytes == 0 || on_callback_thread() || kernargs_.try_reserve(bytes) ||
               kernargs_.make_room(bytes, timeline_->completed(), timeline_->submitted());
    };
    while (!writer_.has_room(packets) || !has_kernargs()) writer_.wait_for_room(deadline, call);
}

// ---- waiting

Completion StreamCore::tail() const { return {.epochs = timeline_->submitted(), .copy = copy_tail_}; }

void StreamCore::keep_alive(std::shared_ptr<const void> object) {
    if (in_forked_child()) return leak(std::move(object));  // the parent's
    RetiredHolds retired;
    try {
        const std::lock_guard held(mutex_);
        retire(retired);
        push_hold(std::move(object));
    } catch (const std::bad_alloc&) {
        leak(std::move(object));
        throw;
    }
}

void StreamCore::attach(std::shared_ptr<const void> object) {
    if (in_forked_child()) return leak(std::move(object));
    const std::lock_guard held(mutex_);
    holds_.attach(std::move(object));
}

void StreamCore::hold(std::shared_ptr<const void> object) {
    const std::lock_guard held(mutex_);
    push_hold(std::move(object));
}

/// Holds it for work already submitted, and captured. If it throws, the object has not been moved.
void StreamCore::push_hold(std::shared_ptr<const void>&& object) {
    if (capture_) capture_.keep_alive(object);
    Completion completion = tail();
    if (is_over(completion)) return;
    holds_.make_room(1);
    holds_.push(std::move(completion), std::move(object));
}

void StreamCore::retire(RetiredHolds& batch) {
    holds_.retire(batch, [this](const Completion& completion) { return is_over(completion); });
}

bool StreamCore::retire_all(std::vector<std::shared_ptr<const void>>& done) {
    const std::lock_guard held(mutex_);
    return holds_.retire_all(done, [this](const Completion& completion) { return is_over(completion); }) && !failed();
}

void StreamCore::defer(std::exception_ptr error) noexcept {
    if (in_forked_child()) return;  // its lock may be held for ever
    const std::lock_guard held(mutex_);
    if (!deferred_) deferred_ = std::move(error);
}

bool StreamCore::abandon(Deadline deadline) {
    std::shared_ptr<CaptureSession> session;  // destroyed without the lock
    std::exception_ptr error;
    {
        const auto held = lock_data("Stream::close");
        const bool origin = capture_.is_origin();
        session = capture_.close();
        if (!origin) session.reset();  // the others' capture goes on
        error = std::exchange(deferred_, nullptr);
    }
    if (session) {
        session->end();
        session->dismiss();
    }
    static_cast<void>(lock(deadline, "Stream::close"));  // other threads' calls
    return !error && !session;
}

void StreamCore::synchronize(Deadline deadline) {
    static constexpr const char* call = "Stream::synchronize";
    const LateHolds late;                   // after the visit: a destructor may close the stream
    std::optional<CallOrder::Visit> visit;  // as may a host function
    Completion last;
    {
        const auto held = lock_data(call);
        visit.emplace(order_);
        if (deferred_) std::rethrow_exception(std::exchange(deferred_, nullptr));
        throw_if_failed();
        refuse_in_capture(call);
        last = tail();
    }
    writer_.wait(last, deadline, call);
    for (std::size_t count = RetiredHolds::most; count == RetiredHolds::most;) {
        RetiredHolds retired;
        const std::lock_guard held(mutex_);
        throw_if_lost();
        if (copy_tail_ && is_over(tail())) copy_tail_.reset();
        writer_.log().forget_over(queue().read_index());
        retire(retired);
        count = retired.count;
    }
    timeline_->forget_reached();
}

bool StreamCore::query() {
    const LateHolds late;
    std::optional<CallOrder::Visit> visit;
    {
        RetiredHolds retired;
        const auto held = lock_data("Stream::query");
        visit.emplace(order_);
        if (deferred_) std::rethrow_exception(std::exchange(deferred_, nullptr));
        throw_if_failed();
        retire(retired);
        if (timeline_->reached(tail())) {
            throw_if_lost();  // failure ends in the same value as completion
            return true;
        }
    }
    static_cast<void>(timeline_->try_lost());
    live_streams::poll();
    throw_if_failed();
    return false;
}

bool StreamCore::host_may_run(bool wait_for_it, Deadline deadline, const char* call) {
    while (wait_for_it && !is_over(tail())) wait_away(tail(), deadline, call);
    throw_if_lost();
    return is_over(tail());
}

void StreamCore::throw_if_lost() {
    check_copies();
    if (timeline_->lost(timeline_->submitted())) timeline_->rethrow();
    throw_if_failed();
}

void StreamCore::change_queue(const std::shared_ptr<SharedQueue>& fresh) noexcept {
    shared_queue()->leave(*timeline_);
    std::shared_ptr<SharedQueue> old = writer_.change_queue(fresh);
    if (timeline_->in_flight()) holds_.push({.epochs = timeline_->submitted()}, std::move(old));
}

// ---- failure

void StreamCore::fail(const Fault& fault, std::size_t suspects) noexcept {
    const auto error = [&]() -> std::exception_ptr {
        if (suspects == 0) return std::make_exception_ptr(fault.lost(label()));
        // The runtime's thread may have a lock that a call of the stream waits for: a message without the kernel's name
        // is worth less than that call.
        std::unique_lock held(mutex_, std::try_to_lock);
        for (const Deadline deadline(100ms); !held && !deadline.passed(); std::this_thread::yield())
            static_cast<void>(held.try_lock());
        const std::string text =
            suspects == 1
                ? fault.text(label()) + "; the stream has failed" + (held ? ": " + writer_.situation() : std::string())
                : fault.text(agent_.label()) + "; " + std::to_string(suspects) +
                      " queues may have caused it, including that of " + label() + ", which has failed";
        return std::make_exception_ptr(MemoryFault(text, fault.address, fault.nearest));
    };
    try {
        fail(error());
    } catch (...) {
        fail(std::current_exception());
    }
    timeline_->lose_copies();
}

void StreamCore::try_free_queue() noexcept {
    const std::lock_guard held(mutex_);
    check_copies();
    if (!timeline_->try_lost() || shared_queue()->needs().exclusive) return;
    if (timeline_->intact(timeline_->finished() + 1)) return;  // its next packet may still run
    const PacketRecord* const next = writer_.log().first_pending(queue().read_index());
    const bool waits = next && next->kind != PacketRecord::Kind::batch;
    // A cooperative kernel's work-groups may wait for those that a failed assertion has ended.
    if (waits || shared_queue()->needs().cooperative) shared_queue()->try_stop_for(this);
}

void StreamCore::check_engines() noexcept {
    try {
        for (const PendingCopy& copy : copies_) {
            if (timeline_->reached(copy.done)) continue;
            const auto fault = copy.engine ? faults::of(copy.engine) : std::nullopt;
            if (!fault) return;  // later ones wait for it: nothing of them is lost yet
            timeline_->fail(std::make_exception_ptr(fault->lost(label())), copy.done.epochs);
            return timeline_->lose_copies();
        }
    } catch (const std::bad_alloc&) {  // retried by the next poll
    }
}

void StreamCore::check_copies() noexcept {
    check_engines();
    std::erase_if(copies_, [this](const PendingCopy& copy) {
        const bool over = timeline_->reached(copy.done);  // read first: a lost copy is reached, too
        static_cast<void>(timeline_->lost_copy(copy.done));
        return over;
    });
}

}  // namespace hsadrv::detail
