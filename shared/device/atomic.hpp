// Atomic additions for kernels, relaxed: they order nothing else, so use barrier() or a kernel's end to
// publish results.
//
//     hsadrv::atomic_add(&bins[value], 1u);            // LDS: ds_add_u32, seen by the work-group
//     hsadrv::atomic_add(&total[value], bins[value]);  // global: global_atomic_add, seen by the whole device
//
// Both return the value before the addition; where it is not used, the form without a return value is
// emitted.
#pragma once

#include "kernel.hpp"

namespace hsadrv {

namespace detail {
// clang's numbers for the scopes of __hip_atomic_*, which it offers in plain C++ as well; only HIP predefines
// their names.
inline constexpr int scope_workgroup = 3;
inline constexpr int scope_agent = 4;
}  // namespace detail

/// T: 32- or 64-bit integer. Work-group scope, as only the work-group sees its LDS.
template <class T>
HSADRV_DEVICE T atomic_add(HSADRV_LDS T* address, T value) {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, detail::scope_workgroup);
}

/// T: 32- or 64-bit integer in global memory. Agent scope: all work-groups of this device, in all its queues.
template <class T>
HSADRV_DEVICE T atomic_add(T* address, T value) {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, detail::scope_agent);
}

}  // namespace hsadrv
