// Internal: the list of all live streams, for work that concerns more than one.
//
// Waiters poll: some failures raise no signal. A stream may wait for another that has failed, or its queue may have
// been stopped by another stream's packet.
//
// Thread safety: any thread. The list's lock comes before the streams' mutexes: none of these functions is called with
// one held, or with a lock of a later rank (lock_rank.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hsadrv/agent.hpp"

namespace hsadrv::detail {

struct Fault;
class SharedQueue;
class StreamCore;
class Timeline;

namespace live_streams {

/// Streams enter when they are made and leave before they are destroyed.
void enter(StreamCore& stream);
void leave(StreamCore& stream) noexcept;
/// When a stream has entered or left that queue, and its list.
void settle_producers(SharedQueue& queue) noexcept;
/// In a child of fork(): every launch takes the slow path, which refuses it. Takes no lock, allocates nothing.
void divert_in_child() noexcept;

/// Visits each stream. No stream is destroyed during the visit.
void visit(const std::function<void(StreamCore&)>& each);

/// Fails the streams that wait for a failed stream, and moves streams off dead queues. A SignalCallbacks::Meanwhile.
void poll() noexcept;

/// Fails every stream of the fault's agent.
void lose(const Fault& fault);

/// Releases objects that streams no longer need; a stream itself does that when it is next used. Returns true if more
/// will follow later. Call it with no lock held that a destructor may take.
bool retire_holds();

/// Releases `object` when everything in flight on the agent's streams has completed; graphs being captured keep it.
/// Leaks the object if that cannot be recorded for lack of memory.
void let_go(AgentRef agent, std::shared_ptr<const void> object) noexcept;

/// Why that stream makes no progress (autopsy.hpp).
std::string autopsy_of(const Timeline& timeline);

}  // namespace live_streams
}  // namespace hsadrv::detail
