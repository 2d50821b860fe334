// Internal: streams that leave a queue on which nothing runs any more.
//
// They leave together, for one new queue, and their packets keep their order: a packet that waits for another stream's
// never gets before it. Packets on other queues keep theirs. A stream that another thread submits to at this moment
// puts it off for all; one whose thread waits does not (parking.hpp).
//
// Thread safety: the caller holds the list of streams, so that none of them goes meanwhile.
#pragma once

#include <span>

#include "hsadrv/stream/queue_pool.hpp"

namespace hsadrv::detail {

/// False: not now. `live`: the list of streams. `held`: one whose mutex the caller holds. Streams fail if there is no
/// queue for them. `fresh` gets the new queue: if nobody got onto it, it must not end while the list is held.
bool leave_dead_queue(SharedQueue& dead, QueuePool& queues, std::span<StreamCore* const> live, const StreamCore* held,
                      std::vector<std::shared_ptr<SharedQueue>>& fresh) noexcept;

}  // namespace hsadrv::detail
