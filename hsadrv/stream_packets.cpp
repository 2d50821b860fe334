// The packets of a stream: what it puts on its queue, in which order, and what moves when the queue dies.
#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/stream_core.hpp"

namespace hsadrv::detail {

namespace {

using namespace std::chrono_literals;

std::span<const hsa_signal_t> one(const hsa_signal_t& signal) noexcept { return {&signal, 1}; }

}  // namespace

std::uint64_t StreamCore::reserve(std::uint32_t count, Deadline deadline, const char* call) {
    for (;;) {
        if (queue_->dead()) [[unlikely]]
            follow_queue();
        try {
            if (const auto slot = queue_->ref().try_reserve(count)) return *slot;
        } catch (const QueueError&) {
            follow_queue();
            continue;
        }
        wait_for_progress(deadline, call);
    }
}

void StreamCore::wait_for_turn(Deadline deadline, const char* call) {
    while (timeline_->submitted() >= (lane_.limit = timeline_->completed() + packets_))
        wait_for_progress(deadline, call);
}

std::uint64_t StreamCore::count_packets(std::uint64_t slot, std::uint32_t packets) noexcept {
    const std::uint64_t count = timeline_->submit(slot, packets);
    kernargs_.note(count);
    return count;
}

std::uint64_t StreamCore::put_counted(const Packet& packet, Deadline deadline, const char* call) {
    if (timeline_->submitted() >= lane_.limit) [[unlikely]]  // as far as was looked last
        wait_for_turn(deadline, call);
    std::uint64_t slot = 0;
    if (queue_->dead() || !lane_.ring->try_reserve_one(slot)) [[unlikely]]
        slot = reserve(1, deadline, call);
    const std::uint64_t epoch = count_packets(slot);
    lane_.ring->write(slot, packet);
    lane_.ring->publish_one(slot);
    return epoch;
}

std::uint64_t StreamCore::put_counted(const Packet& packet, Note&& note, Deadline deadline, const char* call) {
    drop_notes();
    notes_.make_room(1);
    const std::uint64_t epoch = put_counted(packet, deadline, call);
    note.slot = timeline_->slot_of(epoch);
    note.epoch = epoch;
    notes_.push_back(std::move(note));
    return epoch;
}

void StreamCore::put(const Packet& packet, Note&& note, Deadline deadline, const char* call) {
    drop_notes();
    notes_.make_room(1);
    note.slot = reserve(1, deadline, call);
    const QueueRef queue = queue_->ref();
    queue.write(note.slot, packet);
    queue.publish(note.slot, 1);
    notes_.push_back(std::move(note));
}

void StreamCore::drop_notes() noexcept {
    const std::uint64_t read_index = queue_->ref().read_index();
    while (!notes_.empty()) {
        if (!notes_.front().is_over(*timeline_, read_index)) return;
        notes_.pop_front();
    }
}

// What this stream has on a dead queue has not begun, or the stream would be to blame: at most one packet of a
// queue has begun and is not complete. The ring still holds it: nobody writes there any more but this stream,
// whose mutex is held.
void StreamCore::follow_queue() {
    queue_->await_death();
    throw_if_failed();
    const std::shared_ptr<SharedQueue> old = queue_, fresh = queues_.take(old->needs());
    const std::uint64_t read_index = old->ref().read_index();

    struct Move {
        std::uint32_t count = 1;
        Note* note = nullptr;
        std::uint64_t epoch = 0;
    };
    std::map<std::uint64_t, Move> moves;  // by the old slot, which is the stream's order
    for (std::size_t i = 0; i < notes_.size(); ++i)
        if (notes_[i].slot >= read_index) moves[notes_[i].slot] = {notes_[i].count, &notes_[i], 0};
    for (std::uint64_t epoch = timeline_->completed() + 1; epoch <= timeline_->submitted(); ++epoch)
        if (const std::uint64_t slot = timeline_->slot_of(epoch); slot >= read_index) moves[slot].epoch = epoch;

    old->leave(*this);
    fresh->enter(*this);
    set_queue(fresh);
    if (profiled_) profile_queue();
    holds_.push({.epochs = timeline_->submitted()}, old);  // arguments of kernels may name it
    const QueueRef queue = fresh->ref();
    for (const auto& [slot, move] : moves) {
        const std::uint64_t to = queue.reserve(move.count, 10s);
        for (std::uint32_t i = 0; i < move.count; ++i) queue.write(to + i, old->ref().peek(slot + i));
        if (move.note) move.note->slot = to;
        if (move.epoch != 0) timeline_->move(move.epoch, to);
        queue.publish(to, move.count);
    }
}

void StreamCore::follow_queue_if_dead() noexcept {
    if (failed() || !queue_->dead()) return;
    try {
        follow_queue();
    } catch (...) {
        fail(std::current_exception());
    }
}

void StreamCore::try_follow_queue() noexcept {
    const std::unique_lock held(mutex_, std::try_to_lock);
    if (held.owns_lock()) follow_queue_if_dead();
}

// ---- what goes on the queue

void StreamCore::join_copies(Deadline deadline, const char* call) {
    if (!copy_tail_) return;
    if (!reached({.copy = copy_tail_})) {
        holds_.make_room(1);
        const hsa_signal_t copy = copy_tail_->native();
        const std::uint64_t epoch =
            put_counted(barrier_and(one(copy), timeline_->signal().native(), ordering_only),
                        {.kind = copy_tail_kind_, .on = copy}, deadline, call);
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
    put(barrier_and({}, signal->native(), ordering_only), {.kind = Note::Kind::gate}, deadline, call);
    return signal;
}

std::shared_ptr<PooledSignal> StreamCore::before_next(Deadline deadline, const char* call) {
    std::shared_ptr<PooledSignal> before = copy_tail_;
    if (!before && kernels_in_flight()) before = gate(deadline, call);
    if (before && before->ref().load() <= 0) before.reset();
    return before;
}

void StreamCore::set_copy_tail(std::shared_ptr<PooledSignal> done, Note::Kind kind) {
    copy_tail_ = std::move(done);
    copy_tail_kind_ = kind;
    mutex_.divert();
}

void StreamCore::set_queue(std::shared_ptr<SharedQueue> queue) {
    queue_ = std::move(queue);
    lane_.ring = &queue_->ref().ring();
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
    if (capture_) [[unlikely]] {
        std::byte* recorded = capture_->begin_kernel(spec);
        held.release();
        return recorded;
    }
    if (copy_tail_) [[unlikely]]
        join_copies(deadline, call);
    const std::size_t room_bytes = KernargRing::room_bytes(spec.kernarg_bytes);
    std::byte* kernarg = kernargs_.try_reserve(room_bytes);
    while (kernarg == nullptr) {
        kernarg = kernargs_.make_room(room_bytes, timeline_->completed(), timeline_->submitted());
        if (kernarg == nullptr) wait_for_progress(deadline, call);
    }
    if (!profiling_) {
        mutex_.straighten();
        if (queue_->dead()) mutex_.divert();
    }
    held.release();  // Stream::dispatch unlocks
    return kernarg;
}

void StreamCore::commit_dispatch(const DispatchSpec& spec, std::byte* kernarg, Deadline deadline) {
    if (capture_) [[unlikely]]
        return capture_->commit_kernel(spec, kernarg);
    const Packet packet = kernel_dispatch(spec, kernarg, timeline_->signal().native());
    kernargs_.commit(profiling_ ? put_profiled(packet, deadline, "Stream::dispatch")
                                : put_counted(packet, deadline, "Stream::dispatch"),
                     KernargRing::room_bytes(spec.kernarg_bytes));
}

void StreamCore::submit(std::span<const Packet> packets, Deadline deadline) {
    static constexpr const char* call = "Stream::submit";
    if (packets.empty()) return throw_if_failed();
    const auto held = lock(deadline, call);
    throw_if_failed();
    if (captured([copy = std::vector(packets.begin(), packets.end())](StreamCore& core, Deadline when) {
            core.submit(copy, when);
        }))
        return;
    const std::size_t most = std::min(queue_->ref().size() / 2, Timeline::most_packets - 1);
    if (packets.size() > most)
        throw InvalidArgument(std::string(call) + ": " + std::to_string(packets.size()) +
                              " packets at once; the queue takes " + std::to_string(most));
    join_copies(deadline, call);
    wait_for_turn(deadline, call);
    drop_notes();
    notes_.make_room(1);
    const auto count = static_cast<std::uint32_t>(packets.size()) + 1;
    const std::uint64_t slot = reserve(count, deadline, call);
    const std::uint64_t epoch = count_packets(slot, count);
    const QueueRef queue = queue_->ref();
    for (std::uint32_t i = 0; i + 1 < count; ++i) {
        Packet packet = packets[i];
        if (i == 0) packet.words[0] |= 1u << HSA_PACKET_HEADER_BARRIER;
        queue.write(slot + i, packet);
    }
    queue.write(slot + count - 1, barrier_and({}, timeline_->signal().native()));
    queue.publish(slot, count);
    notes_.push_back({.kind = Note::Kind::batch, .count = count, .slot = slot, .epoch = epoch});
}

}  // namespace hsadrv::detail
