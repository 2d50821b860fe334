// Launches beyond a work-group's limits are refused by name, and the device keeps working.
#include "tests/kfdemu/hip/check.hpp"

__global__ void store(int* out, int value) {
    extern __shared__ int room[];
    room[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x == 0) *out = room[blockDim.x - 1];
}

int main() {
    int* out;
    HIP(hipMalloc(&out, sizeof *out));
    hipDeviceProp_t facts;
    HIP(hipGetDeviceProperties(&facts, 0));

    store<<<1, 64, facts.sharedMemPerBlock + 4>>>(out, 1);
    const hipError_t too_much_lds = hipGetLastError();
    std::printf("too much shared memory: %s\n", hipGetErrorName(too_much_lds));
    EXPECT(too_much_lds != hipSuccess);

    store<<<1, facts.maxThreadsPerBlock + 1, 8192>>>(out, 2);
    const hipError_t too_many_threads = hipGetLastError();
    std::printf("too many threads: %s\n", hipGetErrorName(too_many_threads));
    EXPECT(too_many_threads != hipSuccess);
    EXPECT(hipGetLastError() == hipSuccess);  // reported once

    int value = 0;
    store<<<1, facts.maxThreadsPerBlock, facts.sharedMemPerBlock>>>(out, 3);
    HIP(hipGetLastError());
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(&value, out, sizeof value, hipMemcpyDeviceToHost));
    EXPECT(value == 3);
    HIP(hipFree(out));
}
