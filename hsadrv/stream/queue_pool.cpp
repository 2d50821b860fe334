#include "hsadrv/stream/queue_pool.hpp"

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "hsadrv/base/cu_mask.hpp"
#include "hsadrv/base/leak.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/live_streams.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "hsadrv/stream/stream_remains.hpp"

namespace hsadrv::detail {

namespace {

using namespace std::chrono_literals;

// Room for the packets of several streams; an exclusive queue has more than its stream's packets, see spare_packets.
constexpr std::uint32_t shared_ring_packets = 4096;

std::uint32_t ring_packets(const QueueNeeds& needs) {
    const std::uint32_t least = needs.exclusive ? 2 * needs.packets : std::max(needs.packets, shared_ring_packets);
    return std::min(least, needs.gpu.queue_max_packets());
}

// What its streams have in flight leaves another one no slots of its own (queue_writer.hpp).
bool is_crowded(const SharedQueue& queue) {
    const AqlRing& ring = queue.ref().ring();
    return ring.write_index() - ring.read_index() > QueueWriter::room_of(ring.size(), queue.streams() + 1);
}

void require_size(const QueueNeeds& needs) {
    const std::uint32_t least = needs.gpu.queue_min_packets(), most = needs.gpu.queue_max_packets();
    if (std::has_single_bit(needs.packets) && needs.packets >= least && needs.packets <= most) return;
    throw InvalidArgument("hsadrv::Stream(" + needs.gpu.label() + ", " + std::to_string(needs.packets) +
                              " packets): the number must be a power of two from " + std::to_string(least) + " to " +
                              std::to_string(most),
                          HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/// The mask cut to the GPU's compute units; empty if it allows all of them, so that equal masks are equal vectors.
std::vector<std::uint32_t> settled_mask(const QueueNeeds& needs) {
    if (needs.cu_mask.empty()) return {};
    std::vector<std::uint32_t> mask = cut_to_units(needs.cu_mask, needs.gpu);
    if (mask == cut_to_units(std::vector(mask.size(), ~0u), needs.gpu)) return {};
    if (names_no_unit(mask))
        throw InvalidArgument("hsadrv::Stream(" + needs.gpu.label() + "): the cu_mask leaves none of its " +
                                  std::to_string(needs.gpu.compute_units()) +
                                  " compute units; an empty mask allows all",
                              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    require_pairs("hsadrv::Stream(" + needs.gpu.label() + ")", mask, needs.gpu);
    return mask;
}

}  // namespace

SharedQueue::SharedQueue(const QueueNeeds& needs, std::uint32_t packets, bool open)
    : needs_(needs),
      open_(open),
      queue_(Queue::create(needs.gpu, {.packets = packets,
                                       .on_error = [this] { on_error(); },
                                       .priority = needs.priority,
                                       .cu_mask = needs.cu_mask})) {}

SharedQueue::~SharedQueue() {
    {
        // An error may be reported while the queue ends: on_error() must not use it by then.
        const std::lock_guard lock(mutex_);
        dead_.store(true, std::memory_order_release);
    }
    queue_ = Queue();  // no packet runs from here on, and no error callback
    end_outlived();
}

void SharedQueue::enter(StreamCore& stream) {
    const std::lock_guard lock(mutex_);
    users_.push_back({stream.timeline(), &stream});
    if (dead()) stream.mutex().disable_fast_path();
}

void SharedQueue::leave(const Timeline& stream) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(users_, [&](const User& user) { return user.timeline.get() == &stream; });
}

// The callback is owned by the queue: a failure of the stream does not make it due.
void SharedQueue::outlive(const std::shared_ptr<SharedQueue>& queue, const Timeline& stream, CompletionSignal last,
                          std::shared_ptr<StreamRemains> remains) noexcept {
    {
        const std::lock_guard lock(queue->mutex_);
        for (User& user : queue->users_)
            if (user.timeline.get() == &stream) user.stream = nullptr;
    }
    const auto over = [weak = std::weak_ptr(queue), &stream, remains]() mutable {  // it has the timeline
        if (const auto shared = weak.lock()) shared->leave(stream);
        StreamRemains::let_go(std::move(remains));
    };
    try {
        SignalCallbacks& thread = Driver::current().runtime().copies();
        thread.on_signal(last.signal, Condition::less, last.below, over, live_streams::poll, queue.get());
        if (queue->dead()) thread.hurry(queue.get());  // it died meanwhile: die() found no callback to hurry
    } catch (...) {                                    // no memory, or no thread
        leak(std::move(remains));
    }
}

// A stream that is being made has entered already, submits nothing yet, and settles it when it is in the list.
void SharedQueue::settle_producers(std::span<StreamCore* const> live) {
    std::size_t users = 0;
    {
        const std::lock_guard lock(mutex_);
        for (const User& user : users_) users += user.stream != nullptr;
    }
    for (StreamCore* stream : live) {
        if (stream->shared_queue().get() != this) continue;
        const std::lock_guard held(stream->mutex());
        queue_.ref().ring().set_alone(users == 1);
        stream->writer().set_room(users);
    }
}

std::size_t SharedQueue::streams() const {
    const std::lock_guard lock(mutex_);
    return users_.size();
}

const SharedQueue::User* SharedQueue::head() const noexcept {
    const User* head = nullptr;
    std::uint64_t first = UINT64_MAX;
    for (const User& user : users_) {
        const auto slot = user.timeline->first_pending_slot();
        if (!slot || *slot >= first) continue;
        first = *slot;
        head = &user;
    }
    return head;
}

std::string SharedQueue::head_label() const {
    const std::lock_guard lock(mutex_);
    const User* const user = head();
    return user ? user->timeline->label() : std::string();
}

bool SharedQueue::is_head(const StreamCore* stream) const noexcept {
    const std::lock_guard lock(mutex_);
    const User* const user = head();
    return user && user->stream == stream;
}

void SharedQueue::die() noexcept {
    dead_.store(true, std::memory_order_release);
    for (const User& user : users_) {
        if (user.stream) user.stream->mutex().disable_fast_path();
        user.timeline->lose_rest();  // a failed stream does not move to another queue, and its gates do not open
        if (user.stream && user.timeline->failed()) user.stream->end_waiting_copies();
    }
    end_outlived();
}

void SharedQueue::end_outlived() const noexcept {
    if (const auto runtime = Runtime::find()) runtime->copies().hurry(this);
}

// On the runtime's thread.
void SharedQueue::on_error() noexcept {
    const std::lock_guard lock(mutex_);
    if (dead()) return;  // stopped meanwhile, for a stream that has since left
    const User* user = head();
    if (!user && users_.size() == 1) user = &users_.front();  // a packet that its user submitted directly
    if (user) {
        std::exception_ptr error;
        try {
            queue_.ref().throw_if_failed(user->timeline->label());
        } catch (...) {
            error = std::current_exception();
        }
        if (user->stream)
            user->stream->fail(std::move(error));
        else
            user->timeline->fail(std::move(error));
    }
    die();
}

bool SharedQueue::is_being_left() const noexcept {
    const std::lock_guard lock(mutex_);
    if (!dead()) return queue_.ref().failed();
    return std::any_of(users_.begin(), users_.end(),
                       [](const User& user) { return user.stream && !user.timeline->failed(); });
}

bool SharedQueue::try_stop_for(const StreamCore* stream) noexcept {
    const std::lock_guard lock(mutex_);
    if (dead()) return true;
    const User* const user = head();
    if (!user || user->stream != stream || !is_quiet(*user->timeline)) return false;
    const Timeline* const stopped = user->timeline.get();
    hsa_queue_inactivate(queue_.ref().native());
    fail_who_was_cut_off(stopped);
    die();
    return true;
}

// The packet at the head may have completed before the queue stopped, and the next packet may have begun. Its progress
// is unknown, so it is neither dropped nor run again: its stream fails.
void SharedQueue::fail_who_was_cut_off(const Timeline* stopped) noexcept {
    const User* const next = head();
    if (!next || next->timeline.get() == stopped) return;
    AqlRing& ring = queue_.ref().ring();
    const std::uint64_t slot = next->timeline->first_pending_slot().value_or(UINT64_MAX), read = ring.read_index();
    const bool invalid = (ring.first_word(slot) & 0xff) == HSA_PACKET_TYPE_INVALID;
    if (slot > read || (slot == read && !(invalid && slot < ring.frontier()))) return;
    std::exception_ptr error;
    try {
        error = std::make_exception_ptr(QueueError(next->timeline->label() +
                                                   ": its packet had just begun when its queue was stopped because "
                                                   "another stream's packet did not complete"));
    } catch (...) {
        error = std::current_exception();
    }
    next->timeline->fail(std::move(error));
}

bool SharedQueue::stop_for(const StreamCore* stream) noexcept {
    const Deadline patience(1s);
    while (!try_stop_for(stream)) {
        if (!is_head(stream) || patience.passed()) return dead();
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

// Inactivating a queue while the runtime handles an error of its packets changes the queue under that handler, and a
// new queue may reuse its memory. So wait for an error that is being reported: a malformed packet is found within
// microseconds of its turn, or within some time slices of a busy host that emulates the device. A packet that has begun
// (most packet processors have then invalidated its header) can still raise an exception in its kernel at any time.
// That race is the runtime's, as for every queue that is destroyed while its kernel runs. Newer runtimes pass an error
// to their handler alone.
bool SharedQueue::is_quiet(const Timeline& head) noexcept {
    const QueueRef ring = queue_.ref();
    const std::uint64_t next = ring.read_index();
    const Quiet now{&head, head.first_pending_slot().value_or(next), next, ring.ring().first_word(next) & 0xff,
                    Deadline::Clock::now()};
    const SignalRef error(reinterpret_cast<const amd_queue_t*>(ring.native())->queue_inactive_signal);
    if (error.load() != 0 || !now.is_as(quiet_)) quiet_ = now;
    const bool begun = now.packet_type == HSA_PACKET_TYPE_INVALID;
    return now.since - quiet_.since >= (begun ? 20ms : 200ms);
}

std::vector<StreamCore*> SharedQueue::streams_on() const {
    std::vector<StreamCore*> streams;
    const std::lock_guard lock(mutex_);
    for (const User& user : users_)
        if (user.stream) streams.push_back(user.stream);
    return streams;
}

std::vector<std::shared_ptr<SharedQueue>> QueuePool::queues() {
    const std::lock_guard lock(mutex_);
    return live_queues();
}

std::vector<std::shared_ptr<SharedQueue>> QueuePool::live_queues() const {
    std::vector<std::shared_ptr<SharedQueue>> live;
    for (const auto& weak : queues_)
        if (auto queue = weak.lock()) live.push_back(std::move(queue));
    return live;
}

std::shared_ptr<SharedQueue> QueuePool::make(const QueueNeeds& needs) {
    auto fresh = std::make_shared<SharedQueue>(needs, ring_packets(needs), false);
    if (needs.exclusive) return fresh;
    const std::lock_guard lock(mutex_);
    queues_.push_back(fresh);
    return fresh;
}

std::shared_ptr<SharedQueue> QueuePool::cooperative(const QueueNeeds& needs) {
    std::vector<std::shared_ptr<SharedQueue>> live;  // the last references may be dropped here: without the lock
    const std::lock_guard lock(mutex_);
    live = live_queues();
    const auto found = std::find_if(live.begin(), live.end(), [&](const auto& queue) {
        return queue->needs().alike(needs) && queue->is_open() && !queue->dead() && !queue->is_being_left();
    });
    return found == live.end() ? nullptr : *found;
}

std::shared_ptr<SharedQueue> QueuePool::take_cooperative(const QueueNeeds& needs) {
    for (const Deadline patience(10s);; live_streams::poll(), std::this_thread::sleep_for(1ms)) {
        std::vector<std::shared_ptr<SharedQueue>> live;  // the last references may be dropped here: without the lock
        std::shared_ptr<SharedQueue> fresh;
        const std::lock_guard lock(mutex_);
        live = live_queues();
        bool wait = false;
        for (const auto& queue : live) {
            if (!queue->needs().alike(needs)) continue;
            const bool left = queue->is_being_left();
            if (queue->is_open() && !queue->dead() && !left) return queue;
            wait |= left || !queue->is_open();
        }
        if (wait && !patience.passed()) continue;
        if (wait)
            throw Timeout("hsadrv: the queue for cooperative launches on " + needs.gpu.label() +
                          " has failed, and other threads keep its streams from leaving it");
        std::erase_if(queues_, [](const auto& queue) { return queue.expired(); });
        fresh = std::make_shared<SharedQueue>(needs, ring_packets(needs));
        queues_.push_back(fresh);
        return fresh;
    }
}

std::shared_ptr<SharedQueue> QueuePool::take(QueueNeeds needs) {
    require_size(needs);
    needs.cu_mask = settled_mask(needs);
    if (needs.exclusive) return std::make_shared<SharedQueue>(needs, ring_packets(needs));
    if (needs.cooperative) return take_cooperative(needs);
    std::vector<std::shared_ptr<SharedQueue>> live;  // the last references may be dropped here: without the lock
    std::shared_ptr<SharedQueue> fresh;
    const std::lock_guard lock(mutex_);
    live = live_queues();
    std::erase_if(queues_, [](const auto& queue) { return queue.expired(); });
    std::size_t count = 0;
    bool alike_soon = false;
    std::shared_ptr<SharedQueue> emptiest;
    std::vector<std::shared_ptr<SharedQueue>> kinds;  // one of each combination: many of one must not keep out another
    for (const auto& queue : live) {
        if (queue->dead() || queue->ref().failed() || queue->needs().gpu != needs.gpu) continue;
        if (queue->needs().cooperative || queue->needs().ordinary() != needs.ordinary()) continue;
        ++count;
        if (std::none_of(kinds.begin(), kinds.end(),
                         [&](const auto& kind) { return kind->needs().alike(queue->needs()); }))
            kinds.push_back(queue);
        if (queue->ref().size() < needs.packets || !queue->needs().alike(needs)) continue;
        if (!queue->is_open()) {  // a dead queue's successor: briefly exceeding `most` is better than refusing
            alike_soon = true;
            continue;
        }
        if (!emptiest ||
            std::pair(is_crowded(*queue), queue->streams()) < std::pair(is_crowded(*emptiest), emptiest->streams()))
            emptiest = queue;
    }
    const bool full = count >= (needs.ordinary() ? most : most_special);
    if (emptiest && (emptiest->streams() == 0 || (full && !is_crowded(*emptiest)))) return emptiest;
    if (kinds.size() >= most_special && !emptiest && !needs.ordinary() && !alike_soon)
        throw OutOfMemory("hsadrv::Stream(" + needs.gpu.label() + "): the " + std::to_string(most_special) +
                              " queues for streams with a priority or a mask of compute units are in use, and none has "
                              "this priority and this mask; use fewer combinations at a time, or request an "
                              "exclusive_queue",
                          HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    try {
        fresh = std::make_shared<SharedQueue>(needs, ring_packets(needs));
        queues_.push_back(fresh);
        return fresh;
    } catch (const OutOfMemory&) {
        if (!emptiest) throw;
        return emptiest;  // other processes use the rest of the GPU's queues
    }
}

}  // namespace hsadrv::detail
