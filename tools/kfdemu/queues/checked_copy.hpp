// What `race` follows of an SDMA queue: the memory that copies and fills read and write.
//
//     CheckedCopy checked;
//     checked.begins(command);         // before it runs; again for the same one: nothing
//     checked.ends();                  // it has run, and nothing was told about it yet; or fails()
//
// Thread safety: that of its queue.
#pragma once

#include "check/operations.hpp"
#include "queues/sdma_packet.hpp"

namespace kfdemu {

class CheckedCopy {
  public:
    CheckedCopy() = default;
    ~CheckedCopy();
    CheckedCopy(const CheckedCopy&) = delete;
    CheckedCopy& operator=(const CheckedCopy&) = delete;

    void begins(const sdma::Command& command);
    void ends();
    /// A fault has ended it, or the queue stops.
    void fails();

  private:
    check::Operations::Handle running_;
};

}  // namespace kfdemu
