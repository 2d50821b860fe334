// What the kernels of hsadrv bench and the host agree on. For both compilers.
#pragma once

#include <stdint.h>

namespace hsadrv_bench {

inline constexpr uint32_t kernel_workgroup = 256;  ///< work-items of a work-group

// Arithmetic: each work-item runs kernel_fma_chains independent chains of kernel_fma_steps steps x = x * m + c, with
// m = c = 1. The results are exact in every format, including FP16 (below 2048).
inline constexpr uint32_t kernel_fma_chains = 8, kernel_fma_steps = 512;

// LDS: each work-item reads 16 bytes kernel_lds_steps times, from an array of kernel_lds_elements times 16 bytes.
inline constexpr uint32_t kernel_lds_steps = 1024, kernel_lds_elements = 1024;

/// The start value of chain `chain` of work-item `id`.
constexpr uint32_t kernel_fma_start(uint32_t id, uint32_t chain) { return id % 16 + chain; }

}  // namespace hsadrv_bench
