// c = a + b, with a tail that does not fill the last block.
#include <vector>

#include "tests/kfdemu/hip/check.hpp"

__global__ void add(const float* a, const float* b, float* c, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) c[i] = a[i] + b[i];
}

int main() {
    constexpr int kCount = 100'001;
    constexpr std::size_t kBytes = kCount * sizeof(float);
    std::vector<float> a(kCount), b(kCount), c(kCount);
    for (int i = 0; i < kCount; ++i) a[i] = static_cast<float>(i), b[i] = 0.5f * static_cast<float>(kCount - i);

    float *d_a, *d_b, *d_c;
    for (float** p : {&d_a, &d_b, &d_c}) HIP(hipMalloc(p, kBytes));
    HIP(hipMemcpy(d_a, a.data(), kBytes, hipMemcpyHostToDevice));
    HIP(hipMemcpy(d_b, b.data(), kBytes, hipMemcpyHostToDevice));
    HIP(hipMemset(d_c, 0xff, kBytes));
    add<<<(kCount + 255) / 256, 256>>>(d_a, d_b, d_c, kCount);
    HIP(hipGetLastError());
    HIP(hipMemcpy(c.data(), d_c, kBytes, hipMemcpyDeviceToHost));
    for (int i = 0; i < kCount; ++i) EXPECT(c[i] == a[i] + b[i]);
    for (float* p : {d_a, d_b, d_c}) HIP(hipFree(p));
}
