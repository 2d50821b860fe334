// Internal: the streams of one GPU that belong to threads, one each.
//
//   std::shared_ptr<ThreadStreams> streams = ThreadStreams::of(gpu);   // each Context of the GPU has it
//   Stream& stream = streams->mine();                                  // the calling thread's
//
// A stream is made when its thread first asks, and ends with the thread or with the last owner of this,
// whichever is first; either way it is synchronised, as long as StreamOptions::drain says. Whoever takes it
// off the list ends it, so that it ends once. Thread safety: any thread. Owns: the streams.
#pragma once

#include <memory>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv::detail {

class ThreadStreams {
  public:
    /// The GPU's, which all share who ask while anybody has it.
    static std::shared_ptr<ThreadStreams> of(AgentRef gpu);

    explicit ThreadStreams(AgentRef gpu);
    ThreadStreams(const ThreadStreams&) = delete;
    ThreadStreams& operator=(const ThreadStreams&) = delete;
    ~ThreadStreams();

    /// Throws what making a stream throws; Error in a thread that is ending, ForkedChild.
    Stream& mine();
    /// Stream::close() for it; the next mine() makes another. True if there is none.
    bool close_mine(Deadline deadline) noexcept;

    struct List;

  private:
    AgentRef gpu_;
    std::shared_ptr<List> list_;  // threads have it, too
};

}  // namespace hsadrv::detail
