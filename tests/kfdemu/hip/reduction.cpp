// The sum of an array: a tree in shared memory within each block, then one atomic addition a block.
#include <cstdint>
#include <vector>

#include "tests/kfdemu/hip/check.hpp"

__global__ void reduce(const std::uint32_t* values, int count, unsigned long long* sum) {
    extern __shared__ unsigned long long partial[];
    unsigned long long mine = 0;
    const auto stride = static_cast<int>(gridDim.x * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += stride) mine += values[i];
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

int main() {
    constexpr int kCount = 1 << 18;
    constexpr unsigned kBlock = 256;
    std::vector<std::uint32_t> values(kCount);
    unsigned long long expected = 0, sum = 0;
    for (int i = 0; i < kCount; ++i) expected += values[i] = static_cast<std::uint32_t>(i) * 2654435761u;

    std::uint32_t* d_values;
    unsigned long long* d_sum;
    HIP(hipMalloc(&d_values, kCount * sizeof *d_values));
    HIP(hipMalloc(&d_sum, sizeof *d_sum));
    HIP(hipMemcpy(d_values, values.data(), kCount * sizeof *d_values, hipMemcpyHostToDevice));
    HIP(hipMemset(d_sum, 0, sizeof *d_sum));
    reduce<<<60, kBlock, kBlock * sizeof sum>>>(d_values, kCount, d_sum);
    HIP(hipGetLastError());
    HIP(hipMemcpy(&sum, d_sum, sizeof sum, hipMemcpyDeviceToHost));
    EXPECT(sum == expected);
    HIP(hipFree(d_values));
    HIP(hipFree(d_sum));
}
