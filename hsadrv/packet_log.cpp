#include "hsadrv/packet_log.hpp"

#include <cassert>
#include <utility>

namespace hsadrv::detail {

// System scopes, which are right for all that a stream puts there itself. The setup word tells a dispatch from a
// barrier.
Packet with_header(Packet packet, const Note* note, std::uint64_t index) noexcept {
    const bool dispatch = (!note || note->kind == Note::Kind::batch) && (packet.words[0] >> 16) != 0;
    const PacketType type = dispatch               ? PacketType::kernel_dispatch
                            : note && note->vendor ? PacketType::vendor_specific
                                                   : PacketType::barrier_and;
    const bool noted = note && !note->headers.empty();
    packet.words[0] = (packet.words[0] & ~0xffffu) | (noted ? note->headers[index] : packet_header(type, {}));
    return packet;
}

void PacketLog::forget_over(std::uint64_t read_index) noexcept {
    while (!notes_.empty() && notes_.front().is_over(*timeline_, read_index)) notes_.pop_front();
}

void PacketLog::push(Note&& note) {
    assert(notes_.empty() || notes_[notes_.size() - 1].slot < note.slot);
    notes_.push_back(std::move(note));
}

const Note* PacketLog::first_pending(std::uint64_t read_index) const noexcept {
    const auto slot = timeline_->first_pending_slot();
    for (std::size_t i = 0; i < notes_.size(); ++i)
        if (const Note& note = notes_[i]; !note.is_over(*timeline_, read_index))
            return !slot || note.slot <= *slot ? &note : nullptr;
    return nullptr;
}

bool PacketLog::owes(hsa_signal_t signal) const noexcept {
    for (std::size_t i = 0; i < notes_.size(); ++i)
        if (notes_[i].kind == Note::Kind::decrement && notes_[i].on.handle == signal.handle) return true;
    return false;
}

// What has run is forgotten: its slots mean nothing on the next queue.
void PacketLog::list_moves(QueueMoves& moves, std::uint64_t read_index) {
    while (!notes_.empty() && notes_.front().slot + notes_.front().count <= read_index) notes_.pop_front();
    for (std::size_t i = 0; i < notes_.size(); ++i)
        if (Note& note = notes_[i]; note.slot >= read_index) moves[note.slot] = {timeline_.get(), note.count, &note};
    for (std::uint64_t epoch = timeline_->completed() + 1; epoch <= timeline_->submitted(); ++epoch)
        if (const std::uint64_t slot = timeline_->slot_of(epoch); slot >= read_index) {
            QueueMove& move = moves[slot];
            move.timeline = timeline_.get();
            move.epoch = epoch;
        }
}

}  // namespace hsadrv::detail
