// Kernels bound to types that are known at run time: they behave as BoundKernel does.
#include "hsadrv/runtime_bound_kernel.hpp"

#include "hsadrv/error.hpp"
#include "hsadrv/executable.hpp"
#include "launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

struct BoundAtRunTime {
    Device device;
    Executable code;

    explicit BoundAtRunTime(const std::string& variant = "v5.O2")
        : code(Executable::load(device.gpu, launch_file(device.gpu, variant))) {}
    void wait() { device.stream.synchronize(std::chrono::seconds(60)); }
};

const ArgumentShape saxpy_types[] = {argument_shape<float*>, argument_shape<const float*>, argument_shape<float>,
                                     argument_shape<unsigned>};

}  // namespace

#define NEEDS_BOUND_AT_RUN_TIME(...)               \
    NEEDS_DEVICE();                                \
    NEEDS_LAUNCH_KERNELS(Driver().gpus().front()); \
    BoundAtRunTime t { __VA_ARGS__ }

TEST_CASE("a kernel bound at run time launches values by their addresses", "[runtime_bound_kernel][device]") {
    const std::string variant = GENERATE("v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    NEEDS_BOUND_AT_RUN_TIME(variant);
    constexpr unsigned n = 100;
    Shared<float> x(t.device.gpu, n, 3.0f), y(t.device.gpu, n + 1, 1.0f);
    const RuntimeBoundKernel saxpy = t.code.kernel("saxpy").bind(saxpy_types);
    CHECK(saxpy.kernel().name() == "saxpy");
    const void *to = y.data(), *from = x.data();
    float a = 2.0f;
    const unsigned count = n;
    const void* const values[] = {&to, &from, &a, &count};
    saxpy.launch(t.device.stream, {.grid = n, .workgroup = 64}, values);
    a = 0.5f;  // the first launch has taken its value
    const RuntimeFixedLaunch step = saxpy.at({.grid = n, .workgroup = 64});
    step(t.device.stream, values);
    step(t.device.stream, values, std::chrono::seconds(60));
    t.wait();
    bool right = true;
    for (unsigned i = 0; i < n; ++i) right = right && y[i] == 1.0f + 3.0f * 3.0f;
    CHECK(right);
    CHECK(y[n] == 1.0f);
}

TEST_CASE("a fixed launch at run time has LDS pointers and hidden arguments", "[runtime_bound_kernel][device]") {
    NEEDS_BOUND_AT_RUN_TIME();
    Shared<std::uint32_t> fixed(t.device.gpu, 64), launched(t.device.gpu, 64);
    const ArgumentShape types[] = {argument_shape<std::uint32_t*>, argument_shape<unsigned>};
    const void *to_fixed = fixed.data(), *to_launched = launched.data();
    const unsigned count = 64;
    const void *const for_fixed[] = {&to_fixed, &count}, *const for_launched[] = {&to_launched, &count};
    const LaunchConfig config{.grid = {10, 4}, .workgroup = {4, 2}};
    const RuntimeBoundKernel hidden = t.code.kernel("hidden").bind(types);
    hidden.at(config)(t.device.stream, for_fixed);
    hidden.launch(t.device.stream, config, for_launched);
    t.wait();
    CHECK(std::equal(fixed.data(), fixed.data() + 52, launched.data()));
    CHECK(fixed[0] == 2);
    const std::uint64_t queue = fixed[50] | std::uint64_t{fixed[51]} << 32;
    CHECK(queue == reinterpret_cast<std::uint64_t>(t.device.stream.queue().native()));

    for (unsigned i = 0; i < 64; ++i) fixed[i] = launched[i] = i;
    const LaunchConfig with_lds{.grid = 64, .workgroup = 64, .lds = 64 * sizeof(std::uint32_t)};
    const RuntimeBoundKernel reverse = t.code.kernel("reverse").bind(types);
    reverse.at(with_lds)(t.device.stream, for_fixed);
    reverse.launch(t.device.stream, with_lds, for_launched);
    t.wait();
    CHECK(std::equal(fixed.data(), fixed.data() + 64, launched.data()));
    CHECK(fixed[0] == 63 + 64);
}

TEST_CASE("binding at run time refuses what typed binding refuses, with the same words",
          "[runtime_bound_kernel][device]") {
    NEEDS_BOUND_AT_RUN_TIME();
    const Kernel saxpy = t.code.kernel("saxpy");
    const std::string typed = message_of<InvalidArgument>([&] { saxpy.bind<float*, double*, float, unsigned>(); });
    const ArgumentShape wrong[] = {argument_shape<float*>, argument_shape<double*>, argument_shape<float>,
                                   argument_shape<unsigned>};
    CHECK_THAT(typed, Contains("argument 2 of 4 (float*)"));
    CHECK(message_of<InvalidArgument>([&] { saxpy.bind(wrong); }) == typed);
    CHECK_THROWS_WITH(saxpy.bind(std::span(wrong, 3)), Contains("takes 4 arguments, given 3"));

    const RuntimeBoundKernel shape = t.code.kernel("shape").bind(std::span(&argument_shape<std::uint32_t*>, 1));
    const LaunchConfig too_large{.grid = 4096, .workgroup = 257};
    CHECK_THROWS_WITH(shape.at(too_large), Contains("compiled for up to 256"));
    const std::uint32_t* nowhere = nullptr;
    const void* const value = &nowhere;
    CHECK_THROWS_WITH(shape.launch(t.device.stream, too_large, std::span(&value, 1)),
                      Contains("compiled for up to 256"));
    CHECK(t.device.stream.progress().submitted == 0);
}

TEST_CASE("a launch at run time needs every value's address", "[runtime_bound_kernel][device]") {
    NEEDS_BOUND_AT_RUN_TIME();
    const RuntimeBoundKernel saxpy = t.code.kernel("saxpy").bind(saxpy_types);
    const RuntimeFixedLaunch step = saxpy.at({.grid = 4, .workgroup = 4});
    const float a = 2.0f;
    const void* const values[] = {&a, &a, nullptr, &a};
    CHECK_THROWS_WITH(step(t.device.stream, values), Contains("value 3 of 4 is null"));
    CHECK_THROWS_WITH(saxpy.launch(t.device.stream, {.grid = 4, .workgroup = 4}, std::span(values, 2)),
                      Contains("it takes 4 values, given 2"));
    CHECK(t.device.stream.progress().submitted == 0);
    if (t.device.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    Stream other(t.device.driver.gpus()[1]);
    CHECK_THROWS_WITH(step(other, values), Contains("gpu1"));
}
