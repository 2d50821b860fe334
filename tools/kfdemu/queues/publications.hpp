// Since when the packets of a queue are published, and what they are ordered after; for `race` and `fence`.
//
//     Publications packets;                    // one for a queue
//     packets.rung(next, highest);             // a new doorbell value; `next`: the first that has not started
//     packets.waited();                        // the next packet's barrier bit is met
//     packets.depended();                      // a dependency or a poll of it is
//     operations.begin(packets.safe(), …);     // it starts
//     packets.passed(index);                   // it has started, and so have those before it
//
// Packets have growing numbers; an SDMA queue's are bytes of its ring. Thread safety: that of its queue.
#pragma once

#include <cstdint>
#include <deque>

#include "tools/kfdemu/check/fence/host_touches.hpp"
#include "tools/kfdemu/check/race/operations.hpp"

namespace kfdemu {

class Publications {
  public:
    using Tick = check::Operations::Tick;

    /// `ahead`: by so much the doorbell of a packet is above its number.
    Publications(check::HostTouches::Doorbell doorbell, std::uint64_t ahead) : doorbell_{doorbell}, ahead_{ahead} {}
    ~Publications() { clear(); }
    Publications(const Publications&) = delete;
    Publications& operator=(const Publications&) = delete;

    /// One of the checks is on; rung() and waited() do nothing otherwise.
    static bool are_followed();

    void rung(std::uint64_t next, std::uint64_t highest);
    /// The next packet waits: what has ended by now is ordered before it. Cheap while nothing ends.
    void blocked();
    /// It does not any more.
    void waited();
    /// A signal or a word in memory tells that it may start: what was done before that was stored is ordered, too.
    void depended();
    /// What has ended by then is ordered before the next packet.
    Tick safe() const;
    /// What the host has done by then it has done before it published the packet, or before what the packet waited for.
    /// `seen`: when the packet was first seen, for one whose doorbell was not.
    Tick host_safe(std::uint64_t index, Tick seen) const;
    void passed(std::uint64_t index);
    /// None is waiting.
    void clear();

  private:
    struct Bell {
        std::uint64_t highest = 0;
        Tick seen = 0;
    };

    const check::HostTouches::Doorbell doorbell_;
    const std::uint64_t ahead_;
    std::deque<Bell> bells_;              // whose packets have not all started
    check::HostTouches::Busy in_flight_;  // while there are any
    Tick waited_ = 0;
    Tick blocked_ = 0;  // when Operations was last told of it
    bool is_blocked_ = false;
    Tick released_ = 0;  // when it was not any more
};

}  // namespace kfdemu
