// Averages neighbours in an array shared by a work-group: in static LDS, then in LDS sized at launch.
#include <devicearray/devicearray.hpp>

#include <cstdio>
#include <exception>
#include <vector>

#include "kernels/shared_array_layout.hpp"

using namespace hsadrv;

namespace {

constexpr uint32_t n = 100000;

std::vector<float> moving_average(const std::vector<float>& in) {
    std::vector<float> out(n);
    for (uint32_t i = 0; i < n; ++i) {
        float sum = 0;
        for (uint32_t k = i - radius; k != i + radius + 1; ++k) sum += k < n ? in[k] : 0;
        out[i] = sum / (2 * radius + 1);
    }
    return out;
}

}  // namespace

int main() try {
    Driver driver;
    Context gpu{driver.default_gpu()};
    Stream stream = gpu.stream();
    std::vector<float> in(n);
    for (uint32_t i = 0; i < n; ++i) in[i] = static_cast<float>(i * 7919 % 1000);
    const std::vector<float> expected = moving_average(in);

    auto d_in = to_device(in, stream);
    auto d_out = device_array_like(d_in, stream);
    const Executable code = Executable::load(gpu, "shared_array.hsaco");
    bool all_right = true;
    const auto check = [&](const char* lds, uint32_t workgroup) {
        const bool right = d_out.copy_to_host<float>(stream) == expected;
        all_right = all_right && right;
        std::printf("%s: LDS %s, work-groups of %u: %s\n", gpu.agent().label().c_str(), lds, workgroup,
                    right ? "bit for bit the CPU's" : "WRONG");
        d_out.fill(0.0f, stream);
    };

    code.kernel("moving_average").launch(stream, {.grid = n, .workgroup = 256}, d_in, d_out, n);
    check("static", 256);
    const Kernel sized = code.kernel("moving_average_sized");
    for (uint32_t workgroup : {64u, 100u, 1024u}) {
        const LaunchConfig config{.grid = n, .workgroup = workgroup, .lds = shared_array_layout(workgroup)};
        sized.launch(stream, config, d_in, d_out, n);
        check("sized at launch", workgroup);
    }
    return all_right ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "shared_array: %s\n", error.what());
    return 1;
}
