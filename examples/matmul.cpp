// Multiplies two 256 x 256 matrices: tiles in static LDS, then in LDS sized at launch, with one layout shared by host
// and kernel.
#include <devicearray/devicearray.hpp>

#include <cstdio>
#include <exception>
#include <vector>

#include "kernels/matmul_tiles.hpp"
#include "stopwatch.hpp"

using namespace hsadrv;

namespace {

constexpr uint32_t n = 256;

/// Small integers: every product and sum is exact in float, in any order of additions.
std::vector<float> matrix(uint32_t seed) {
    std::vector<float> values(n * n);
    for (float& value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = static_cast<float>(static_cast<int>(seed >> 28) - 8);
    }
    return values;
}

std::vector<float> multiply(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> c(n * n);
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t k = 0; k < n; ++k) {
            for (uint32_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
        }
    }
    return c;
}

}  // namespace

int main() try {
    Driver driver;
    Context gpu{driver.default_gpu()};
    Stream stream = gpu.stream();
    const std::vector<float> a = matrix(1), b = matrix(2), expected = multiply(a, b);

    auto d_a = to_device(host_view(a, {n, n}), stream);
    auto d_b = to_device(host_view(b, {n, n}), stream);
    auto code = Executable::load(gpu, "matmul.hsaco");
    auto with_static = code.kernel("matmul_static"), with_dynamic = code.kernel("matmul_dynamic");
    std::printf("%s: %u x %u floats\n", gpu.agent().label().c_str(), n, n);

    bool all_right = true;
    const auto run = [&](const char* lds, uint32_t tile, auto launch) {
        auto d_c = device_array_like(d_a, stream);
        stream.synchronize();
        const Stopwatch time;
        launch(d_c);
        stream.synchronize();
        const double ms = time.ms();
        const bool right = d_c.copy_to_host<float>(stream) == expected;
        all_right = all_right && right;
        std::printf("  LDS %-16s tiles of %2u x %2u: %7.2f ms, %s\n", lds, tile, tile, ms,
                    right ? "bit for bit the CPU's" : "WRONG");
    };

    run("static,", 16,
        [&](auto& d_c) { with_static.launch(stream, {.grid = {n, n}, .workgroup = {16, 16}}, d_a, d_b, d_c, n); });
    for (uint32_t tile : {8u, 16u, 32u}) {
        run("sized at launch,", tile, [&](auto& d_c) {
            const LaunchConfig config{.grid = {n, n}, .workgroup = {tile, tile}, .lds = matmul_tiles(tile)};
            with_dynamic.launch(stream, config, d_a, d_b, d_c, n, tile);
        });
    }
    return all_right ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "matmul: %s\n", error.what());
    return 1;
}
