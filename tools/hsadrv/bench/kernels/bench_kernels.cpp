// The kernels that hsadrv bench measures. For a GPU for which hsadrv has none:
//
//     hsadrv-cc --target gfx942 bench_kernels.cpp -o bench_kernels.hsaco
//     hsadrv bench kernel --code-object bench_kernels.hsaco
#include "bench_kernels.hpp"

#include <shared/device/device.hpp>

using namespace hsadrv_bench;

namespace {

using Bytes16 = uint32_t __attribute__((ext_vector_type(4)));
using Float4 = float __attribute__((ext_vector_type(4)));
using Half2 = _Float16 __attribute__((ext_vector_type(2)));

/// The sum of the final values of all chains. `T` may be a vector: its lanes are separate chains with equal start
/// values.
template <class T, class Scalar, class Sum>
HSADRV_DEVICE Sum chains(Scalar m, Scalar c, Sum (*sum_of)(T)) {
#pragma clang fp contract(fast)
    const uint32_t id = hsadrv::get_global_id(0);
    T x[kernel_fma_chains];
    for (uint32_t i = 0; i < kernel_fma_chains; ++i) x[i] = (T)(Scalar)kernel_fma_start(id, i);
#pragma unroll 8
    for (uint32_t step = 0; step < kernel_fma_steps; ++step)
        for (uint32_t i = 0; i < kernel_fma_chains; ++i) x[i] = x[i] * (T)m + (T)c;
    Sum sum = 0;
    for (uint32_t i = 0; i < kernel_fma_chains; ++i) sum += sum_of(x[i]);
    return sum;
}

}  // namespace

// For launches: 56 bytes of arguments and almost no work.
HSADRV_KERNEL void bench_launch(uint32_t* out, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
    if (hsadrv::get_local_id(0) == 0) out[0] = (uint32_t)(a + b + c + d + e + f);
}

HSADRV_KERNEL void bench_fma_f32(float* out, float m, float c) {
    out[hsadrv::get_global_id(0)] = chains<float, float, float>(m, c, [](float x) HSADRV_LAMBDA { return x; });
}
HSADRV_KERNEL void bench_fma_f64(double* out, double m, double c) {
    out[hsadrv::get_global_id(0)] = chains<double, double, double>(m, c, [](double x) HSADRV_LAMBDA { return x; });
}
HSADRV_KERNEL void bench_fma_f16(float* out, float m, float c) {
    out[hsadrv::get_global_id(0)] = chains<Half2, _Float16, float>(
        (_Float16)m, (_Float16)c, [](Half2 x) HSADRV_LAMBDA { return (float)x.x + (float)x.y; });
}

// `stride` is kernel_workgroup. The compiler does not know it, so it must read in each step.
HSADRV_KERNEL void bench_lds_read(uint32_t* out, uint32_t stride) {
    auto data = hsadrv::shared::array<Bytes16, kernel_lds_elements>();
    const uint32_t id = hsadrv::get_local_id(0);
    for (uint32_t i = id; i < kernel_lds_elements; i += kernel_workgroup) data[i] = Bytes16{i, 3 * i, 5 * i, 7 * i};
    hsadrv::barrier();
    uint32_t sum = 0, at = id;
#pragma unroll 8
    for (uint32_t step = 0; step < kernel_lds_steps; ++step) {
        const Bytes16 read = data[at];
        sum = sum + read.x + read.y;
        sum = sum + read.z + read.w;
        at = (at + stride) % kernel_lds_elements;
    }
    out[hsadrv::get_global_id(0)] = sum;
}

// Global memory: `count` elements of 16 bytes, traversed with a stride of the whole grid.
HSADRV_KERNEL void bench_read(uint32_t* sums, const Bytes16* a, uint64_t count) {
    const uint32_t id = hsadrv::get_global_id(0), all = hsadrv::get_global_size(0);
    Bytes16 sum = 0;
    for (uint64_t i = id; i < count; i += all) sum += a[i];
    sums[id] = sum.x + sum.y + sum.z + sum.w;
}
HSADRV_KERNEL void bench_write(Bytes16* a, uint32_t value, uint64_t count) {
    const uint32_t all = hsadrv::get_global_size(0);
    for (uint64_t i = hsadrv::get_global_id(0); i < count; i += all) a[i] = Bytes16{value, value, value, (uint32_t)i};
}
HSADRV_KERNEL void bench_copy(Bytes16* to, const Bytes16* from, uint64_t count) {
    const uint32_t all = hsadrv::get_global_size(0);
    for (uint64_t i = hsadrv::get_global_id(0); i < count; i += all) to[i] = from[i];
}
HSADRV_KERNEL void bench_triad(Float4* to, const Float4* b, const Float4* c, float s, uint64_t count) {
    const uint32_t all = hsadrv::get_global_size(0);
    for (uint64_t i = hsadrv::get_global_id(0); i < count; i += all) to[i] = b[i] + s * c[i];
}
