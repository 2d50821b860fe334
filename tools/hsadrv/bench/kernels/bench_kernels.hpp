// What the kernels of hsadrv bench and the host agree on. For both compilers.
#pragma once

#include <stdint.h>

namespace hsadrv_bench {

inline constexpr uint32_t kernel_workgroup = 256;  ///< work-items of a work-group

// Arithmetic: each work-item has so many independent chains of so many steps x = x * m + c, with m = c = 1. What comes
// out can be written down exactly in every format, FP16 included (below 2048).
inline constexpr uint32_t kernel_fma_chains = 8, kernel_fma_steps = 512;

// LDS: each work-item reads 16 bytes so many times, from an array of so many times 16 bytes.
inline constexpr uint32_t kernel_lds_steps = 1024, kernel_lds_elements = 1024;

/// What work-item `id`'s chain number `chain` begins with.
constexpr uint32_t kernel_fma_start(uint32_t id, uint32_t chain) { return id % 16 + chain; }

}  // namespace hsadrv_bench
