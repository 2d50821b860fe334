// What `race` and `fence` follow of an AQL queue: since when its packets are published, what they are ordered after,
// and whether the program changes them, or the arguments of their kernels, while they are in flight.
//
//     CheckedPackets checked{gpu, target, queue, ring, packets, doorbell};  // addresses of its amd_queue_t and ring
//     checked.rung(space, next, highest);                  // a new doorbell value
//     if (!checked.settled(space, index)) …                // look at it a little later
//     checked.is_late();                                   // its header is INVALID, and a doorbell has announced it
//     checked.waited();                                    // its barrier bit is met
//     checked.depended();                                  // its dependencies are
//     checked.starts(index, dispatch);                     // a kernel starts
//     checked.ends(space, index, header);                  // before anything is told about it
//
// A published packet is compared with what it was when the doorbell rang: a little later, so that what is written too
// late is seen, and at its end. Does nothing, at the cost of a load, while neither check is on. Thread safety: that of
// its queue. Requires a Hold of the address space.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/topology.hpp"
#include "tools/kfdemu/check/fence/visibility.hpp"
#include "tools/kfdemu/check/race/operations.hpp"
#include "tools/kfdemu/dispatch/dispatch.hpp"
#include "tools/kfdemu/queues/packet.hpp"
#include "tools/kfdemu/queues/publications.hpp"

namespace kfdemu {

class CheckedPackets {
  public:
    CheckedPackets(const Gpu& gpu, isa::Target target, std::uint64_t queue_va, std::uint64_t ring_va,
                   std::uint64_t packets, check::HostTouches::Doorbell doorbell)
        : gpu_{gpu}, target_{target}, queue_va_{queue_va}, ring_{ring_va}, packets_{packets}, published_{doorbell, 0} {}
    ~CheckedPackets();
    CheckedPackets(const CheckedPackets&) = delete;
    CheckedPackets& operator=(const CheckedPackets&) = delete;

    /// `next`: the first packet that has not started.
    void rung(const AddressSpace& space, std::uint64_t next, std::uint64_t highest);
    bool settled(const AddressSpace& space, std::uint64_t index);
    /// The next packet was announced by a later one's doorbell: it is published when its header is seen.
    void is_late() { late_ = true, blocked(); }
    /// The next packet waits for a barrier bit or a dependency: what has ended by now is ordered before it.
    void blocked() { published_.blocked(); }
    void waited() { published_.waited(); }
    void depended() { published_.depended(); }
    void starts(std::uint64_t index, const Dispatch& dispatch);
    void ends(const AddressSpace& space, std::uint64_t index, std::uint16_t header);
    /// The queue has stopped, or is about to: what runs is not compared with anything.
    void clear();

  private:
    /// A packet in flight.
    struct Watched {
        aql::Packet packet{};
        std::vector<std::uint32_t> arguments;  ///< empty if it is no kernel
        std::uint64_t seen_ns = 0;
        check::Operations::Tick seen = 0;
        bool settled = false;
        check::Operations::Handle operation;
        check::Operations::Kernel kernel;  ///< its memory is null: not started, or not checked
        check::Visibility::Start start;
        check::Operations::Tick host_safe = 0;
        check::HostTouches::Busy in_flight;
    };

    std::uint64_t slot_va(std::uint64_t index) const { return ring_ + index % packets_ * sizeof(aql::Packet); }
    void watch_published(const AddressSpace& space, std::uint64_t highest);
    void watch(const AddressSpace& space, std::uint64_t index);
    void read_arguments(const AddressSpace& space, Watched& watched) const;
    void follow_fences(const Watched& watched, std::uint16_t header) const;
    void compare(const AddressSpace& space, std::uint64_t index, Watched& watched);
    void compare_arguments(const AddressSpace& space, std::uint64_t index, Watched& watched);
    check::Finding finding(const char* rule, const AddressSpace& space, std::uint64_t index, const Watched& of) const;

    /// Zeros if it is none, which the launch refuses.
    KernelDescriptor descriptor(const AddressSpace& space, const KernelDispatchPacket& packet) const;

    const Gpu gpu_;
    const isa::Target target_;
    const std::uint64_t queue_va_, ring_, packets_;
    std::uint64_t next_watched_ = 0;
    std::map<std::uint64_t, Watched> watched_;  // by index
    Publications published_;
    bool late_ = false;
};

}  // namespace kfdemu
