// Blurs a picture: blur [IN.ppm [OUT.ppm]]. Reads and writes PGM and PPM; checks the result against the CPU's.
#include <devicearray/devicearray.hpp>

#include <cstdio>
#include <exception>

#include "gaussian.hpp"
#include "kernels/blur_shape.hpp"
#include "pnm.hpp"
#include "stopwatch.hpp"

using namespace hsadrv;

int main(int argc, char** argv) try {
    const Picture in = read_picture(argc > 1 ? argv[1] : "lighthouse.ppm");
    const std::vector<float> weights = gaussian();
    Driver driver;
    Context gpu{driver.default_gpu()};
    Stream stream = gpu.stream();

    auto d_in = to_device(in.samples, stream);
    auto d_out = device_array_like(d_in, stream);
    auto d_weights = to_device(weights, stream);
    auto kernel = Executable::load(gpu, "blur.hsaco").kernel("blur");
    const auto up = [](uint32_t size) { return (size + blur_block - 1) / blur_block * blur_block; };
    const Dim3 grid{up(in.width), up(in.height), in.channels};
    const Stopwatch time;
    kernel.launch(stream, {.grid = grid, .workgroup = {blur_block, blur_block}}, d_in, d_out, d_weights, in.width,
                  in.height, in.channels);
    stream.synchronize();
    const double ms = time.ms();

    Picture out = in;
    d_out.copy_to_host(out.samples, stream);
    const char* path = argc > 2 ? argv[2] : in.channels == 3 ? "blurred.ppm" : "blurred.pgm";
    write_picture(path, out);
    // Half a level for rounding to integers, plus 2 * (9 products + 9 sums) + 1 float roundings, each at most 2^-24 of
    // `max`.
    const double bound = 0.5 + in.max * 37 / 16777216.0, worst = worst_error(in, out, weights);
    std::printf("%s: %u x %u samples in %u channels blurred in %.2f ms: %s\n", gpu.agent().label().c_str(), in.width,
                in.height, in.channels, ms, path);
    std::printf("furthest from the CPU's exact result: %.6f levels, bound %.6f: %s\n", worst, bound,
                worst <= bound ? "right" : "WRONG");
    return worst <= bound ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "blur: %s\n", error.what());
    return 1;
}
