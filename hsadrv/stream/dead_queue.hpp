// Internal: moves streams off a queue whose packet processor has stopped.
//
// All streams of the queue move together to one new queue, and their packets keep their order: a packet that waits for
// another stream's packet never overtakes it. Packets on other queues stay where they are.
//
// Thread safety: the caller holds the lock of the list of streams, so that no stream is destroyed meanwhile, and no
// stream's mutex.
#pragma once

#include <span>

#include "hsadrv/stream/queue_pool.hpp"

namespace hsadrv::detail {

/// `live`: the list of streams. Streams fail if no queue is available. Appends the new queue to `fresh`, which must
/// outlive the lock of the list, even if no stream uses it.
void leave_dead_queue(SharedQueue& dead, QueuePool& queues, std::span<StreamCore* const> live,
                      std::vector<std::shared_ptr<SharedQueue>>& fresh) noexcept;

}  // namespace hsadrv::detail
