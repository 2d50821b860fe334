// Internal: records of a stream's packets in flight that are not single kernels. They serve to move packets to another
// queue and to report what the stream waits for.
//
//   log.make_room(queue.read_index());
//   log.push({.kind = PacketRecord::Kind::event, .slot = slot, .epoch = epoch, …});
//
// Invariants: records are in the order of their slots. A gate's signal is kept until its packet has completed it: it
// returns to the pool only when no packet in a ring names it. Thread safety: none; the stream's mutex guards it.
#pragma once

#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "hsadrv/base/growing_ring.hpp"
#include "hsadrv/packet.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

struct PacketRecord {
    enum class Kind : std::uint8_t { gate, copy, host, event, signal, decrement, batch };
    Kind kind = Kind::gate;
    Condition condition = Condition::less;     ///< of signal
    std::uint32_t count = 1;                   ///< number of slots
    std::uint64_t slot = 0;                    ///< the first slot
    std::uint64_t epoch = 0;                   ///< complete at this count; 0: not counted
    hsa_signal_t on = {0};                     ///< waited for, or decremented
    std::int64_t value = 0;                    ///< of signal
    bool vendor = false;                       ///< BARRIER_VALUE
    std::vector<std::uint16_t> headers = {};   ///< of a batch that the caller made
    std::shared_ptr<PooledSignal> opens = {};  ///< a gate's signal

    bool is_over(const Timeline& timeline, std::uint64_t read_index) const noexcept {
        if (opens) return opens->ref().load() == 0;
        return epoch != 0 ? timeline.reached(epoch) : slot + count <= read_index;
    }
};

/// The packet with its header, which the packet processor may have invalidated in the ring. `index` selects one of a
/// record's packets; a null record is a counted packet without one.
Packet with_header(Packet packet, const PacketRecord* record, std::uint64_t index) noexcept;

/// A packet that moves to another queue, by its old slot.
struct QueueMove {
    Timeline* timeline = nullptr;
    std::uint32_t count = 1;
    PacketRecord* record = nullptr;
    std::uint64_t epoch = 0;  ///< 0: not counted

    /// The packet is now in that slot.
    void arrived(std::uint64_t slot) const noexcept {
        if (record) record->slot = slot;
        if (epoch != 0) timeline->move(epoch, slot);
    }
};
using QueueMoves = std::map<std::uint64_t, QueueMove>;

class PacketLog {
  public:
    explicit PacketLog(std::shared_ptr<Timeline> timeline) noexcept : timeline_(std::move(timeline)) {}

    /// Makes room for one more record and drops completed ones. `read_index` is the queue's.
    void make_room(std::uint64_t read_index) {
        if (!records_.empty() && records_.front().is_over(*timeline_, read_index)) forget_over(read_index);
        records_.make_room(1);
    }
    void forget_over(std::uint64_t read_index) noexcept;
    void push(PacketRecord&& record);
    /// A record for a counted packet, after make_room(), to be filled in.
    PacketRecord& add(std::uint64_t slot, std::uint64_t epoch) noexcept {
        assert(records_.empty() || records_[records_.size() - 1].slot < slot);
        PacketRecord& record = records_.push_back();
        record.slot = slot;
        record.epoch = epoch;
        return record;
    }

    /// The record of the first packet that has not run; null if that packet has no record.
    const PacketRecord* first_pending(std::uint64_t read_index) const noexcept;
    /// A decrement of that signal is in flight.
    bool owes(hsa_signal_t signal) const noexcept;
    /// Lists the packets in the ring from `read_index` on.
    void list_moves(QueueMoves& moves, std::uint64_t read_index);
    /// The signal of a gate that has not completed, after all counted packets; null if there is none.
    std::shared_ptr<PooledSignal> last_gate() const noexcept;

  private:
    std::shared_ptr<Timeline> timeline_;
    GrowingRing<PacketRecord> records_;
};

}  // namespace hsadrv::detail
