// Kernels bound to argument types and sizes: they behave as launch() does, and refuse the same arguments earlier.
#include "hsadrv/bound_kernel.hpp"

#include "hsadrv/error.hpp"
#include "launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

struct Bound {
    Device device;
    Executable code;

    explicit Bound(const std::string& variant = "v5.O2")
        : code(Executable::load(device.gpu, launch_file(device.gpu, variant))) {}
    Kernel kernel(const char* name) const { return code.kernel(name); }
    void wait() { device.stream.synchronize(std::chrono::seconds(60)); }
};

/// The error of binding and of launching, which must be the same.
template <class... Args>
std::string refusal(Bound& bound, const char* name, const Args&... args) {
    const Kernel kernel = bound.kernel(name);
    const auto before = bound.device.stream.progress().submitted;
    const std::string by_launch = message_of<InvalidArgument>(
        [&] { kernel.launch(bound.device.stream, {.grid = 64, .workgroup = 64}, args...); });
    const std::string by_bind = message_of<InvalidArgument>([&] { kernel.bind<Args...>(); });
    CHECK(by_bind == by_launch);
    CHECK(bound.device.stream.progress().submitted == before);
    return by_bind;
}

}  // namespace

#define NEEDS_BOUND(...)                           \
    NEEDS_DEVICE();                                \
    NEEDS_LAUNCH_KERNELS(Driver().gpus().front()); \
    Bound bound { __VA_ARGS__ }

TEST_CASE("a bound kernel does what launch does", "[bound_kernel][device]") {
    const std::string variant = GENERATE("v4.O0", "v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    NEEDS_BOUND(variant);
    const unsigned n = GENERATE(1u, 100u, 1000u);
    Shared<float> x(bound.device.gpu, n, 3.0f), y(bound.device.gpu, n + 1, 1.0f);
    const auto saxpy = bound.kernel("saxpy").bind<float*, const float*, float, unsigned>();
    CHECK(saxpy.kernel().name() == "saxpy");
    saxpy.launch(bound.device.stream, {.grid = n, .workgroup = 256}, y.data(), x.data(), 2.0f, n);
    const auto step = saxpy.at({.grid = n, .workgroup = 256});
    step(bound.device.stream, y.data(), x.data(), 2, n);  // 2 converts to float, as in C++
    step.until(bound.device.stream, std::chrono::seconds(60), y.data(), nullptr == x.data() ? nullptr : x.data(), 0.5f,
               n);
    bound.wait();
    bool right = true;
    for (unsigned i = 0; i < n; ++i) right = right && y[i] == 1.0f + 4.5f * 3.0f;
    CHECK(right);
    CHECK(y[n] == 1.0f);
}

TEST_CASE("a fixed launch has the hidden arguments of its sizes and of its stream's queue", "[bound_kernel][device]") {
    NEEDS_BOUND();
    Shared<std::uint32_t> fixed(bound.device.gpu, 64), launched(bound.device.gpu, 64);
    const Kernel hidden = bound.kernel("hidden");
    const LaunchConfig config{.grid = {10, 4}, .workgroup = {4, 2}};
    const auto step = hidden.bind<std::uint32_t*, unsigned>().at(config);
    Stream other = bound.device.gpu.stream();
    for (Stream* stream : {&bound.device.stream, &other}) {
        hidden.launch(*stream, config, launched.data(), 64u);
        step(*stream, fixed.data(), 64u);
        stream->synchronize(std::chrono::seconds(60));
        bool same = true;
        for (std::size_t i = 0; i < 64; ++i) same = same && fixed[i] == launched[i];
        CHECK(same);
        const std::uint64_t queue = fixed[50] | std::uint64_t{fixed[51]} << 32;
        CHECK(queue == reinterpret_cast<std::uint64_t>(stream->queue().native()));
    }
}

TEST_CASE("a fixed launch keeps its LDS layout", "[bound_kernel][device]") {
    NEEDS_BOUND();
    Shared<std::uint32_t> out(bound.device.gpu, 2);
    const auto fixed = [&] {
        const auto layout = shared::lds_layout(shared::lds_array<char>(5), shared::lds_array<double>(2));
        return bound.kernel("two_arrays").bind<std::uint32_t*>().at({.grid = 1, .workgroup = 1, .lds = layout});
    }();
    CHECK(fixed.spec().group_segment_bytes == 24);
    fixed(bound.device.stream, out.data());
    bound.wait();
    CHECK(out[0] == 0);
    CHECK(out[1] == 8);
}

TEST_CASE("a kernel without arguments can be bound", "[bound_kernel][device]") {
    NEEDS_BOUND();
    bound.kernel("no_arguments").bind().at({.grid = 64, .workgroup = 64})(bound.device.stream);
    bound.kernel("no_arguments").bind<>().launch(bound.device.stream, {.grid = 64, .workgroup = 64});
    bound.wait();
    CHECK(bound.device.stream.progress().submitted == 2);
}

TEST_CASE("binding refuses the types that launching refuses, with the same words", "[bound_kernel][device]") {
    NEEDS_BOUND();
    Shared<float> x(bound.device.gpu, 4);
    float* const p = x.data();
    CHECK_THAT(refusal(bound, "saxpy", p, p, 2.0f), Contains("takes 4 arguments, given 3"));
    CHECK_THAT(refusal(bound, "saxpy", p, p, 2.0f, 4u, 5), Contains("takes 4 arguments, given 5"));
    CHECK_THAT(refusal(bound, "saxpy", p, p, 2.0, 4u), Contains("argument 3 of 4") && Contains("of 8 bytes"));
    CHECK_THAT(refusal(bound, "saxpy", p, p, 2, 4u), Contains("argument 3 of 4") && Contains("an integer"));
    CHECK_THAT(refusal(bound, "saxpy", p, 2.0f, 2.0f, 4u), Contains("argument 2 of 4"));
    CHECK_THAT(refusal(bound, "saxpy", p, p, 2.0f, p), Contains("argument 4 of 4") && Contains("a pointer"));
    CHECK_THAT(refusal(bound, "no_arguments", 1), Contains("takes 0 arguments, given 1"));
}

TEST_CASE("fixing refuses the sizes that launching refuses, with the same words", "[bound_kernel][device]") {
    NEEDS_BOUND();
    const auto limit = static_cast<std::uint32_t>(bound.device.gpu.agent().group_segment_max_bytes());
    const auto most = bound.device.gpu.agent().workgroup_max_workitems();
    struct Row {
        const char* kernel;
        LaunchConfig config;
        const char* reason;
    };
    const Row rows[] = {
        {"shape", {.grid = 0, .workgroup = 64}, "is empty"},
        {"shape", {.grid = 64, .workgroup = 0}, "is empty"},
        {"shape", {.grid = 4096, .workgroup = most + 1}, "limit"},
        {"shape", {.grid = 4096, .workgroup = 257}, "compiled for up to 256"},
        {"at_most", {.grid = 4096, .workgroup = 129}, "compiled for up to 128"},
        {"exactly", {.grid = 128, .workgroup = 128}, "requires 64x2x1"},
        {"shape", {.grid = 64, .workgroup = 64, .lds = limit + 1}, "per work-group"},
    };
    Shared<std::uint32_t> out(bound.device.gpu, 4);
    for (const Row& row : rows) {
        CAPTURE(row.kernel, row.reason);
        const auto kernel = bound.kernel(row.kernel).bind<std::uint32_t*>();
        const std::string by_at = message_of<InvalidArgument>([&] { kernel.at(row.config); });
        CHECK_THAT(by_at, Contains(row.reason));
        CHECK(message_of<InvalidArgument>([&] { kernel.launch(bound.device.stream, row.config, out.data()); }) ==
              by_at);
        CHECK(message_of<InvalidArgument>(
                  [&] { bound.kernel(row.kernel).launch(bound.device.stream, row.config, out.data()); }) == by_at);
    }
    const auto reverse = bound.kernel("reverse").bind<std::uint32_t*, unsigned>();
    CHECK_THAT(message_of<InvalidArgument>([&] { reverse.at({.grid = 4, .workgroup = 4}); }),
               Contains("dynamic LDS pointer"));
    CHECK(bound.device.stream.progress().submitted == 0);
}

TEST_CASE("a bound array is held until the kernel that uses it is complete", "[bound_kernel][device]") {
    NEEDS_BOUND();
    const auto memory = std::make_shared<Shared<std::uint32_t>>(bound.device.gpu, std::size_t{4});
    const auto step = bound.kernel("exactly").bind<DevicePointer>().at({.grid = {64, 2}, .workgroup = {64, 2}});
    step(bound.device.stream, DevicePointer{memory->data(), memory});
    bound.wait();
    CHECK((*memory)[0] == 1);
    bound.kernel("no_arguments").launch(bound.device.stream, {.grid = 1, .workgroup = 1});
    bound.wait();
    CHECK(memory.use_count() == 1);
}

TEST_CASE("a bound kernel refuses a stream of another device", "[bound_kernel][device]") {
    NEEDS_BOUND();
    const auto& gpus = bound.device.driver.gpus();
    if (gpus.size() < 2) SKIP_BECAUSE("there is one GPU");
    Stream other(gpus[1]);
    const auto kernel = bound.kernel("no_arguments").bind<>();
    CHECK_THROWS_AS(kernel.launch(other, {.grid = 1, .workgroup = 1}), InvalidArgument);
    CHECK_THROWS_AS(kernel.at({.grid = 1, .workgroup = 1})(other), InvalidArgument);
}
