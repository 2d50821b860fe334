// A cooperative launch: all blocks of a grid wait for each other, several times.
#include "tests/kfdemu/hip/check.hpp"

// After HIP's own header, which it needs.
#include <hip/hip_cooperative_groups.h>

/// Every round adds up what all blocks counted in the round before.
__global__ void rounds(unsigned* counts, unsigned* sums, int many) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int round = 0; round < many; ++round) {
        if (threadIdx.x == 0) atomicAdd(&counts[round], blockIdx.x + 1);
        grid.sync();
        if (threadIdx.x == 0) atomicAdd(&sums[round], __atomic_load_n(&counts[round], __ATOMIC_RELAXED));
    }
}

int main() {
    int many = 5, possible = 0;
    constexpr unsigned kBlocks = 24, kCount = kBlocks * (kBlocks + 1) / 2;
    HIP(hipDeviceGetAttribute(&possible, hipDeviceAttributeCooperativeLaunch, 0));
    EXPECT(possible);
    unsigned *counts, *sums, seen[5];
    HIP(hipMalloc(&counts, sizeof seen));
    HIP(hipMalloc(&sums, sizeof seen));
    HIP(hipMemset(counts, 0, sizeof seen));
    HIP(hipMemset(sums, 0, sizeof seen));
    void* arguments[] = {&counts, &sums, &many};
    HIP(hipLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), dim3(kBlocks), dim3(128), arguments, 0, nullptr));
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(seen, sums, sizeof seen, hipMemcpyDeviceToHost));
    for (unsigned sum : seen) EXPECT(sum == kBlocks * kCount);
    HIP(hipFree(counts));
    HIP(hipFree(sums));
}
