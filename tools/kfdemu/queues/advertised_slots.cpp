#include "queues/advertised_slots.hpp"

#include <algorithm>
#include <string>

#include "base/behaviour.hpp"
#include "base/log.hpp"
#include "check/report.hpp"
#include "queues/gpu_memory.hpp"
#include "queues/packet.hpp"

namespace kfdemu {

AdvertisedSlots::AdvertisedSlots(unsigned gpu, std::uint64_t write_index_va, std::uint64_t ring_va,
                                 std::uint64_t packets)
    : gpu_{gpu},
      write_index_{write_index_va},
      ring_{ring_va},
      packets_{packets},
      made_{shows(Behaviour::write_index) ? check::capture_stack() : check::kNoStack} {}

bool AdvertisedSlots::is_written(const AddressSpace& space, std::uint64_t index) const {
    bool written = true;  // an error of the ring's memory is the packet processor's
    access<aql::Packet>(space, ring_ + index % packets_ * sizeof(aql::Packet), kWrite, [&](aql::Packet& packet) {
        written = aql::type_of(__atomic_load_n(&packet.header, __ATOMIC_ACQUIRE)) != aql::kInvalid;
    });
    return written;
}

void AdvertisedSlots::look(const AddressSpace& space, std::uint64_t next) {
    if (!shows(Behaviour::write_index)) return;
    std::uint64_t end = 0;
    // Before the headers: what is covered now has to be written now.
    if (!access<std::uint64_t>(space, write_index_, kWrite,
                               [&](std::uint64_t& index) { end = __atomic_load_n(&index, __ATOMIC_ACQUIRE); }))
        return;
    written_ = std::max(written_, next);
    counted_ = std::max(counted_, next);
    end = std::min(end, next + packets_);
    for (std::uint64_t index = written_; index < end; ++index) {
        if (is_written(space, index)) {
            if (index == written_) ++written_;
        } else if (index >= counted_) {
            counted_ = index + 1;
            if (early_.fetch_add(1, std::memory_order_relaxed) == 0) report(index, end);
        }
    }
    counted_ = std::max(counted_, end);
}

void AdvertisedSlots::report(std::uint64_t index, std::uint64_t write_index) {
    std::string calls;
    for (const check::HostFrame& frame : check::host_frames(made_)) calls += "\n    " + to_text(frame);
    log(LogLevel::warning,
        "gpu{}: slot {} of the ring at {:#x} was advertised before it was written: the write index was {}. The ring "
        "was "
        "made by{}",
        gpu_, index, ring_, write_index, calls);
}

}  // namespace kfdemu
