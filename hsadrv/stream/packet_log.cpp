#include "hsadrv/stream/packet_log.hpp"

#include <cassert>
#include <utility>

namespace hsadrv::detail {

// System scopes, which are correct for every packet that a stream itself writes. The setup word distinguishes a
// dispatch from a barrier.
Packet with_header(Packet packet, const PacketRecord* record, std::uint64_t index) noexcept {
    const bool dispatch = (!record || record->kind == PacketRecord::Kind::batch) && (packet.words[0] >> 16) != 0;
    const PacketType type = dispatch                   ? PacketType::kernel_dispatch
                            : record && record->vendor ? PacketType::vendor_specific
                                                       : PacketType::barrier_and;
    const bool noted = record && !record->headers.empty();
    packet.words[0] = (packet.words[0] & ~0xffffu) | (noted ? record->headers[index] : packet_header(type, {}));
    return packet;
}

void PacketLog::forget_over(std::uint64_t read_index) noexcept {
    while (!records_.empty() && records_.front().is_over(*timeline_, read_index)) records_.pop_front();
}

void PacketLog::push(PacketRecord&& record) {
    assert(records_.empty() || records_[records_.size() - 1].slot < record.slot);
    records_.push_back(std::move(record));
}

const PacketRecord* PacketLog::first_pending(std::uint64_t read_index) const noexcept {
    const auto slot = timeline_->first_pending_slot();
    for (std::size_t i = 0; i < records_.size(); ++i)
        if (const PacketRecord& record = records_[i]; !record.is_over(*timeline_, read_index))
            return !slot || record.slot <= *slot ? &record : nullptr;
    return nullptr;
}

std::shared_ptr<PooledSignal> PacketLog::last_gate() const noexcept {
    if (records_.empty()) return nullptr;
    const PacketRecord& last = records_[records_.size() - 1];
    const std::uint64_t count = timeline_->submitted();
    const bool is_last = count == 0 || timeline_->slot_of(count) < last.slot;
    return last.opens && is_last && last.opens->ref().load() != 0 ? last.opens : nullptr;
}

bool PacketLog::owes(hsa_signal_t signal) const noexcept {
    for (std::size_t i = 0; i < records_.size(); ++i)
        if (records_[i].kind == PacketRecord::Kind::decrement && records_[i].on.handle == signal.handle) return true;
    return false;
}

// Drops packets that have run: their slots have no meaning on the next queue.
void PacketLog::list_moves(QueueMoves& moves, std::uint64_t read_index) {
    while (!records_.empty() && records_.front().slot + records_.front().count <= read_index) records_.pop_front();
    for (std::size_t i = 0; i < records_.size(); ++i)
        if (PacketRecord& record = records_[i]; record.slot >= read_index)
            moves[record.slot] = {timeline_.get(), record.count, &record};
    for (std::uint64_t epoch = timeline_->completed() + 1; epoch <= timeline_->submitted(); ++epoch)
        if (const std::uint64_t slot = timeline_->slot_of(epoch); slot >= read_index) {
            QueueMove& move = moves[slot];
            move.timeline = timeline_.get();
            move.epoch = epoch;
        }
}

}  // namespace hsadrv::detail
