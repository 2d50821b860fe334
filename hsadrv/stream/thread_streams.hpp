// Internal: the streams of one GPU that belong to threads, one each.
//
//   std::shared_ptr<ThreadStreams> streams = ThreadStreams::of(gpu);   // each Context of the GPU has it
//   Stream& stream = streams->mine();                                  // the calling thread's
//
// A stream is made at its thread's first call. It ends with the thread or with the last owner of this object, whichever
// is first; either way it is synchronised for at most StreamOptions::drain. The thread that takes it off the list ends
// it, so it ends once. Thread safety: any thread. Owns: the streams.
#pragma once

#include <memory>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv::detail {

class ThreadStreams {
  public:
    /// The GPU's object, shared by all callers while any of them has it.
    static std::shared_ptr<ThreadStreams> of(AgentRef gpu);

    explicit ThreadStreams(AgentRef gpu);
    ThreadStreams(const ThreadStreams&) = delete;
    ThreadStreams& operator=(const ThreadStreams&) = delete;
    ~ThreadStreams();

    /// Throws what making a stream throws; Error in a thread that is ending, ForkedChild.
    Stream& mine();
    /// Closes it with Stream::close(); the next mine() makes another. True if there is none.
    bool close_mine(Deadline deadline) noexcept;

    struct List;

  private:
    AgentRef gpu_;
    std::shared_ptr<List> list_;  // shared with the threads
};

}  // namespace hsadrv::detail
