#include "tools/kfdemu/queues/advertised_slots.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <set>
#include <string>

#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/check/report/report.hpp"
#include "tools/kfdemu/queues/gpu_memory.hpp"

namespace kfdemu {
namespace {

std::mutex rings_mutex;
bool every_ring = true;
std::set<std::uint64_t> returned_rings;

}  // namespace

void TornRings::only_those_returned() {
    const std::lock_guard lock{rings_mutex};
    every_ring = false;
}
void TornRings::returned(std::uint64_t ring_va) {
    const std::lock_guard lock{rings_mutex};
    returned_rings.insert(ring_va);
}
void TornRings::made(std::uint64_t ring_va) {
    const std::lock_guard lock{rings_mutex};
    returned_rings.erase(ring_va);
}
bool TornRings::has(std::uint64_t ring_va) {
    const std::lock_guard lock{rings_mutex};
    return every_ring || returned_rings.contains(ring_va);
}

AdvertisedSlots::AdvertisedSlots(unsigned gpu, std::uint64_t write_index_va, std::uint64_t ring_va,
                                 std::uint64_t packets)
    : gpu_{gpu},
      write_index_{write_index_va},
      ring_{ring_va},
      packets_{packets},
      may_tear_{shows(Behaviour::torn_packet)},
      looks_{shows(Behaviour::torn_packet) || shows(Behaviour::write_index)},
      made_{looks_ ? check::capture_stack() : check::kNoStack} {
    TornRings::made(ring_va);
}

bool AdvertisedSlots::is_written(const AddressSpace& space, std::uint64_t index) const {
    bool written = true;  // an error of the ring's memory is the packet processor's
    access<aql::Packet>(space, slot_va(index), kWrite, [&](aql::Packet& packet) {
        written = aql::type_of(__atomic_load_n(&packet.header, __ATOMIC_ACQUIRE)) != aql::kInvalid;
    });
    return written;
}

/// Keeps the one that was taken first.
void AdvertisedSlots::take_half(const AddressSpace& space, std::uint64_t index) {
    if (halves_.contains(index)) return;
    Half half{};
    const bool mapped = access<const Half>(space, slot_va(index) + sizeof half, kRead, [&](const Half& there) {
        // Relaxed: a producer may be writing, and no order with it is wanted.
        for (std::size_t i = 0; i < half.size(); ++i) half[i] = __atomic_load_n(&there[i], __ATOMIC_RELAXED);
    });
    if (mapped) halves_.emplace(index, half);
}

void AdvertisedSlots::look(const AddressSpace& space, std::uint64_t next) {
    if (!looks_) return;
    std::uint64_t end = 0;
    // Before the headers: what is covered now has to be written now.
    if (!access<std::uint64_t>(space, write_index_, kWrite,
                               [&](std::uint64_t& index) { end = __atomic_load_n(&index, __ATOMIC_ACQUIRE); }))
        return;
    written_ = std::max(written_, next);
    counted_ = std::max(counted_, next);
    halves_.erase(halves_.begin(), halves_.lower_bound(next));
    end = std::min(end, next + packets_);
    for (std::uint64_t index = written_; index < end; ++index) {
        if (is_written(space, index)) {
            if (index == written_) ++written_;
            continue;
        }
        if (may_tear_ && TornRings::has(ring_)) take_half(space, index);
        if (index < counted_) continue;
        counted_ = index + 1;
        // Release: a test that sees the number writes the slot after its half is taken.
        if (early_.fetch_add(1, std::memory_order_release) == 0) report(index, end);
    }
    counted_ = std::max(counted_, end);
}

aql::Packet AdvertisedSlots::joined(std::uint64_t index, const aql::Packet& packet) {
    struct Halves {
        Half first, second;
    };
    const auto taken = halves_.find(index);
    auto halves = packet.as<Halves>();
    if (taken == halves_.end() || taken->second == halves.second) return packet;
    if (torn_.fetch_add(1, std::memory_order_relaxed) == 0) report(index, taken->second, halves.second);
    halves.second = taken->second;
    return std::bit_cast<aql::Packet>(halves);
}

std::string AdvertisedSlots::made_by() const {
    std::string calls = "The ring was made by";
    for (const check::HostFrame& frame : check::host_frames(made_)) calls += "\n    " + to_text(frame);
    return calls;
}

void AdvertisedSlots::report(std::uint64_t index, std::uint64_t write_index) {
    log(LogLevel::warning,
        "gpu{}: slot {} of the ring at {:#x} was advertised before it was written: the write index was {}. {}", gpu_,
        index, ring_, write_index, made_by());
}

void AdvertisedSlots::report(std::uint64_t index, const Half& read, const Half& written) const {
    log(LogLevel::error,
        "gpu{}: torn-packet: the packet in slot {} of the ring at {:#x} runs with the second half of what was in the "
        "slot before, because the write index covered it before it was written. Bytes 32, 40 and 56, which are a "
        "kernel's object, its arguments and a completion signal, are {:#x}, {:#x} and {:#x}, not {:#x}, {:#x} and "
        "{:#x}. Store the write index after the packets below it. {}",
        gpu_, index, ring_, read[0], read[1], read[3], written[0], written[1], written[3], made_by());
}

}  // namespace kfdemu
