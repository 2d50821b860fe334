// Internal: destroyed streams whose packets are still in a running ring, queued after another stream's. Memory that
// those packets may write to is not freed until they have run, or never will.
//
//   remains.departure = departures::begin();
//   if (!departures::defer_free(p)) hsa_amd_memory_pool_free(p);
//   departures::hold(code);
//
// Thread safety: any thread. Costs one relaxed load if there are no departures.
#pragma once

#include <memory>

namespace hsadrv::detail::departures {

/// Ends with the last reference.
std::shared_ptr<const void> begin();

/// Keeps the object until all departures that have begun have ended. Throws std::bad_alloc.
void hold(const std::shared_ptr<const void>& object);

/// Frees the memory when all departures that have begun have ended. Returns false, with no effect, if there are none or
/// there is no memory to record it.
bool defer_free(void* memory) noexcept;

}  // namespace hsadrv::detail::departures
