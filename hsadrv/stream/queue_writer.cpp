#include "hsadrv/stream/queue_writer.hpp"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "hsadrv/error.hpp"
#include "hsadrv/queue/known_kernels.hpp"
#include "hsadrv/signal/callback_thread.hpp"
#include "hsadrv/signal/watched_wait.hpp"
#include "hsadrv/stream/live_streams.hpp"

namespace hsadrv::detail {

using namespace std::chrono_literals;

namespace {

// Only on queues for which timing was requested.
void time_packets_of(const SharedQueue& queue) {
    check(hsa_amd_profiling_set_profiler_enabled(queue.ref().native(), 1), "hsa_amd_profiling_set_profiler_enabled()");
}

std::uint32_t spare_of(Room room) noexcept {
    if (room == Room::last) return 2 * spare_packets;
    return on_callback_thread() ? spare_packets : 0;
}

}  // namespace

QueueWriter::QueueWriter(LaunchLane& lane, CallOrder& order, std::shared_ptr<Timeline> timeline,
                         std::shared_ptr<SharedQueue> queue, std::uint32_t packets)
    : lane_(lane), order_(order), timeline_(std::move(timeline)), log_(timeline_), most_packets_(packets) {
    lane_.timeline = timeline_.get();
    lane_.limit = packets;
    lane_.completion = timeline_->signal().native().handle;
    set_queue(std::move(queue));
}

bool QueueWriter::has_turn(Room room, std::uint32_t packets) noexcept {
    const std::uint64_t last = timeline_->submitted() + packets;
    if (last > lane_.limit) lane_.limit = timeline_->completed() + most_packets_;
    return last <= lane_.limit || last <= lane_.limit + spare_of(room);
}

std::optional<std::uint64_t> QueueWriter::try_reserve_uncounted(std::uint32_t count, Room room) {
    if (queue_->dead()) [[unlikely]]
        return std::nullopt;
    AqlRing& ring = *lane_.ring;
    log_.make_room(ring.read_index());
    if (const auto slot = ring.try_reserve(count, lane_.room)) return slot;
    if (spare_of(room) == 0) return std::nullopt;
    return ring.try_reserve(count, room == Room::last ? ring.size() : host_room_);
}

std::optional<std::uint64_t> QueueWriter::try_reserve(std::uint32_t count, Room room) {
    return has_turn(room) ? try_reserve_uncounted(count, room) : std::nullopt;
}

bool QueueWriter::has_room(std::uint32_t packets) noexcept {
    const std::uint64_t room = spare_of(Room::ordinary) == 0 ? lane_.room : host_room_;
    return has_turn(Room::ordinary, packets) && !queue_->dead() &&
           lane_.ring->write_index() - lane_.ring->read_index() + packets <= room;
}

// Without the mutex the queue may change. A queue that has stopped is left when all of its streams can be claimed; one
// that is full of other streams' packets changes no signal of this one.
void QueueWriter::wait_for_room(Deadline deadline, const char* call, Room room) {
    const std::uint64_t completed = timeline_->completed();
    const std::shared_ptr<SharedQueue> before = queue_;
    const bool watch = timeline_->in_flight() && !before->dead();
    std::string why;
    bool late = false;
    {
        const CallOrder::Away away(order_, deadline, late, CallOrder::While::waiting, room == Room::last);
        if (watch)
            timeline_->signal().try_wait(Condition::less, Timeline::below(completed + 1), deadline.sliced(20ms));
        else
            std::this_thread::sleep_for(100us);
        static_cast<void>(timeline_->try_lost());  // fails with the stream that it waits for
        live_streams::poll();
        if (deadline.passed() && timeline_->completed() == completed) why = live_streams::autopsy_of(*timeline_);
    }
    timeline_->throw_if_failed();
    if (late) throw_late(call, deadline, timeline_->label());
    if (!why.empty() && queue_ == before)  // there may be room on another one
        throw Timeout(std::string(call) + "(" + deadline.text() + ", " + timeline_->label() + "): no room: " + why);
}

std::uint64_t QueueWriter::count_packets(std::uint64_t slot, std::uint32_t packets) noexcept {
    const std::uint64_t count = timeline_->submit(slot, packets);
    lane_.kernargs.note(count);
    return count;
}

void QueueWriter::put(std::uint64_t slot, const Packet& packet, PacketRecord&& record) noexcept {
    lane_.ring->write(slot, packet);
    lane_.ring->publish_one(slot);
    record.slot = slot;
    log_.push(std::move(record));
}

std::uint64_t QueueWriter::put_counted(std::uint64_t slot, const Packet& packet) noexcept {
    const std::uint64_t epoch = count_packets(slot);
    lane_.ring->write(slot, packet);
    lane_.ring->publish_one(slot);
    return epoch;
}

std::uint64_t QueueWriter::put_counted(std::uint64_t slot, const Packet& packet, PacketRecord&& record) noexcept {
    const std::uint64_t epoch = put_counted(slot, packet);
    record.slot = slot;
    record.epoch = epoch;
    log_.push(std::move(record));
    return epoch;
}

std::uint64_t QueueWriter::put_batch(std::uint64_t slot, std::span<const Packet> packets, const Packet& last,
                                     PacketRecord&& record) noexcept {
    const auto count = static_cast<std::uint32_t>(packets.size()) + 1;
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

void QueueWriter::wait(const Completion& completion, Deadline deadline, const char* call) const {
    const auto [signal, below] = timeline_->signal_of(completion);
    const auto try_wait = [&, signal = signal, below = below](std::chrono::milliseconds slice) {
        return signal.try_wait(Condition::less, below, deadline.sliced(slice)).has_value();
    };
    watched_wait(try_wait, [&] {
        static_cast<void>(timeline_->try_lost());
        live_streams::poll();
        if (timeline_->failed()) return true;
        if (deadline.passed())
            throw Timeout(std::string(call) + "(" + deadline.text() + ", " + timeline_->label() +
                          "): " + live_streams::autopsy_of(*timeline_));
        return false;
    });
    static_cast<void>(timeline_->lost_copy(completion));  // an error is below zero, too
    timeline_->throw_if_failed();
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

void QueueWriter::set_queue(std::shared_ptr<SharedQueue> queue) noexcept {
    queue_ = std::move(queue);
    queue_ref_.store(queue_->ref(), std::memory_order_release);
    lane_.ring = &queue_->ref().ring();
    set_room(1);
}

// Each stream has its own: the host functions that wait for one must not use up another's. The longest batch and its
// count have room on an empty ring, however many streams there are.
void QueueWriter::set_room(std::size_t streams) noexcept {
    const std::uint64_t size = lane_.ring->size();
    lane_.room = room_of(size, streams);
    host_room_ = size - std::min<std::uint64_t>(2 * spare_packets, (size - lane_.room) / 2);
}

std::uint64_t QueueWriter::room_of(std::uint64_t size, std::size_t streams) noexcept {
    return size - std::min<std::uint64_t>(2 * streams * spare_packets, size / 2 - 1);
}

std::shared_ptr<SharedQueue> QueueWriter::change_queue(std::shared_ptr<SharedQueue> fresh) noexcept {
    std::shared_ptr<SharedQueue> old = queue_;
    set_queue(std::move(fresh));
    return old;
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
