#include "hsadrv/queue_pool.hpp"

#include <hsa/hsa.h>

#include <algorithm>
#include <bit>

#include "hsadrv/cu_mask.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream_core.hpp"

namespace hsadrv::detail {

namespace {

// Room for several streams' packets; a stream of its own queue has what it asked for.
constexpr std::uint32_t shared_ring_packets = 4096;

void require_size(const QueueNeeds& needs) {
    const std::uint32_t least = needs.gpu.queue_min_packets(), most = needs.gpu.queue_max_packets();
    if (std::has_single_bit(needs.packets) && needs.packets >= least && needs.packets <= most) return;
    throw InvalidArgument("hsadrv::Stream(" + needs.gpu.label() + ", " + std::to_string(needs.packets) +
                              " packets): the number must be a power of two from " + std::to_string(least) + " to " +
                              std::to_string(most),
                          HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/// The mask with no more than the GPU's compute units; empty for all of them, so that equal masks are equal vectors.
std::vector<std::uint32_t> settled_mask(const QueueNeeds& needs) {
    if (needs.cu_mask.empty()) return {};
    std::vector<std::uint32_t> mask = cut_to_units(needs.cu_mask, needs.gpu);
    if (mask == cut_to_units(std::vector(mask.size(), ~0u), needs.gpu)) return {};
    if (names_no_unit(mask))
        throw InvalidArgument("hsadrv::Stream(" + needs.gpu.label() + "): the cu_mask leaves none of its " +
                                  std::to_string(needs.gpu.compute_units()) +
                                  " compute units; an empty one allows all",
                              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    return mask;
}

}  // namespace

SharedQueue::SharedQueue(const QueueNeeds& needs, std::uint32_t packets)
    : needs_(needs),
      queue_(Queue::create(needs.gpu, {.packets = packets,
                                       .on_error = [this] { on_error(); },
                                       .priority = needs.priority,
                                       .cu_mask = needs.cu_mask})) {}

void SharedQueue::enter(StreamCore& stream) {
    const std::lock_guard lock(mutex_);
    forget_the_gone();
    users_.push_back({stream.timeline(), &stream, nullptr});
    if (dead()) stream.lane().mutex.divert();
}

void SharedQueue::leave(StreamCore& stream) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(users_, [&](const User& user) { return user.stream == &stream; });
    forget_the_gone();
}

void SharedQueue::leave(StreamCore& stream, std::shared_ptr<const void> remains) {
    const std::lock_guard lock(mutex_);
    for (User& user : users_) {
        if (user.stream != &stream) continue;
        user.stream = nullptr;
        user.remains = std::move(remains);
    }
}

void SharedQueue::forget_the_gone() noexcept {
    std::erase_if(users_, [](const User& user) { return !user.stream && !user.timeline->in_flight(); });
}

std::size_t SharedQueue::streams() const {
    const std::lock_guard lock(mutex_);
    return users_.size();
}

SharedQueue::User* SharedQueue::head() noexcept {
    User* head = nullptr;
    std::uint64_t first = UINT64_MAX;
    for (User& user : users_) {
        const auto slot = user.timeline->first_pending_slot();
        if (!slot || *slot >= first) continue;
        first = *slot;
        head = &user;
    }
    return head;
}

std::string SharedQueue::head_label() const {
    const std::lock_guard lock(mutex_);
    const User* user = const_cast<SharedQueue*>(this)->head();
    return user ? user->timeline->label() : std::string();
}

void SharedQueue::die() noexcept {
    dead_.store(true, std::memory_order_release);
    for (const User& user : users_)
        if (user.stream) user.stream->lane().mutex.divert();
    died_.notify_all();
}

// On the runtime's thread.
void SharedQueue::on_error() noexcept {
    const std::lock_guard lock(mutex_);
    User* user = head();
    if (!user && users_.size() == 1) user = &users_.front();  // a packet that its user put there
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

void SharedQueue::await_death() {
    std::unique_lock lock(mutex_);
    died_.wait(lock, [this] { return dead(); });
}

bool SharedQueue::stop_for(const StreamCore& stream) noexcept {
    const std::lock_guard lock(mutex_);
    if (dead()) return true;
    const User* user = head();
    if (!user || user->stream != &stream) return false;
    hsa_queue_inactivate(queue_.ref().native());
    die();
    return true;
}

std::shared_ptr<SharedQueue> QueuePool::take(QueueNeeds needs) {
    require_size(needs);
    needs.cu_mask = settled_mask(needs);
    if (needs.exclusive) return std::make_shared<SharedQueue>(needs, needs.packets);
    const std::lock_guard lock(mutex_);
    std::erase_if(queues_, [](const auto& queue) { return queue.expired(); });
    std::size_t count = 0;
    std::shared_ptr<SharedQueue> emptiest;
    for (const auto& weak : queues_) {
        std::shared_ptr<SharedQueue> queue = weak.lock();
        if (!queue || queue->dead() || queue->ref().failed() || queue->needs().gpu != needs.gpu) continue;
        if (queue->needs().ordinary() != needs.ordinary()) continue;
        ++count;
        if (queue->ref().size() < needs.packets || !queue->needs().alike(needs)) continue;
        if (!emptiest || queue->streams() < emptiest->streams()) emptiest = std::move(queue);
    }
    const bool full = count >= (needs.ordinary() ? most : most_special);
    if (emptiest && (emptiest->streams() == 0 || full)) return emptiest;
    if (full && !needs.ordinary())
        throw OutOfMemory("hsadrv::Stream(" + needs.gpu.label() + "): the " + std::to_string(most_special) +
                              " queues for streams with a priority or a mask of compute units are in use, and none has "
                              "this priority and this mask; let fewer combinations live at once, or ask for an "
                              "exclusive_queue",
                          HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    try {
        const std::uint32_t packets =
            std::min(std::max(needs.packets, shared_ring_packets), needs.gpu.queue_max_packets());
        auto fresh = std::make_shared<SharedQueue>(needs, packets);
        queues_.push_back(fresh);
        return fresh;
    } catch (const OutOfMemory&) {
        if (!emptiest) throw;
        return emptiest;  // others have the rest of the GPU's queues
    }
}

}  // namespace hsadrv::detail
