// Matrix and dot products of small whole numbers, which every sum holds exactly.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/kfdemu/dispatch/machine.hpp"

using namespace dispatch_test;

namespace {

constexpr std::uint32_t kSize = 64;

std::vector<float> small_numbers(std::uint32_t seed) {
    std::vector<float> values(kSize * kSize);
    for (std::uint32_t n = 0; n < values.size(); ++n)
        values[n] = static_cast<float>((n * 37 + n / 64 * 11 + seed) % 17) - 8;
    return values;
}

std::uint32_t wrong_elements(const float* c, const std::vector<float>& a, const std::vector<float>& b) {
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < kSize; ++i) {
        for (std::uint32_t j = 0; j < kSize; ++j) {
            float sum = 0;
            for (std::uint32_t k = 0; k < kSize; ++k) sum += a[i * kSize + k] * b[k * kSize + j];
            wrong += c[i * kSize + j] != sum;
        }
    }
    return wrong;
}

void check_matrix(const char* kernel, std::uint32_t tile) {
    on_each("matrix", [=](Machine& gpu, const CodeObject& code) {
        CAPTURE(kernel);
        const auto a = small_numbers(3), b = small_numbers(5);
        auto* c = gpu.allocate<float>(kSize * kSize);
        const std::uint32_t tiles = kSize / tile;
        code.launch(kernel, {.grid = {64 * tiles, tiles}, .group = {64, 1}}, gpu.copy(a), gpu.copy(b), c, kSize);
        REQUIRE(wrong_elements(c, a, b) == 0);
    });
}

/// Whole numbers from -8 to 7.
int whole_number(std::size_t n, unsigned seed) { return static_cast<int>((n * 37 + n / 64 * 11 + seed) % 16) - 8; }
_Float16 as_half(int v) { return static_cast<_Float16>(v); }
/// FP8: three bits of mantissa, and an exponent whose bias is 8 on gfx942 and 7 on gfx950.
template <unsigned bias>
std::uint8_t as_fp8(int v) {
    if (v == 0) return 0;
    const unsigned magnitude = static_cast<unsigned>(std::abs(v)), exponent = std::bit_width(magnitude) - 1;
    return static_cast<std::uint8_t>((v < 0 ? 0x80 : 0) | (exponent + bias) << 3 | (magnitude << 3 >> exponent & 7));
}

/// c = a b of size x size, both with the depth contiguous: seconds.
template <class T>
double multiply(Target target, const char* kernel, T (*as)(int), std::uint32_t size, unsigned threads) {
    Machine gpu{target};
    const CodeObject code = gpu.load("matrix", "O3");
    std::vector<T> a(std::size_t{size} * size), b(a.size());
    for (std::size_t n = 0; n < a.size(); ++n) a[n] = as(whole_number(n, 3)), b[n] = as(whole_number(n, 5));
    auto* c = gpu.allocate<float>(a.size());
    const std::uint32_t tiles = size / 32;
    const auto *left = gpu.copy(a), *right = gpu.copy(b);
    const auto begin = std::chrono::steady_clock::now();
    code.launch(kernel, {.grid = {64 * tiles, tiles}, .group = {64, 1}, .threads = threads}, left, right, c, size);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t column = row % 7; column < size; column += 7) {  // a seventh of them
            int sum = 0;
            for (std::size_t k = 0; k < size; ++k)
                sum += whole_number(row * size + k, 3) * whole_number(column * size + k, 5);
            wrong += c[row * size + column] != static_cast<float>(sum);
        }
    REQUIRE(wrong == 0);
    return seconds.count();
}
double multiply_fp8(Target target, std::uint32_t size, unsigned threads) {
    return multiply(target, "gemm_fp8", target == Target::gfx942 ? as_fp8<8> : as_fp8<7>, size, threads);
}
/// With FP8, those that the kernels were compiled for.
std::vector<Target> fp8_targets() {
    std::vector<Target> found;
    for (const Target target : targets())
        if (target == Target::gfx942 || target == Target::gfx950) found.push_back(target);
    return found;
}

}  // namespace

TEST_CASE("a matrix product of 16 and of 8 bits", "[dispatch][matrix]") {
    if (fp8_targets().empty()) SKIP_BECAUSE("the kernels were compiled for no GPU with FP8");
    for (const Target target : fp8_targets()) {
        multiply(target, "gemm_f16", as_half, 128, 2);
        multiply_fp8(target, 128, 2);
    }
}

TEST_CASE("speed of matrix products", "[.speed]") {
    for (const Target target : fp8_targets()) {
        for (const unsigned threads : {1u, 2u}) {
            const double operations = 2.0 * 512 * 512 * 512, half = multiply(target, "gemm_f16", as_half, 512, threads),
                         fp8 = multiply_fp8(target, 512, threads);
            std::printf("512 x 512 x 512 by MFMA of %s, threads: %u: FP16 %.2f GFLOP/s, FP8 %.2f GFLOP/s\n",
                        kfdemu::isa::name(target), threads, operations / half / 1e9, operations / fp8 / 1e9);
        }
    }
}

TEST_CASE("a matrix product by tiles of a wave", "[dispatch][matrix]") {
    check_matrix("matmul_f32", 32);
    check_matrix("matmul_f16", 16);
    check_matrix("matmul_f64", 16);
}

TEST_CASE("dot products of bytes", "[dispatch][matrix]") {
    on_each("matrix", [](Machine& gpu, const CodeObject& code) {
        const std::vector<std::int32_t> a(64, 0x7f80ff02), b(64, 0x02810305);
        auto* c = gpu.copy(std::vector<std::int32_t>(64, 1000));
        code.launch("dot_bytes", {.grid = {64}, .group = {64}}, gpu.copy(a), gpu.copy(b), c);
        for (std::uint32_t l = 0; l < 64; ++l) REQUIRE(c[l] == 1000 + 127 * 2 + -128 * -127 + -1 * 3 + 2 * 5);
    });
}
