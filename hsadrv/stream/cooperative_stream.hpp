// Internal: the stream on which another one runs its cooperative launches.
//
//   stream.branches().cooperative(stream).launch(stream, spec, sizes, write, deadline);
//
// Two cooperative kernels at once could each have half of the device, and wait for the other half for ever. So all of a
// GPU run on one hardware queue (QueueNeeds::cooperative), between the work before and after them on their own streams.
// Each stream has a stream of its own on that queue: when one fails or ends, the packets of the others move on, as on
// every queue that streams share. Not on the runtime's cooperative queue (HSA_QUEUE_TYPE_COOPERATIVE): ROCR 7.x has one
// for each agent, to which it adds global wave sync, and ignores the error callback that it is created with
// (GpuAgent::QueueCreate, InitGWS), so that a stream would not learn of errors. What makes work-groups resident is the
// size of the grid; this barrier needs no global wave sync.
//
// Launches of one number of work-groups share the memory in which they meet, which each leaves as it was; the host
// writes it once, so that a launch that waits keeps its own while a host function's goes between.
//
// Thread safety: launch() keeps the order of the stream's calls. Owns: a stream and that memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/base/lock_rank.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/dispatch_spec.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/queue.hpp"

namespace hsadrv::detail {

class StreamCore;

class CooperativeStream {
  public:
    explicit CooperativeStream(const StreamCore& stream);
    CooperativeStream(const CooperativeStream&) = delete;
    CooperativeStream& operator=(const CooperativeStream&) = delete;
    ~CooperativeStream();

    StreamCore& core() noexcept { return *core_; }

    struct Sizes {
        std::uint64_t workitems = 0;
        std::uint32_t workgroups = 0;
        bool operator==(const Sizes&) const = default;
    };
    /// Writes the arguments, for that queue and the address of the shared::GridState.
    using Write = std::function<void(std::byte* kernarg, QueueRef queue, std::uint64_t state)>;

    /// In the order of `stream`, which must not be captured. Throws what Stream::dispatch throws.
    void launch(StreamCore& stream, const DispatchSpec& spec, const Sizes& sizes, const Write& write,
                Deadline deadline);

  private:
    struct State {
        Sizes sizes;
        std::uint64_t address;
    };
    /// The address of their shared::GridState.
    std::uint64_t state_of(const Sizes& sizes, Deadline deadline);
    std::byte* new_state();

    std::unique_ptr<StreamCore> core_;
    Ranked<std::mutex, LockRank::handle> mutex_;  // guards those below
    std::vector<State> states_;
    std::byte *next_ = nullptr, *end_ = nullptr;
};

}  // namespace hsadrv::detail
