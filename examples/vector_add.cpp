// Adds two arrays on the GPU.
#include <devicearray/devicearray.hpp>

#include <algorithm>
#include <cstdio>

int main() try {
    hsadrv::Driver driver;
    hsadrv::Context gpu{driver.default_gpu()};
    hsadrv::Stream stream = gpu.stream();

    std::vector<float> a(1 << 20, 1.0f), b(1 << 20, 2.0f);
    auto d_a = hsadrv::to_device(a, stream);  // DeviceNDArray, float32, shape (1048576,)
    auto d_b = hsadrv::to_device(b, stream);
    auto d_c = hsadrv::device_array_like(d_a, stream);

    auto code = hsadrv::Executable::load(gpu, "vector_add.hsaco");
    auto kernel = code.kernel("vector_add");  // arguments known from its metadata
    kernel.launch(stream, {.grid = 1 << 20, .workgroup = 256}, d_a, d_b, d_c, 1u << 20);

    std::vector<float> c = d_c.copy_to_host<float>(stream);  // waits for what the stream holds
    const auto right = std::count(c.begin(), c.end(), 3.0f);
    std::printf("%s: %zu of %zu sums are right\n", gpu.agent().label().c_str(), std::size_t(right), c.size());
    return std::size_t(right) == c.size() ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "vector_add: %s\n", error.what());
    return 1;
}
