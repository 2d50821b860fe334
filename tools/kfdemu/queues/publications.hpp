// Since when the packets of a queue are published, and what they are ordered after; for `race` and `fence`.
//
//     Publications packets;                    // one for a queue
//     packets.rung(next, highest);             // a new doorbell value; `next`: the first that has not started
//     packets.waited();                        // the next packet's barrier bit, dependency or poll is met
//     operations.begin(packets.safe(), …);     // it starts
//     packets.passed(index);                   // it has started, and so have those before it
//
// Packets have growing numbers; an SDMA queue's are bytes of its ring. Thread safety: that of its queue.
#pragma once

#include <cstdint>
#include <deque>

#include "check/operations.hpp"

namespace kfdemu {

class Publications {
  public:
    using Tick = check::Operations::Tick;

    Publications() = default;
    ~Publications() { clear(); }
    Publications(const Publications&) = delete;
    Publications& operator=(const Publications&) = delete;

    void rung(std::uint64_t next, std::uint64_t highest);
    /// The next packet waits: what has ended by now is ordered before it. Cheap while nothing ends.
    void blocked();
    /// It does not any more.
    void waited();
    /// What has ended by then is ordered before the next packet.
    Tick safe() const;
    void passed(std::uint64_t index);
    /// None is waiting.
    void clear();

  private:
    struct Bell {
        std::uint64_t highest = 0;
        Tick seen = 0;
    };

    std::deque<Bell> bells_;  // whose packets have not all started
    Tick waited_ = 0;
    Tick blocked_ = 0;  // when Operations was last told of it
};

}  // namespace kfdemu
