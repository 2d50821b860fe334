// Internal: every stream that is alive, for what concerns more than one of them.
//
// Who waits looks around now and then, because some things are announced to nobody: a memory fault whose queue
// the runtime does not name, a queue that died under streams that are not to blame.
//
// Thread safety: any thread. Lock order: the list's lock first, then a stream's mutex (never waited for), then
// the rest of stream_core.hpp's order. So none of these is called with a queue's or a failure mutex held.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "hsadrv/agent.hpp"

namespace hsadrv::detail {

class StreamCore;
class Timeline;

/// Blocked waits look around this often.
inline constexpr std::chrono::milliseconds look_around_period{200};

namespace live_streams {

/// Streams enter when they are made and leave before they are destroyed.
void enter(StreamCore& stream);
void leave(StreamCore& stream) noexcept;

/// Each stream, none of which goes meanwhile.
void visit(const std::function<void(StreamCore&)>& each);

/// Moves streams off dead queues; `held` is a stream whose mutex the caller holds, which is left alone.
void leave_dead_queues(const StreamCore* held = nullptr) noexcept;
/// The same, for who waits for that stream: it takes a fault of its agent for its own if it stopped moving.
void look_after(const Timeline& timeline) noexcept;
/// The same, for all streams that callbacks wait for.
void look_after_awaited() noexcept;

/// Lets go of what streams hold no longer: a stream does that when it is next used. True if more will come later.
/// Called with no lock held that a destructor may want.
bool retire_holds();

/// Lets go of `object` when everything that is in flight on the agent's streams is done; graphs being captured keep
/// it. If that cannot be noted for want of memory, the object is leaked.
void let_go(AgentRef agent, std::shared_ptr<const void> object) noexcept;

/// Why that stream does not move (autopsy.hpp); `held` as above.
std::string autopsy_of(const Timeline& timeline, const StreamCore* held = nullptr);

}  // namespace live_streams
}  // namespace hsadrv::detail
