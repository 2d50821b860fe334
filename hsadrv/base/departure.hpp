// Internal: destroyed streams whose packets are still in a running ring, queued after another stream's. Memory and
// signals that those packets may write to are not freed until they have run, or never will.
//
//   remains.departure = departures::begin();
//   if (!departures::defer(free_memory, address)) free_memory(address);
//   departures::hold(code);
//
// Thread safety: any thread. Costs one relaxed load if there are no departures.
#pragma once

#include <cstdint>
#include <memory>

namespace hsadrv::detail::departures {

/// Ends with the last reference.
std::shared_ptr<const void> begin();

/// Keeps the object until all departures that have begun have ended. Throws std::bad_alloc.
void hold(const std::shared_ptr<const void>& object);

/// Calls end(argument) when all departures that have begun have ended. Returns false, with no effect, if there are none
/// or there is no memory to record it.
bool defer(void (*end)(std::uint64_t), std::uint64_t argument) noexcept;

}  // namespace hsadrv::detail::departures
