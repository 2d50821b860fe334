// CopyInFlight: an asynchronous copy, from the call that enqueues it to the signal that completes it.
//
//     copy.begin(session, to_agent, from_agent, bytes, done);      // before the call, since the copy may end in it
//     copy.enqueued(session, status, ids);
//
// Thread safety: one a thread.
#pragma once

#include "tools/trace/record/session.hpp"

namespace trace {

class CopyInFlight {
  public:
    /// `engine`: the one that the program names.
    void begin(Session& session, hsa_agent_t to, hsa_agent_t from, std::uint64_t bytes, hsa_signal_t done,
               std::optional<std::uint64_t> engine = std::nullopt);
    void enqueued(Session& session, hsa_status_t result, std::vector<std::uint64_t>& ids);

  private:
    std::uint64_t id_ = 0;
    hsa_signal_t done_{0};
};

/// hsa_memory_copy, which has ended. The runtime gives no times of it, so they are those of the call.
void write_copy(std::uint64_t begin_ns, std::uint64_t bytes, std::vector<std::uint64_t>& ids);

}  // namespace trace
