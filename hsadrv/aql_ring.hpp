// The arithmetic of an AQL ring: reserve, write, publish, ring the doorbell. It works on any memory.
//
//   std::optional<std::uint64_t> at = ring.try_reserve(1);      // the index of the first slot; nullopt: full
//   ring.write(*at, packet);                                    // body, then header
//   ring.publish(*at, 1);                                       // write index and doorbell follow the frontier
//
// Slots are reserved in a counter of this object. The write index, which the packet processor sees, is the published
// frontier: every slot below it is written. Firmware reads it when it maps the queue again, and takes what lies below
// it without a doorbell (ROCm/rocm-systems, pull request 10377). On a ring that others write, too, a slot is reserved
// by adding to the write index, as they do it: below it are slots that are not written yet, and whose headers are
// INVALID.
//
// Thread safety: any number of producers, lock-free. Every reserved slot must be written and published. Until it is,
// neither write index nor doorbell passes it, and later slots wait.
//
// Memory ordering, and why it suffices:
//  - read index, acquire: the packet processor stores it after it has marked the slot invalid, so a producer that sees
//    the new value may overwrite the slot.
//  - reserved, compare-exchange, relaxed: it only hands out numbers; slots are guarded by the read index.
//  - header, release: the processor's acquire of the header makes body and arguments visible.
//  - frontier, compare-exchange: exactly one producer moves it past each slot. Sequentially consistent, like
//    published_: a producer that publishes its slot and then finds the frontier short of it, and a producer that moves
//    the frontier and then checks the next slot, must not miss each other. Both also order the doorbell's store after
//    every header store that it covers, including those of other producers.
//  - doorbell, release: after the headers. Two producers may store it out of order; multi-producer queues accept
//    that (HSA Platform System Architecture, "Queue mechanics").
//  - alone (set_alone): the same stores, plain. Who sets it orders the threads, one after the other.
//  - a ring in VRAM (HSA_ALLOCATE_QUEUE_DEV_MEM=1) is write-combined memory, which a release store does not order. The
//    frontier's compare-exchange does: on x86 a locked instruction drains the write-combining buffers before it stores,
//    so the packet is in the ring before the write index covers it. x86 needs no separate fence.
#pragma once

#include <hsa/hsa.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "hsadrv/packet.hpp"

namespace hsadrv {

/// The memory of a ring. The pointers are cached from hsa_queue_t and amd_queue_t, so a submission makes no runtime
/// call.
struct AqlRingMemory {
    Packet* slots = nullptr;
    std::uint32_t size = 0;  ///< packets, a power of two
    volatile std::uint64_t* read_index = nullptr;
    volatile std::uint64_t* write_index = nullptr;
    /// The hardware's doorbell; null: the doorbell signal is stored through the runtime instead, which emulates the
    /// queue or traces its packets.
    volatile std::uint64_t* doorbell = nullptr;
    hsa_signal_t doorbell_signal = {0};
    /// Producers that do not use this object write packets there, too, or an interceptor reads them. Then the published
    /// frontier is unknown: a doorbell covers only its own producer's slots, and the packet processor waits at a slot
    /// whose header is INVALID.
    bool shared = false;
    /// The slots are in a GPU's memory, which the processor writes through its write-combining buffers.
    bool write_combined = false;
};

class AqlRing {
  public:
    AqlRing() noexcept = default;
    AqlRing(const AqlRing&) = delete;
    AqlRing& operator=(const AqlRing&) = delete;
    explicit AqlRing(const AqlRingMemory& memory) { attach(memory); }

    /// Call before the first use, and again when the ring is replaced, while no other thread uses it. Slots below the
    /// write index count as published.
    void attach(const AqlRingMemory& memory) {
        memory_ = memory;
        mask_ = memory.size - 1;
        published_ = std::make_unique<std::atomic<std::uint64_t>[]>(memory.size);
        std::uint64_t* const index = const_cast<std::uint64_t*>(memory.write_index);
        alone_ = false;
        own_reserved_ = write_index();
        reserved_ = memory.shared ? index : &own_reserved_;
        frontier_ = memory.shared ? &no_frontier_ : index;
    }

    /// Whether from here on one thread at a time reserves and publishes, which takes no locked instruction. While no
    /// thread does. No effect on a shared ring, and where a locked instruction has to order the writes.
    void set_alone(bool alone) noexcept {
        alone = alone && memory_.doorbell != nullptr && !memory_.shared && !memory_.write_combined;
        if (alone == alone_) return;
        alone_ = alone;
        read_seen_ = read_index();
    }

    std::uint32_t size() const noexcept { return memory_.size; }
    std::uint64_t read_index() const noexcept { return load(memory_.read_index, std::memory_order_acquire); }
    /// Slots below it are published, or reserved on a shared ring.
    std::uint64_t write_index() const noexcept { return load(memory_.write_index, std::memory_order_relaxed); }
    /// Every slot below it is published and covered by a doorbell, or about to be. The largest number on a shared ring.
    std::uint64_t frontier() const noexcept { return load(frontier_, std::memory_order_acquire); }

    /// One slot of the `room` that may be in use; false when none is free.
    bool try_reserve_one(std::uint64_t& slot, std::uint64_t room) noexcept {
        std::atomic_ref index(*reserved_);
        std::uint64_t first = index.load(std::memory_order_relaxed);
        slot = first;
        if (alone_) [[likely]]
            return reserve_alone(first, 1, room);
        if (first - read_index() >= room) [[unlikely]]
            return false;
        if (index.compare_exchange_strong(first, first + 1, std::memory_order_relaxed)) [[likely]]
            return true;
        const auto later = try_reserve(1, room);
        slot = later.value_or(0);
        return later.has_value();
    }

    /// `count` consecutive slots, or std::nullopt if they are not free.
    std::optional<std::uint64_t> try_reserve(std::uint32_t count) noexcept { return try_reserve(count, memory_.size); }
    std::optional<std::uint64_t> try_reserve(std::uint32_t count, std::uint64_t room) noexcept {
        std::atomic_ref index(*reserved_);
        std::uint64_t first = index.load(std::memory_order_relaxed);
        if (alone_) return reserve_alone(first, count, room) ? std::optional(first) : std::nullopt;
        do {
            if (first + count - read_index() > room) [[unlikely]]
                return std::nullopt;
        } while (!index.compare_exchange_weak(first, first + count, std::memory_order_relaxed));
        return first;
    }

    /// Copies a packet into its reserved slot. The first word is stored last, with release.
    void write(std::uint64_t index, const Packet& packet) noexcept {
        Packet& slot = memory_.slots[index & mask_];
        std::memcpy(&slot.words[1], &packet.words[1], sizeof packet - sizeof packet.words[0]);
        std::atomic_ref(slot.words[0]).store(packet.words[0], std::memory_order_release);
    }

    /// A reserved slot, for writing in place. Store its first word last, with release.
    Packet& slot(std::uint64_t index) noexcept { return memory_.slots[index & mask_]; }

    /// Publishes the written slots [first, first + count); rings the doorbell if the frontier moved.
    void publish(std::uint64_t first, std::uint32_t count) noexcept {
        if (alone_) return publish_alone(first + count);
        std::uint64_t at = first;
        if (std::atomic_ref(*frontier_).compare_exchange_strong(at, first + count)) [[likely]] {
            advance_frontier();
            return ring_doorbell();
        }
        if (at == no_frontier) [[unlikely]]
            return store_doorbell(first + count - 1);
        for (std::uint64_t i = first; i != first + count; ++i) published_[i & mask_].store(i + 1);
        if (advance_frontier()) ring_doorbell();
    }

    /// publish() of one slot, with a fast path for an uncontended ring.
    [[gnu::always_inline]] void publish_one(std::uint64_t slot) noexcept {
        std::uint64_t at = slot;
        const std::uint64_t next = slot + 1;
        std::atomic_ref frontier(*frontier_);
        if (alone_) [[likely]]
            return publish_alone(next);
        if (!frontier.compare_exchange_strong(at, next) || published_[next & mask_].load() == next + 1 ||
            memory_.doorbell == nullptr) [[unlikely]]
            return publish_further(slot, at == slot);
        store_doorbell(slot);
        if (frontier.fetch_add(0) != next) [[unlikely]]
            publish_further(slot, true);
    }

    /// The packet last written at this index, for messages; valid until the slot is reused.
    Packet peek(std::uint64_t index) const noexcept {
        Packet& slot = memory_.slots[index & mask_];
        Packet packet;
        std::memcpy(&packet.words[1], &slot.words[1], sizeof packet - sizeof packet.words[0]);
        packet.words[0] = first_word(index);
        return packet;
    }
    /// Its header and setup. Relaxed: the packet processor may invalidate the header at any time; the other fields
    /// stay.
    std::uint32_t first_word(std::uint64_t index) const noexcept {
        return std::atomic_ref(memory_.slots[index & mask_].words[0]).load(std::memory_order_relaxed);
    }

  private:
    static std::uint64_t load(const volatile std::uint64_t* p, std::memory_order order) noexcept {
        return std::atomic_ref(*const_cast<std::uint64_t*>(p)).load(order);
    }

    // The processor's index is read as seldom as possible: its cache line comes from the device.
    bool reserve_alone(std::uint64_t first, std::uint32_t count, std::uint64_t room) noexcept {
        if (first + count - read_seen_ > room && first + count - (read_seen_ = read_index()) > room) [[unlikely]]
            return false;
        std::atomic_ref(*reserved_).store(first + count, std::memory_order_relaxed);
        return true;
    }
    void publish_alone(std::uint64_t end) noexcept {
        std::atomic_ref(*frontier_).store(end, std::memory_order_release);
        std::atomic_ref(*const_cast<std::uint64_t*>(memory_.doorbell)).store(end - 1, std::memory_order_release);
    }

    bool advance_frontier() noexcept {
        std::atomic_ref frontier(*frontier_);
        std::uint64_t at = frontier.load();
        bool moved = false;
        // published_ holds index + 1, which differs in every lap of the ring, so a stale entry never matches.
        while (published_[at & mask_].load() == at + 1) {
            if (!frontier.compare_exchange_weak(at, at + 1)) continue;
            ++at;
            moved = true;
        }
        return moved;
    }

    // The last store is always the frontier's: a thread preempted between load and store checks again, with an atomic
    // read-modify-write that no load may pass. Otherwise the doorbell could move back and stay at a value that the
    // packet processor has already seen.
    void ring_doorbell() noexcept {
        std::atomic_ref frontier(*frontier_);
        std::uint64_t last = frontier.load() - 1;
        for (;;) {
            store_doorbell(last);
            const std::uint64_t now = frontier.fetch_add(0) - 1;
            if (now == last) return;
            last = now;
        }
    }
    void store_doorbell(std::uint64_t last) noexcept;
    void publish_further(std::uint64_t slot, bool moved) noexcept;  ///< `moved`: the frontier is past it
    void ring_doorbell_signal(std::uint64_t last) noexcept;         // calls the runtime

    static constexpr std::uint64_t no_frontier = ~std::uint64_t{0};  // of a shared ring; no index reaches it

    AqlRingMemory memory_;
    std::uint64_t mask_ = 0, read_seen_ = 0;
    bool alone_ = false;
    std::unique_ptr<std::atomic<std::uint64_t>[]> published_;
    std::uint64_t own_reserved_ = 0, no_frontier_ = no_frontier;
    std::uint64_t* reserved_ = nullptr;  ///< the next slot to reserve: own_reserved_, or a shared ring's write index
    std::uint64_t* frontier_ = nullptr;  ///< the first slot not published: the write index, or no_frontier_
};

inline void AqlRing::store_doorbell(std::uint64_t last) noexcept {
    if (memory_.doorbell != nullptr) {
        std::atomic_ref(*const_cast<std::uint64_t*>(memory_.doorbell)).store(last, std::memory_order_release);
        return;
    }
    ring_doorbell_signal(last);
}

}  // namespace hsadrv
