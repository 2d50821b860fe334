// What `race` follows of an SDMA queue: the memory that copies and fills read and write.
//
//     CheckedCopy checked{gpu, doorbell};
//     checked.rung(next, end);          // the ring is written up to there; `next` has not run
//     checked.begins(command, at);      // before it runs; again for the same one: nothing
//     checked.depended();               // a poll is met
//     checked.ends();                   // it has run, and nothing was told about it yet; or fails()
//     checked.passed(next);             // the ring's packets before it have run
//
// Copies of one queue run one after the other. Thread safety: that of its queue.
#pragma once

#include "tools/kfdemu/check/fence/visibility.hpp"
#include "tools/kfdemu/check/race/operations.hpp"
#include "tools/kfdemu/queues/publications.hpp"
#include "tools/kfdemu/queues/sdma_packet.hpp"

namespace kfdemu {

class CheckedCopy {
  public:
    CheckedCopy(unsigned gpu, check::HostTouches::Doorbell doorbell) : gpu_{gpu}, published_{doorbell, 1} {}
    ~CheckedCopy();
    CheckedCopy(const CheckedCopy&) = delete;
    CheckedCopy& operator=(const CheckedCopy&) = delete;

    /// Bytes of the ring.
    void rung(std::uint64_t next, std::uint64_t end);
    void passed(std::uint64_t next);
    void blocked() { published_.blocked(); }
    void depended() { published_.depended(); }
    /// `at`: the byte of the ring.
    void begins(const sdma::Command& command, std::uint64_t at);
    void ends();
    /// A fault has ended it, or the queue stops.
    void fails();

  private:
    const unsigned gpu_;
    Publications published_;
    check::Operations::Handle running_;
    check::Operations::Copy copy_;  // writes nothing: none runs
    check::Visibility::Start start_;
    check::Operations::Tick host_safe_ = 0;
    check::HostTouches::Busy in_flight_;
};

}  // namespace kfdemu
