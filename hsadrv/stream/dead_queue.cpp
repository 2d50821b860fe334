#include "hsadrv/stream/dead_queue.hpp"

#include <algorithm>
#include <cassert>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

namespace {

/// The streams of the queue that have not failed. One that has left the list is being destroyed.
std::vector<StreamCore*> streams_to_move(const SharedQueue& dead, std::span<StreamCore* const> live) {
    std::vector<StreamCore*> streams = dead.streams_on();
    std::erase_if(streams, [&](StreamCore* stream) {
        if (std::find(live.begin(), live.end(), stream) == live.end()) return true;
        stream->timeline()->lose_rest();  // if it has failed: it does not move, and its gates do not open
        if (stream->failed()) stream->end_waiting_copies();
        return stream->failed();
    });
    return streams;
}

/// Of all streams at once, which have one rank: tried, until the thread that has it gives it back.
std::vector<std::unique_lock<LaneMutex>> lock_all(std::span<StreamCore* const> streams) {
    std::vector<std::unique_lock<LaneMutex>> held;
    held.reserve(streams.size());
    for (StreamCore* stream : streams)
        while (!held.emplace_back(stream->mutex(), std::try_to_lock)) {
            held.pop_back();
            std::this_thread::yield();
        }
    return held;
}

// The old ring still holds the packets: nothing writes to it any more. Packets before the read index have run.
void move_packets(const SharedQueue& dead, const std::shared_ptr<SharedQueue>& fresh,
                  std::span<StreamCore* const> streams, std::span<StreamCore* const> live) {
    const QueueRef from = dead.ref(), to = fresh->ref();
    std::vector<StreamCore*> all(streams.begin(), streams.end());  // of the new queue, which may be one that others use
    std::copy_if(live.begin(), live.end(), std::back_inserter(all),
                 [&](StreamCore* stream) { return stream->shared_queue() == fresh; });
    const auto held = lock_all(all);
    QueueMoves moves;
    for (StreamCore* stream : streams) {
        stream->writer().log().list_moves(moves, from.read_index());
        stream->make_ready_for(*fresh);
        fresh->enter(*stream);
    }
    for (StreamCore* stream : streams) stream->change_queue(fresh);  // from here on nothing throws
    for (const auto& [slot, move] : moves) {
        // There is room: the ring is at least as large, and no other stream uses it yet; or there are no packets. It
        // accepts packets even if one of these has already stopped the new queue.
        const std::optional<std::uint64_t> reserved = to.ring().try_reserve(move.count);
        assert(reserved);
        const std::uint64_t place = *reserved;
        for (std::uint32_t i = 0; i < move.count; ++i)
            to.write(place + i, with_header(from.peek(slot + i), move.record, i));
        move.arrived(place);
        to.publish(place, move.count);
    }
    to.ring().set_alone(all.size() == 1);
    for (StreamCore* stream : all) stream->writer().set_room(all.size());
    fresh->open();
}

}  // namespace

void leave_dead_queue(SharedQueue& dead, QueuePool& queues, std::span<StreamCore* const> live,
                      std::vector<std::shared_ptr<SharedQueue>>& fresh) noexcept {
    std::vector<StreamCore*> streams;
    try {
        streams = streams_to_move(dead, live);
        if (streams.empty()) return;
        fresh.reserve(fresh.size() + 1);
        // A stream that came as the others left has no packets: cooperative launches must not have a second queue.
        std::shared_ptr<SharedQueue> open = dead.needs().cooperative ? queues.cooperative(dead.needs()) : nullptr;
        fresh.push_back(open ? std::move(open) : queues.make(dead.needs()));
        move_packets(dead, fresh.back(), streams, live);
    } catch (...) {
        for (StreamCore* stream : streams) {
            stream->fail(std::current_exception());
            stream->end_waiting_copies();
        }
    }
}

}  // namespace hsadrv::detail
