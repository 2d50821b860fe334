// Internal: the address of a signal's value.
//
//   std::atomic_ref(*signal_value(signal)).load(std::memory_order_acquire)
//
// For loads only: a store must also wake blocked threads, so it goes through the runtime. Thread safety: atomic
// accesses only.
#pragma once

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

#include <cstdint>

namespace hsadrv::detail {

// A handle is the address of its amd_signal_t. Packet processors rely on that, so it is part of the ABI.
inline std::int64_t* signal_value(hsa_signal_t signal) noexcept {
    return const_cast<std::int64_t*>(&reinterpret_cast<amd_signal_t*>(signal.handle)->value);
}

}  // namespace hsadrv::detail
