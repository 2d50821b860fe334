// A kernel that prints, asserts and takes logarithms.
#include <devicearray/devicearray.hpp>

#include <cmath>
#include <cstdio>

int main() try {
    hsadrv::Driver driver;
    hsadrv::Context gpu{driver.default_gpu()};
    hsadrv::Stream stream = gpu.stream();
    auto kernel = hsadrv::Executable::load(gpu, "services.hsaco").kernel("logarithms");

    std::vector<double> x = {1, 2, 10, 1e-300};
    auto d_x = hsadrv::to_device(x, stream);
    auto d_y = hsadrv::device_array_like(d_x, stream);
    kernel.launch(stream, {.grid = 4, .workgroup = 4}, d_x, d_y);
    const std::vector<double> y = d_y.copy_to_host<double>(stream);  // the kernel has printed its four lines
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += std::abs(y[i] - std::log(x[i])) > 1e-15 * std::abs(y[i]);
    std::printf("%d of %zu logarithms are wrong\n", wrong, x.size());

    x[2] = -1;
    hsadrv::Stream failing = gpu.stream();  // the other stream stays usable
    auto d_negative = hsadrv::to_device(x, failing);
    kernel.launch(failing, {.grid = 4, .workgroup = 4}, d_negative, d_y);
    try {
        failing.synchronize();
        return 1;
    } catch (const hsadrv::KernelAssertion& error) {
        std::printf("%s\n", error.what());
    }
    stream.synchronize();
    return wrong;
} catch (const std::exception& error) {
    std::fprintf(stderr, "services: %s\n", error.what());
    return 1;
}
