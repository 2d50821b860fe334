#include "hsadrv/stream/queue_writer.hpp"

#include <hsa/hsa_ext_amd.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "hsadrv/error.hpp"
#include "hsadrv/queue/known_kernels.hpp"
#include "hsadrv/signal/watched_wait.hpp"
#include "hsadrv/stream/live_streams.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

using namespace std::chrono_literals;

namespace {

// Only on queues for which timing was requested.
void time_packets_of(const SharedQueue& queue) {
    check(hsa_amd_profiling_set_profiler_enabled(queue.ref().native(), 1), "hsa_amd_profiling_set_profiler_enabled()");
}

}  // namespace

QueueWriter::QueueWriter(StreamCore& stream, LaunchLane& lane, std::shared_ptr<Timeline> timeline,
                         std::shared_ptr<SharedQueue> queue, std::uint32_t packets)
    : stream_(stream), lane_(lane), timeline_(std::move(timeline)), log_(timeline_), most_packets_(packets) {
    lane_.timeline = timeline_.get();
    lane_.limit = packets;
    lane_.completion = timeline_->signal().native().handle;
    set_queue(std::move(queue));
}

std::uint64_t QueueWriter::reserve(std::uint32_t count, Deadline deadline, const char* call) {
    for (;;) {
        if (queue_->dead()) [[unlikely]]
            follow_queue(deadline, call);
        try {
            if (const auto slot = queue_->ref().try_reserve(count)) return *slot;
        } catch (const QueueError&) {
            follow_queue(deadline, call);
            continue;
        }
        wait_for_progress(deadline, call);
    }
}

void QueueWriter::wait_for_turn(Deadline deadline, const char* call) {
    while (timeline_->submitted() >= (lane_.limit = timeline_->completed() + most_packets_))
        wait_for_progress(deadline, call);
}

std::uint64_t QueueWriter::count_packets(std::uint64_t slot, std::uint32_t packets) noexcept {
    const std::uint64_t count = timeline_->submit(slot, packets);
    lane_.kernargs.note(count);
    return count;
}

std::uint64_t QueueWriter::put_counted(const Packet& packet, Deadline deadline, const char* call) {
    if (timeline_->submitted() >= lane_.limit) [[unlikely]]  // the limit as of the last check
        wait_for_turn(deadline, call);
    std::uint64_t slot = 0;
    if (queue_->dead() || !lane_.ring->try_reserve_one(slot)) [[unlikely]]
        slot = reserve(1, deadline, call);
    const std::uint64_t epoch = count_packets(slot);
    lane_.ring->write(slot, packet);
    lane_.ring->publish_one(slot);
    return epoch;
}

std::uint64_t QueueWriter::put_counted(const Packet& packet, PacketRecord&& record, Deadline deadline,
                                       const char* call) {
    log_.make_room(queue_->ref().read_index());
    const std::uint64_t epoch = put_counted(packet, deadline, call);
    record.slot = timeline_->slot_of(epoch);
    record.epoch = epoch;
    log_.push(std::move(record));
    return epoch;
}

void QueueWriter::put(const Packet& packet, PacketRecord&& record, Deadline deadline, const char* call) {
    log_.make_room(queue_->ref().read_index());
    record.slot = reserve(1, deadline, call);
    lane_.ring->write(record.slot, packet);
    lane_.ring->publish(record.slot, 1);
    log_.push(std::move(record));
}

std::shared_ptr<SharedQueue> QueueWriter::change_queue(const std::shared_ptr<SharedQueue>& fresh) noexcept {
    std::shared_ptr<SharedQueue> old = queue_;
    old->leave(stream_);
    set_queue(fresh);
    return old;
}

void QueueWriter::follow_queue(Deadline deadline, const char* call) {
    queue_->await_death();
    for (;;) {
        live_streams::poll(&stream_);
        timeline_->throw_if_failed();
        if (!queue_->dead()) return;
        if (deadline.passed())
            throw Timeout(std::string(call) + "(" + deadline.text() + ", " + timeline_->label() +
                          "): its queue has stopped, and other threads hold streams that share it");
        const Parking::Parked parked(parking_);
        std::this_thread::sleep_for(1ms);
    }
}

std::uint64_t QueueWriter::put_batch(std::span<const Packet> packets, const Packet& last, PacketRecord&& record,
                                     Deadline deadline, const char* call) {
    wait_for_turn(deadline, call);
    log_.make_room(queue_->ref().read_index());
    const auto count = static_cast<std::uint32_t>(packets.size()) + 1;
    const std::uint64_t slot = reserve(count, deadline, call);
    const std::uint64_t epoch = count_packets(slot, count);
    AqlRing& ring = *lane_.ring;
    for (std::uint32_t i = 0; i + 1 < count; ++i) ring.write(slot + i, packets[i]);
    ring.write(slot + count - 1, last);
    ring.publish(slot, count);
    record.count = count;
    record.slot = slot;
    record.epoch = epoch;
    log_.push(std::move(record));
    return epoch;
}

void QueueWriter::set_queue(std::shared_ptr<SharedQueue> queue) noexcept {
    queue_ = std::move(queue);
    queue_ref_.store(queue_->ref(), std::memory_order_release);
    lane_.ring = &queue_->ref().ring();
}

std::unique_lock<LaneMutex> QueueWriter::lock(Deadline deadline, const char* call) const {
    refuse_in_forked_child(call);
    std::unique_lock held(lane_.mutex, std::try_to_lock);
    if (held.owns_lock()) return held;
    if (deadline.is_never()) {
        held.lock();
        return held;
    }
    while (!held.try_lock()) {
        if (deadline.passed())
            throw Timeout(std::string(call) + "(" + deadline.text() + ", " + timeline_->label() +
                          "): another thread is submitting to the stream and is itself waiting");
        std::this_thread::sleep_for(50us);
    }
    return held;
}

void QueueWriter::poll(Lock lock) noexcept {
    if (lock == Lock::held) stream_.check_copies();  // live_streams::poll() leaves this stream out
    static_cast<void>(timeline_->try_lost());        // fails with the stream that it waits for
    live_streams::poll(lock == Lock::held ? &stream_ : nullptr);
}

void QueueWriter::wait(const Completion& completion, Deadline deadline, const char* call, Lock lock) {
    const auto [signal, below] = timeline_->signal_of(completion);
    const auto try_wait = [&, signal = signal, below = below](std::chrono::milliseconds slice) {
        std::optional<Parking::Parked> parked;
        if (lock == Lock::held) parked.emplace(parking_);
        return signal.try_wait(Condition::less, below, deadline.sliced(slice)).has_value();
    };
    watched_wait(try_wait, [&] {
        poll(lock);
        if (timeline_->failed()) return true;
        if (deadline.passed())
            throw Timeout(std::string(call) + "(" + deadline.text() + ", " + timeline_->label() +
                          "): " + live_streams::autopsy_of(*timeline_, lock == Lock::held ? &stream_ : nullptr));
        return false;
    });
    static_cast<void>(timeline_->lost_copy(completion));  // an error is below zero, too
    timeline_->throw_if_failed();
}

void QueueWriter::wait_for_progress(Deadline deadline, const char* call) {
    const std::uint64_t completed = timeline_->completed();
    {
        const Parking::Parked parked(parking_);
        if (timeline_->in_flight())
            timeline_->signal().try_wait(Condition::less, Timeline::below(completed + 1), deadline.sliced(20ms));
        else  // the ring is full of packets of other streams
            std::this_thread::sleep_for(100us);
    }
    poll(Lock::held);
    timeline_->throw_if_failed();
    if (deadline.passed() && timeline_->completed() == completed)
        throw Timeout(std::string(call) + "(" + deadline.text() + ", " + timeline_->label() +
                      "): no room: " + live_streams::autopsy_of(*timeline_, &stream_));
}

std::string QueueWriter::situation() const {
    const std::uint64_t submitted = timeline_->submitted(), completed = timeline_->completed();
    std::string text = std::to_string(completed) + " of " + std::to_string(submitted) + " packets complete";
    const auto slot = timeline_->running_slot(queue_->ref().read_index());
    if (!slot) return text + ", a copy is in flight";
    const PacketRecord* const record = log_.first_pending(queue_->ref().read_index());
    const auto dispatch = queue_->ref().peek(*slot).as<hsa_kernel_dispatch_packet_t>();
    // The packet processor invalidates headers, so the setup word distinguishes a dispatch from a barrier.
    const bool wait = dispatch.setup == 0 || (record && record->kind != PacketRecord::Kind::batch);
    return text + ", the first incomplete one is " + (wait ? "a wait" : kernel_label(dispatch.kernel_object));
}

void QueueWriter::time_packets() {
    if (timed_) return;
    time_packets_of(*queue_);
    timed_ = true;
}

void QueueWriter::make_ready_for(const SharedQueue& queue) const {
    if (timed_) time_packets_of(queue);
}

}  // namespace hsadrv::detail
