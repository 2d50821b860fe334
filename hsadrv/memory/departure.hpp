// Internal: streams that are gone and have packets in a ring that still runs, after another stream's. Until those have
// run, or never will, memory that they may write to is not given back.
//
//   remains.departure = departures::begin();
//   if (!departures::defer_free(p)) hsa_amd_memory_pool_free(p);
//   departures::hold(code);
//
// Thread safety: any thread. One relaxed load while there is none.
#pragma once

#include <memory>

namespace hsadrv::detail::departures {

/// Over when the last reference goes.
std::shared_ptr<const void> begin();

/// Keeps the object until all that have begun are over. Throws std::bad_alloc.
void hold(const std::shared_ptr<const void>& object);

/// Frees the memory when all that have begun are over. False: there is none, or no memory to note it, and nothing
/// happened.
bool defer_free(void* memory) noexcept;

}  // namespace hsadrv::detail::departures
