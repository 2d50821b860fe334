// Two streams: one waits for the other's event, and events tell how long a kernel ran.
#include <vector>

#include "tests/kfdemu/hip/check.hpp"

__global__ void fill(int* data, int count, int value) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] = value;
}

/// Keeps one thread busy for the given number of dependent steps, and stores the result at the end.
__global__ void slow_store(int* data, unsigned steps) {
    unsigned state = 1;
    for (unsigned i = 0; i < steps; ++i) state = state * 1664525u + 1013904223u + i;
    data[0] = state == 0 ? -1 : 42;
}

__global__ void copy_first(const int* from, int* to) { *to = *from; }

int main() {
    constexpr int kCount = 10'000;
    hipStream_t first, second;
    hipEvent_t begun, ended, late;
    int *data, *seen;
    HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    for (hipEvent_t* e : {&begun, &ended, &late}) HIP(hipEventCreate(e));
    HIP(hipMalloc(&data, kCount * sizeof *data));
    HIP(hipHostMalloc(&seen, sizeof *seen));

    // The second stream reads what the first one stores at the end of a long kernel.
    fill<<<(kCount + 63) / 64, 64, 0, first>>>(data, kCount, 7);
    HIP(hipEventRecord(begun, first));
    slow_store<<<1, 1, 0, first>>>(data, 300'000);
    HIP(hipEventRecord(ended, first));
    HIP(hipStreamWaitEvent(second, ended, 0));
    copy_first<<<1, 1, 0, second>>>(data, seen);
    HIP(hipEventRecord(late, second));
    HIP(hipEventSynchronize(late));
    EXPECT(*seen == 42);
    EXPECT(hipEventQuery(ended) == hipSuccess);

    float busy_ms = -1, all_ms = -1;
    HIP(hipEventElapsedTime(&busy_ms, begun, ended));
    HIP(hipEventElapsedTime(&all_ms, begun, late));
    EXPECT(busy_ms > 0);
    EXPECT(all_ms >= busy_ms);
    EXPECT(all_ms < 60'000);

    std::vector<int> host(kCount);
    HIP(hipMemcpyAsync(host.data(), data, kCount * sizeof *data, hipMemcpyDeviceToHost, first));
    HIP(hipStreamSynchronize(first));
    for (int i = 1; i < kCount; ++i) EXPECT(host[i] == 7);

    for (hipEvent_t e : {begun, ended, late}) HIP(hipEventDestroy(e));
    HIP(hipStreamDestroy(first));
    HIP(hipStreamDestroy(second));
    HIP(hipFree(data));
    HIP(hipHostFree(seen));
}
