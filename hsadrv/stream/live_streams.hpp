// Internal: the list of all live streams, for work that concerns more than one.
//
// Waiters poll: some failures raise no signal. A stream may wait for another that has failed, or its queue may have
// been stopped by another stream's packet.
//
// Thread safety: any thread. While the list's lock is held, a stream's mutex is only tried, never waited for. None of
// these functions is called with a lock of a later rank held (lock_rank.hpp).
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
/// In a child of fork(): every launch takes the slow path, which refuses it. Takes no lock, allocates nothing.
void divert_in_child() noexcept;

/// Visits each stream. No stream is destroyed during the visit.
void visit(const std::function<void(StreamCore&)>& each);

/// Fails the streams that wait for a failed stream, and moves streams off dead queues. `held` is a stream whose mutex
/// the caller holds.
void poll(const StreamCore* held = nullptr) noexcept;
/// The same for threads that hold no stream's mutex: a SignalCallbacks::Meanwhile.
void poll_unheld() noexcept;

/// Fails every stream of the fault's agent.
void lose(const Fault& fault);

/// Releases objects that streams no longer need; a stream itself does that when it is next used. Returns true if more
/// will follow later. Call it with no lock held that a destructor may take.
bool retire_holds();

/// Releases `object` when everything in flight on the agent's streams has completed; graphs being captured keep it.
/// Leaks the object if that cannot be recorded for lack of memory.
void let_go(AgentRef agent, std::shared_ptr<const void> object) noexcept;

/// Why that stream makes no progress (autopsy.hpp); `held` as above.
std::string autopsy_of(const Timeline& timeline, const StreamCore* held = nullptr);

}  // namespace live_streams
}  // namespace hsadrv::detail
