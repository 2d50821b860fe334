// Internal: every stream that is alive, for what concerns more than one of them.
//
// Waiters poll: some failures raise no signal. A stream may wait for another that has failed, and a queue may have died
// under streams that did nothing wrong.
//
// Thread safety: any thread. With the list's lock a stream's mutex is tried and never waited for; none of these is
// called with a lock of a later rank held (lock_rank.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hsadrv/agent.hpp"

namespace hsadrv::detail {

struct Fault;
class StreamCore;
class Timeline;

namespace live_streams {

/// Streams enter when they are made and leave before they are destroyed.
void enter(StreamCore& stream);
void leave(StreamCore& stream) noexcept;

/// Each stream, none of which goes meanwhile.
void visit(const std::function<void(StreamCore&)>& each);

/// Fails streams with what they wait for, and moves streams off dead queues; `held` is a stream whose mutex the caller
/// holds.
void poll(const StreamCore* held = nullptr) noexcept;
/// The same for threads that hold no stream: a SignalCallbacks::Meanwhile.
void poll_unheld() noexcept;

/// Fails every stream of the fault's agent.
void lose(const Fault& fault);

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
