// The kernels that hsadrv bench kernel measures: what each does, and the amount of work.
//
//     for (const KernelFacts& kernel : kernel_list()) …
//
// A table beside kernels/bench_kernels.cpp, which has the kernels of these names. Thread safety: no state.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/hsadrv/bench/report.hpp"

namespace hsadrv_bench {

enum class KernelKind { arithmetic, lds, memory };

struct KernelFacts {
    const char* word;  ///< of --kernel
    const char* name;  ///< of rows
    const char* symbol;
    KernelKind kind;
    Work work;
    /// Arithmetic and LDS: work per work-item. Memory: bytes transferred per byte of an array.
    double work_each;
};

std::span<const KernelFacts> kernel_list();

}  // namespace hsadrv_bench
