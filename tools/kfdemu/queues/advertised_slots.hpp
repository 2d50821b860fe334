// The slots of a ring that its write index covers, whatever the doorbell says; for the strict behaviours write-index
// and torn-packet.
//
//     slots.look(space, next);                // at any time, but `next`, the first that is not taken, does not change
//     packet = slots.as_read(next, packet);   // what the packet processor reads where `packet` is
//     std::uint64_t number = slots.early();   // of those that were not written when the write index covered them
//
// Firmware reads the write index when it maps a queue again, and takes what lies below (ROCm/rocm-systems, pull
// requests 10367 and 10377). The header of a slot that is not written is INVALID, as the packet processor has left it.
// Each such slot is counted once; the first of a ring is logged, with the calls that made the ring.
//
// On Intel hosts the fetch of 64 bytes may split, and its halves come from before and after the packet is written (pull
// request 10377). With torn-packet every fetch splits, as far as it can: look() takes the second half of a slot when it
// first sees it covered and not written, and as_read() joins it to the first half of the packet.
//
// Thread safety: early() and torn() by any thread, the others by one at a time. look() requires a Hold of the address
// space.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/check/report/host_stack.hpp"
#include "tools/kfdemu/queues/packet.hpp"

namespace kfdemu {

/// The rings whose packets are torn: all, until hsa_queue_create is wrapped; then those that it returns. The HSA
/// runtime writes its own rings late, and aborts the program if one stops; it makes some of them inside that call.
class TornRings {
  public:
    static void only_those_returned();
    static void returned(std::uint64_t ring_va);
    /// Another ring may have been there.
    static void made(std::uint64_t ring_va);
    static bool has(std::uint64_t ring_va);
};

class AdvertisedSlots {
  public:
    /// Addresses of the write index, of the ring and of nothing else. Captures the calling thread's stack.
    AdvertisedSlots(unsigned gpu, std::uint64_t write_index_va, std::uint64_t ring_va, std::uint64_t packets);

    bool looks() const { return looks_; }
    void look(const AddressSpace& space, std::uint64_t next);
    aql::Packet as_read(std::uint64_t index, const aql::Packet& packet) {
        return halves_.empty() ? packet : joined(index, packet);
    }
    /// The ring is fetched again: look() takes other halves.
    void remapped() { halves_.clear(); }
    std::uint64_t early() const { return early_.load(std::memory_order_acquire); }
    /// Packets that as_read() changed.
    std::uint64_t torn() const { return torn_.load(std::memory_order_relaxed); }

  private:
    using Half = std::array<std::uint64_t, 4>;

    std::uint64_t slot_va(std::uint64_t index) const { return ring_ + index % packets_ * sizeof(aql::Packet); }
    bool is_written(const AddressSpace& space, std::uint64_t index) const;
    void take_half(const AddressSpace& space, std::uint64_t index);
    aql::Packet joined(std::uint64_t index, const aql::Packet& packet);
    void report(std::uint64_t index, std::uint64_t write_index);
    void report(std::uint64_t index, const Half& read, const Half& written) const;
    std::string made_by() const;

    const unsigned gpu_;
    const std::uint64_t write_index_, ring_, packets_;
    const bool may_tear_, looks_;
    const check::StackId made_;
    std::uint64_t written_ = 0;  // all below it are, or were taken
    std::uint64_t counted_ = 0;  // all below it are counted if they were early
    std::atomic<std::uint64_t> early_{0}, torn_{0};
    std::map<std::uint64_t, Half> halves_;  // of slots that were early, by index
};

}  // namespace kfdemu
