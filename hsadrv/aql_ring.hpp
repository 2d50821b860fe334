// The arithmetic of an AQL ring: reserve, write, publish, ring the doorbell. Pure: it works on any memory.
//
//   std::optional<std::uint64_t> at = ring.try_reserve(1);      // the index of the first slot; nothing: full
//   ring.write(*at, packet);                                    // body, then header
//   ring.publish(*at, 1);                                       // the doorbell follows the published frontier
//
// Thread safety: any number of producers, without locks. Every reserved slot must be written and published;
// until then no later slot's doorbell is rung, because a doorbell never passes an unpublished slot.
//
// Memory ordering, and why it is enough:
//  - read index, acquire: the packet processor stores it after it has marked the slot invalid, so that whoever sees
//    the new value may overwrite the slot.
//  - write index, compare-exchange, relaxed: it only hands out numbers; slots are guarded by the read index.
//  - header, release: the processor's acquire of the header makes body and arguments visible.
//  - frontier_, compare-exchange: one producer moves it over each slot, its own first slot in one step if the
//    frontier is there. Sequentially consistent, like published_: who stores its slot and then finds the
//    frontier short of it, and who moves the frontier and then looks at the next slot, must not miss each other.
//    They also make the doorbell's store happen after every header store that it covers, also those of other
//    producers.
//  - doorbell, release: after the headers. Two producers may store it in the opposite order; multi-producer queues
//    accept that (HSA Platform System Architecture, "Queue mechanics").
//  - a ring in VRAM (HSA_ALLOCATE_QUEUE_DEV_MEM=1) is write-combined memory, which a release store does not order. The
//    frontier's compare-exchange does: a locked instruction drains those buffers before the doorbell, and a processor
//    takes no packet beyond the doorbell. So no fence of its own is needed on x86.
#pragma once

#include <hsa/hsa.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "hsadrv/packet.hpp"

namespace hsadrv {

/// Where a ring lives. The pointers are cached from hsa_queue_t and amd_queue_t, so that a submission calls no
/// function of the runtime.
struct AqlRingMemory {
    Packet* slots = nullptr;
    std::uint32_t size = 0;  ///< packets, a power of two
    volatile std::uint64_t* read_index = nullptr;
    volatile std::uint64_t* write_index = nullptr;
    /// The hardware's doorbell; null: the doorbell signal is stored through the runtime instead.
    volatile std::uint64_t* doorbell = nullptr;
    hsa_signal_t doorbell_signal = {0};
    /// Others, who know nothing of this object, put packets there too. Then nobody knows which slots are published,
    /// and a doorbell says no more than that its producer's own are; the packet processor waits at a slot that is not.
    bool shared = false;
};

class AqlRing {
  public:
    AqlRing() noexcept = default;
    explicit AqlRing(const AqlRingMemory& memory) { attach(memory); }

    /// Before the first use, and again when the ring is another one, while nobody uses it. Slots below the write index
    /// of now count as published.
    void attach(const AqlRingMemory& memory) {
        memory_ = memory;
        mask_ = memory.size - 1;
        published_ = std::make_unique<std::atomic<std::uint64_t>[]>(memory.size);
        frontier_.store(memory.shared ? no_frontier : load(memory.write_index, std::memory_order_relaxed),
                        std::memory_order_relaxed);
    }

    std::uint32_t size() const noexcept { return memory_.size; }
    std::uint64_t read_index() const noexcept { return load(memory_.read_index, std::memory_order_acquire); }
    std::uint64_t write_index() const noexcept { return load(memory_.write_index, std::memory_order_relaxed); }
    /// Every slot below it is published and covered by a doorbell, or about to be.
    std::uint64_t frontier() const noexcept { return frontier_.load(std::memory_order_acquire); }

    /// One slot; false when none is free.
    bool try_reserve_one(std::uint64_t& slot) noexcept {
        std::atomic_ref index(*const_cast<std::uint64_t*>(memory_.write_index));
        std::uint64_t first = index.load(std::memory_order_relaxed);
        if (first - read_index() >= memory_.size) [[unlikely]]
            return false;
        slot = first;
        if (index.compare_exchange_strong(first, first + 1, std::memory_order_relaxed)) [[likely]]
            return true;
        const auto later = try_reserve(1);
        slot = later.value_or(0);
        return later.has_value();
    }

    /// `count` consecutive slots, or nothing when they are not free.
    std::optional<std::uint64_t> try_reserve(std::uint32_t count) noexcept {
        std::atomic_ref index(*const_cast<std::uint64_t*>(memory_.write_index));
        std::uint64_t first = index.load(std::memory_order_relaxed);
        do {
            if (first + count - read_index() > memory_.size) [[unlikely]]
                return std::nullopt;
        } while (!index.compare_exchange_weak(first, first + count, std::memory_order_relaxed));
        return first;
    }

    /// Copies a packet into its reserved slot, the first word last.
    void write(std::uint64_t index, const Packet& packet) noexcept {
        Packet& slot = memory_.slots[index & mask_];
        std::memcpy(&slot.words[1], &packet.words[1], sizeof packet - sizeof packet.words[0]);
        std::atomic_ref(slot.words[0]).store(packet.words[0], std::memory_order_release);
    }

    /// A reserved slot, for writing in place: its first word last, with release.
    Packet& slot(std::uint64_t index) noexcept { return memory_.slots[index & mask_]; }

    /// Says that slots [first, first + count) are written; rings the doorbell if the frontier moved.
    void publish(std::uint64_t first, std::uint32_t count) noexcept {
        std::uint64_t at = first;
        if (frontier_.compare_exchange_strong(at, first + count)) [[likely]] {
            advance_frontier();
            return ring_doorbell();
        }
        if (at == no_frontier) [[unlikely]]
            return store_doorbell(first + count - 1);
        for (std::uint64_t i = first; i != first + count; ++i) published_[i & mask_].store(i + 1);
        if (advance_frontier()) ring_doorbell();
    }

    /// publish() of one slot, in few instructions if nobody is ahead or behind.
    [[gnu::always_inline]] void publish_one(std::uint64_t slot) noexcept {
        std::uint64_t at = slot;
        const std::uint64_t next = slot + 1;
        if (!frontier_.compare_exchange_strong(at, next) || published_[next & mask_].load() == next + 1 ||
            memory_.doorbell == nullptr) [[unlikely]]
            return publish_further(slot, at == slot);
        store_doorbell(slot);
        if (frontier_.fetch_add(0) != next) [[unlikely]]
            publish_further(slot, true);
    }

    /// The packet last written at this index, for messages; meaningful until the slot is reused.
    Packet peek(std::uint64_t index) const noexcept {
        Packet& slot = memory_.slots[index & mask_];
        Packet packet;
        std::memcpy(&packet.words[1], &slot.words[1], sizeof packet - sizeof packet.words[0]);
        packet.words[0] = first_word(index);
        return packet;
    }
    /// Its header and setup. Relaxed: the packet processor may invalidate the header meanwhile, which says nothing of
    /// the rest.
    std::uint32_t first_word(std::uint64_t index) const noexcept {
        return std::atomic_ref(memory_.slots[index & mask_].words[0]).load(std::memory_order_relaxed);
    }

  private:
    static std::uint64_t load(volatile std::uint64_t* p, std::memory_order order) noexcept {
        return std::atomic_ref(*const_cast<std::uint64_t*>(p)).load(order);
    }

    bool advance_frontier() noexcept {
        std::uint64_t at = frontier_.load();
        bool moved = false;
        // published_ holds index + 1, which differs in every lap of the ring, so a stale entry never counts.
        while (published_[at & mask_].load() == at + 1) {
            if (!frontier_.compare_exchange_weak(at, at + 1)) continue;
            ++at;
            moved = true;
        }
        return moved;
    }

    // The last store is always the frontier's: who was held up between looking and storing looks again, by an
    // exchange, which no load may pass. A doorbell that went back and stayed there could be one that was seen before.
    void ring_doorbell() noexcept {
        std::uint64_t last = frontier_.load() - 1;
        for (;;) {
            store_doorbell(last);
            const std::uint64_t now = frontier_.fetch_add(0) - 1;
            if (now == last) return;
            last = now;
        }
    }
    void store_doorbell(std::uint64_t last) noexcept;
    void publish_further(std::uint64_t slot, bool moved) noexcept;  ///< `moved`: the frontier is past it
    void ring_doorbell_signal(std::uint64_t last) noexcept;         // through the runtime

    static constexpr std::uint64_t no_frontier = ~std::uint64_t{0};  // of a shared ring; no index gets there

    AqlRingMemory memory_;
    std::uint64_t mask_ = 0;
    std::unique_ptr<std::atomic<std::uint64_t>[]> published_;
    std::atomic<std::uint64_t> frontier_{0};
};

inline void AqlRing::store_doorbell(std::uint64_t last) noexcept {
    if (memory_.doorbell != nullptr) {
        std::atomic_ref(*const_cast<std::uint64_t*>(memory_.doorbell)).store(last, std::memory_order_release);
        return;
    }
    ring_doorbell_signal(last);
}

}  // namespace hsadrv
