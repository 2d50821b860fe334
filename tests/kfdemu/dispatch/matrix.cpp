// Matrix and dot products of small whole numbers, which every sum holds exactly.
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

}  // namespace

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
