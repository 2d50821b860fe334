// Two GPUs: copies from one to the other by the copy engines, and a kernel of one that reads the other's memory.
#include <vector>

#include "tests/kfdemu/hip/check.hpp"

__global__ void twice(const int* from, int* to, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) to[i] = 2 * from[i];
}

int main() {
    constexpr int kCount = 50'003;
    constexpr std::size_t kBytes = kCount * sizeof(int);
    int gpus = 0, reaches = 0;
    HIP(hipGetDeviceCount(&gpus));
    EXPECT(gpus == 2);
    std::vector<int> sent(kCount), got(kCount);
    for (int i = 0; i < kCount; ++i) sent[i] = i * 3 - 7;

    int *on_0, *on_1;
    HIP(hipSetDevice(0));
    HIP(hipMalloc(&on_0, kBytes));
    HIP(hipMemcpy(on_0, sent.data(), kBytes, hipMemcpyHostToDevice));
    HIP(hipSetDevice(1));
    HIP(hipMalloc(&on_1, kBytes));
    HIP(hipMemset(on_1, 0, kBytes));
    HIP(hipMemcpyPeer(on_1, 1, on_0, 0, kBytes));
    HIP(hipMemcpy(got.data(), on_1, kBytes, hipMemcpyDeviceToHost));
    EXPECT(got == sent);

    HIP(hipDeviceCanAccessPeer(&reaches, 1, 0));
    EXPECT(reaches == 1);
    HIP(hipDeviceEnablePeerAccess(0, 0));
    HIP(hipMemset(on_1, 0, kBytes));
    twice<<<(kCount + 255) / 256, 256>>>(on_0, on_1, kCount);
    HIP(hipGetLastError());
    HIP(hipMemcpy(got.data(), on_1, kBytes, hipMemcpyDeviceToHost));
    for (int i = 0; i < kCount; ++i) EXPECT(got[i] == 2 * sent[i]);
    HIP(hipDeviceDisablePeerAccess(0));
    HIP(hipFree(on_1));
    HIP(hipFree(on_0));
}
