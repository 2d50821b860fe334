// HIP's device functions: shuffles and votes, bit and integer intrinsics, conversions, half precision,
// mathematics, tiles of a wave, symbols. The host computes the expected results.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/kfdemu/hip/check.hpp"

// After HIP's own header, which they need.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>

constexpr unsigned kCount = 512, kBlock = 128, kPerItem = 16;

__constant__ int weights[8];
__device__ unsigned long long total = 5;
__device__ const float kSteps[] = {0.5f, 1.5f, 2.5f};

__global__ void __launch_bounds__(kBlock) exchange(const int* in, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
    const int v = in[i];
    int* o = out + i * kPerItem;
    o[0] = __shfl(v, (lane * 7 + 3) % 64);
    o[1] = __shfl_xor(v, 5);
    o[2] = __shfl_up(v, 3);
    o[3] = __shfl_down(v, 9);
    o[4] = __shfl(v, 2, 16);
    o[5] = __shfl_up(v, 1, 8);
    o[6] = __shfl_down(v, 2, 32);
    o[7] = __any(v > 900) + __all(v >= 0) * 2;
    const unsigned long long mask = __ballot(v & 1);
    o[8] = __popcll(mask);
    o[9] = __popcll(mask & ((1ull << lane) - 1));
    const auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    o[10] = tile.shfl_down(v, 4);
    o[11] = static_cast<int>(tile.thread_rank() * 100 + tile.size());
    const double wide = __shfl_xor(v * 1e9, 33);
    o[12] = static_cast<int>(wide / 1e9);
    o[13] = static_cast<int>(__shfl(static_cast<long long>(v) << 33, 7) >> 33);
    o[14] = __lane_id();
    o[15] = weights[v & 7];
    atomicAdd(&total, static_cast<unsigned long long>(v));
}

int at(const std::vector<int>& in, unsigned wave, unsigned lane) { return in[wave * 64 + lane]; }
void check_exchange(const std::vector<int>& in, const std::vector<int>& out, const int* the_weights) {
    for (unsigned i = 0; i < kCount; ++i) {
        const unsigned wave = i / 64, l = i % 64;
        const int* o = &out[i * kPerItem];
        EXPECT(o[0] == at(in, wave, (l * 7 + 3) % 64));
        EXPECT(o[1] == at(in, wave, l ^ 5));
        EXPECT(o[2] == at(in, wave, l < 3 ? l : l - 3));
        EXPECT(o[3] == at(in, wave, l + 9 > 63 ? l : l + 9));
        EXPECT(o[4] == at(in, wave, l / 16 * 16 + 2));
        EXPECT(o[5] == at(in, wave, l % 8 == 0 ? l : l - 1));
        EXPECT(o[6] == at(in, wave, l % 32 >= 30 ? l : l + 2));
        int any = 0, odd = 0, below = 0;
        for (unsigned k = 0; k < 64; ++k) {
            any |= at(in, wave, k) > 900;
            odd += at(in, wave, k) & 1;
            if (k < l) below += at(in, wave, k) & 1;
        }
        EXPECT(o[7] == any + 2);
        EXPECT(o[8] == odd);
        EXPECT(o[9] == below);
        EXPECT(o[10] == at(in, wave, l % 16 >= 12 ? l : l + 4));
        EXPECT(o[11] == static_cast<int>(l % 16 * 100 + 16));
        EXPECT(o[12] == at(in, wave, l ^ 33));
        EXPECT(o[13] == at(in, wave, 7));
        EXPECT(o[14] == static_cast<int>(l));
        EXPECT(o[15] == the_weights[in[i] & 7]);
    }
}

__global__ void integers(const int* in, unsigned* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned x = static_cast<unsigned>(in[i]) * 2654435761u, y = x * 40503u + 1;
    unsigned* o = out + i * kPerItem;
    o[0] = __brev(x);
    o[1] = static_cast<unsigned>(__clz(static_cast<int>(x >> 3)) + __ffs(static_cast<int>(y)) * 100);
    o[2] = static_cast<unsigned>(__popc(x));
    o[3] = __umulhi(x, y);
    o[4] = static_cast<unsigned>(__mulhi(static_cast<int>(x), static_cast<int>(y)));
    o[5] = static_cast<unsigned>(__mul24(static_cast<int>(x << 8) >> 8, static_cast<int>(y << 8) >> 8));
    o[6] = __byte_perm(x, y, 0x3715);
    o[7] = __sad(static_cast<int>(x), static_cast<int>(y), 7);
    o[8] = __uhadd(x >> 1, y >> 1);
    o[9] = __umul24(x & 0xffffff, y & 0xffffff);
    o[10] = static_cast<unsigned>(__brevll(static_cast<unsigned long long>(x) << 32 | y) >> 17);
    o[11] = static_cast<unsigned>(__float2int_rz(static_cast<float>(in[i]) * 1.7f));
    o[12] = static_cast<unsigned>(__double2int_rn(in[i] * 0.5));
    o[13] = static_cast<unsigned>(__float_as_int(__int2float_rn(static_cast<int>(x))));
    o[14] =
        static_cast<unsigned>(__clzll(static_cast<long long>(x) << 5) + __ffsll(static_cast<long long>(y) << 40) * 100);
    o[15] = static_cast<unsigned>(min(static_cast<int>(x), static_cast<int>(y)) ^ max(in[i], 500));
}

unsigned reversed(unsigned v) {
    unsigned result = 0;
    for (int bit = 0; bit < 32; ++bit) result |= (v >> bit & 1) << (31 - bit);
    return result;
}
void check_integers(const std::vector<int>& in, const std::vector<unsigned>& out) {
    for (unsigned i = 0; i < kCount; ++i) {
        const unsigned x = static_cast<unsigned>(in[i]) * 2654435761u, y = x * 40503u + 1;
        const auto sx = static_cast<int>(x), sy = static_cast<int>(y);
        const unsigned* o = &out[i * kPerItem];
        EXPECT(o[0] == reversed(x));
        EXPECT(o[1] == static_cast<unsigned>((x >> 3 ? __builtin_clz(x >> 3) : 32) + __builtin_ffs(sy) * 100));
        EXPECT(o[2] == static_cast<unsigned>(__builtin_popcount(x)));
        EXPECT(o[3] == static_cast<unsigned>(std::uint64_t{x} * y >> 32));
        EXPECT(o[4] == static_cast<unsigned>(std::int64_t{sx} * sy >> 32));
        EXPECT(o[5] ==
               static_cast<unsigned>(std::int64_t{static_cast<int>(x << 8) >> 8} * (static_cast<int>(y << 8) >> 8)));
        const std::uint64_t both = std::uint64_t{y} << 32 | x;
        const auto byte = [both](unsigned k) { return static_cast<unsigned>(both >> 8 * k & 0xff); };
        EXPECT(o[6] == (byte(5) | byte(1) << 8 | byte(7) << 16 | byte(3) << 24));
        EXPECT(o[8] == static_cast<unsigned>(((x >> 1) + (y >> 1)) >> 1));
        EXPECT(o[9] == (x & 0xffffff) * (y & 0xffffff));
        EXPECT(o[10] == static_cast<unsigned>((std::uint64_t{reversed(y)} << 32 | reversed(x)) >> 17));
        EXPECT(o[11] == static_cast<unsigned>(static_cast<int>(static_cast<float>(in[i]) * 1.7f)));
        EXPECT(o[12] == static_cast<unsigned>(static_cast<int>(std::nearbyint(in[i] * 0.5))));
        const float whole = static_cast<float>(sx);
        EXPECT(std::memcmp(&o[13], &whole, 4) == 0);
        EXPECT(o[15] == static_cast<unsigned>(std::min(sx, sy) ^ std::max(in[i], 500)));
    }
}

/// Functions of one number, on both sides.
template <class T>
__host__ __device__ void mathematics(T x, T* o) {
    o[0] = exp(x / 20);
    o[1] = log(x + 1);
    o[2] = sin(x);
    o[3] = cos(x);
    o[4] = tan(x);
    o[5] = pow(x + 1, T(0.3));
    o[6] = erf(x / 300);
    o[7] = tgamma(x / 50 + 1);
    o[8] = cbrt(x);
    o[9] = atan2(x, T(77));
    o[10] = tanh(x / 400);
    o[11] = hypot(x, T(3));
    o[12] = expm1(x / 100);
    o[13] = asinh(x);
    o[14] = sqrt(x) + floor(x / 7) + fmod(x, T(3));
    o[15] = fma(x, x, T(0.1)) / (x + 3);
}
template <class T>
__global__ void mathematics_of(const int* in, T* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    mathematics(static_cast<T>(in[i]) + static_cast<T>(kSteps[i % 3]), out + i * kPerItem);
}
template <class T>
void check_mathematics(const std::vector<int>& in, const std::vector<T>& out, T tolerance) {
    const float steps[] = {0.5f, 1.5f, 2.5f};
    for (unsigned i = 0; i < kCount; ++i) {
        T expected[kPerItem];
        mathematics(static_cast<T>(in[i]) + static_cast<T>(steps[i % 3]), expected);
        for (unsigned k = 0; k < kPerItem; ++k)
            EXPECT(std::abs(out[i * kPerItem + k] - expected[k]) <= tolerance * std::abs(expected[k]));
    }
}

__global__ void halves(const int* in, float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half x = __int2half_rn(in[i]), y = __float2half(kSteps[i % 3]);
    const __half2 pair = __halves2half2(x, y), square = __hmul2(pair, pair);
    out[i * kPerItem] = __half2float(__hadd(x, y));
    out[i * kPerItem + 1] = __half2float(__hfma(x, y, x));
    out[i * kPerItem + 2] = __high2float(square);
    out[i * kPerItem + 3] = __hgt(x, y) ? 1.0f : 0.0f;
}

template <class T, class Kernel>
std::vector<T> results(Kernel kernel, const int* in) {
    T* device;
    std::vector<T> host(kCount * kPerItem);
    HIP(hipMalloc(&device, host.size() * sizeof(T)));
    HIP(hipMemset(device, 0, host.size() * sizeof(T)));
    kernel<<<kCount / kBlock, kBlock>>>(in, device);
    HIP(hipGetLastError());
    HIP(hipMemcpy(host.data(), device, host.size() * sizeof(T), hipMemcpyDeviceToHost));
    HIP(hipFree(device));
    return host;
}

int main() {
    std::vector<int> in(kCount);
    unsigned long long sum = 5, seen;
    for (unsigned i = 0; i < kCount; ++i) sum += static_cast<unsigned>(in[i] = static_cast<int>(i * 7919 % 1000));
    const int the_weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    int* d_in;
    HIP(hipMalloc(&d_in, kCount * sizeof(int)));
    HIP(hipMemcpy(d_in, in.data(), kCount * sizeof(int), hipMemcpyHostToDevice));
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(weights), the_weights, sizeof the_weights));

    check_exchange(in, results<int>(exchange, d_in), the_weights);
    HIP(hipMemcpyFromSymbol(&seen, HIP_SYMBOL(total), sizeof seen));
    EXPECT(seen == sum);
    check_integers(in, results<unsigned>(integers, d_in));
    check_mathematics<float>(in, results<float>(mathematics_of<float>, d_in), 2e-6f);
    check_mathematics<double>(in, results<double>(mathematics_of<double>, d_in), 4e-15);
    const std::vector<float> of_halves = results<float>(halves, d_in);
    for (unsigned i = 0; i < kCount; ++i) {
        const float x = static_cast<float>(in[i]), y = static_cast<float>(i % 3) + 0.5f;
        EXPECT(of_halves[i * kPerItem] == __half2float(__float2half(x + y)));
        EXPECT(of_halves[i * kPerItem + 1] == __half2float(__float2half(x * y + x)));
        EXPECT(of_halves[i * kPerItem + 2] == y * y);
        EXPECT(of_halves[i * kPerItem + 3] == (x > y ? 1.0f : 0.0f));
    }
    HIP(hipFree(d_in));
}
