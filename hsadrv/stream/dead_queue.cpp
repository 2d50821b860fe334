#include "hsadrv/stream/dead_queue.hpp"

#include <algorithm>
#include <cassert>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "hsadrv/stream/stream_claim.hpp"

namespace hsadrv::detail {

namespace {

/// The streams of the queue that have not failed; empty if one cannot be claimed. A stream that has left the list is
/// being destroyed and is skipped.
std::vector<StreamClaim> claim_streams(const SharedQueue& dead, std::span<StreamCore* const> live,
                                       const StreamCore* held) {
    std::vector<StreamClaim> claims;
    for (StreamCore* stream : dead.streams_on()) {
        if (std::find(live.begin(), live.end(), stream) == live.end()) continue;
        stream->timeline()->lose_rest();  // if it has failed: it does not move, and its gates do not open
        if (stream->failed()) {
            stream->end_waiting_copies();
            continue;
        }
        StreamClaim claim(*stream, stream == held);
        if (!claim) return {};
        claims.push_back(std::move(claim));
    }
    return claims;
}

// Everything that may throw, for all streams before the first one moves.
void prepare(SharedQueue& fresh, std::vector<StreamClaim>& claims) {
    std::size_t entered = 0;
    try {
        for (; entered < claims.size(); ++entered) {
            StreamCore& stream = claims[entered].stream();
            stream.make_ready_for(fresh);
            fresh.enter(stream);
        }
    } catch (...) {
        while (entered-- > 0) fresh.leave(claims[entered].stream());
        throw;
    }
}

// The old ring still holds the packets: nothing writes to it any more. Packets before the read index have run.
void move_packets(const SharedQueue& dead, const std::shared_ptr<SharedQueue>& fresh,
                  std::vector<StreamClaim>& claims) {
    const QueueRef from = dead.ref(), to = fresh->ref();
    QueueMoves moves;
    for (StreamClaim& claim : claims) claim.stream().writer().log().list_moves(moves, from.read_index());
    prepare(*fresh, claims);
    for (StreamClaim& claim : claims) claim.stream().change_queue(fresh);
    for (const auto& [slot, move] : moves) {
        // There is room: the ring is at least as large, and no other stream uses it yet. It accepts packets even if one
        // of these has already stopped the new queue.
        const std::optional<std::uint64_t> reserved = to.ring().try_reserve(move.count);
        assert(reserved);
        const std::uint64_t place = *reserved;
        for (std::uint32_t i = 0; i < move.count; ++i)
            to.write(place + i, with_header(from.peek(slot + i), move.record, i));
        move.arrived(place);
        to.publish(place, move.count);
    }
    fresh->open();
}

}  // namespace

bool leave_dead_queue(SharedQueue& dead, QueuePool& queues, std::span<StreamCore* const> live, const StreamCore* held,
                      std::vector<std::shared_ptr<SharedQueue>>& fresh) noexcept {
    std::vector<StreamClaim> claims;
    try {
        claims = claim_streams(dead, live, held);
        if (claims.empty()) return false;
        fresh.reserve(fresh.size() + 1);
        fresh.push_back(queues.make(dead.needs()));
        move_packets(dead, fresh.back(), claims);
        return true;
    } catch (...) {
        for (const StreamClaim& claim : claims) {
            claim.stream().fail(std::current_exception());
            claim.stream().end_waiting_copies();
        }
        return false;
    }
}

}  // namespace hsadrv::detail
