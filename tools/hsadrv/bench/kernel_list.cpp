#include "tools/hsadrv/bench/kernel_list.hpp"

#include "tools/hsadrv/bench/kernels/bench_kernels.hpp"

namespace hsadrv_bench {

std::span<const KernelFacts> kernel_list() {
    constexpr double flops = 2.0 * kernel_fma_chains * kernel_fma_steps;
    static constexpr KernelFacts all[] = {
        {"fp32", "FP32 fused multiply-add", "bench_fma_f32", KernelKind::arithmetic, Work::operations, flops},
        {"fp64", "FP64 fused multiply-add", "bench_fma_f64", KernelKind::arithmetic, Work::operations, flops},
        {"fp16", "FP16 packed multiply-add", "bench_fma_f16", KernelKind::arithmetic, Work::operations, 2 * flops},
        {"lds", "LDS read", "bench_lds_read", KernelKind::lds, Work::bytes, 16.0 * kernel_lds_steps},
        {"read", "global memory read", "bench_read", KernelKind::memory, Work::bytes, 1},
        {"write", "global memory write", "bench_write", KernelKind::memory, Work::bytes, 1},
        {"copy", "global memory copy", "bench_copy", KernelKind::memory, Work::bytes, 2},
        {"triad", "global memory triad", "bench_triad", KernelKind::memory, Work::bytes, 3},
    };
    return all;
}

}  // namespace hsadrv_bench
