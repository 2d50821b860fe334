// Internal: moves streams off a queue whose packet processor has stopped.
//
// All streams of the queue move together to one new queue, and their packets keep their order: a packet that waits for
// another stream's packet never overtakes it. Packets on other queues stay where they are. A stream that another thread
// is submitting to postpones the move for all; a stream whose thread waits does not (parking.hpp).
//
// Thread safety: the caller holds the lock of the list of streams, so that no stream is destroyed meanwhile.
#pragma once

#include <span>

#include "hsadrv/stream/queue_pool.hpp"

namespace hsadrv::detail {

/// Returns false if the move must wait. `live`: the list of streams. `held`: a stream whose mutex the caller holds.
/// Streams fail if no queue is available. Appends the new queue to `fresh`: it must outlive the lock of the list, even
/// if no stream uses it.
bool leave_dead_queue(SharedQueue& dead, QueuePool& queues, std::span<StreamCore* const> live, const StreamCore* held,
                      std::vector<std::shared_ptr<SharedQueue>>& fresh) noexcept;

}  // namespace hsadrv::detail
