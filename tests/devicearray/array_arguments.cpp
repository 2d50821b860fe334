// Arrays as kernel arguments: the device of their memory, and when a plain pointer suffices.
#include "hsadrv/executable.hpp"
#include "hsadrv/graph.hpp"
#include "tests/devicearray/array_fixture.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using test_support::Contains;
using test_support::Device;

namespace {

using Words = std::vector<std::uint32_t>;
constexpr std::uint32_t count = 64;

/// The second GPU, and a kernel of it.
struct Second {
    Context gpu;
    Stream stream = gpu.stream();
    Executable code = Executable::load(gpu, test_support::test_file("stream.hsaco"));
    Kernel kernel = code.kernel("scale_add");
    LaunchConfig config{.grid = count, .workgroup = count};

    explicit Second(const Driver& driver) : gpu(driver.gpus()[1]) {}
};

}  // namespace

TEST_CASE("kernels refuse an array of a GPU that theirs cannot reach, naming both", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    if (device.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    Second second(device.driver);
    const DeviceNDArray here = to_device(Words(count, 3), device.stream);
    const DeviceNDArray there = to_device(Words(count, 3), second.stream);
    device.stream.synchronize();
    const auto refused = [&](const auto& launch) {
        CHECK_THROWS_AS(launch(), InvalidArgument);
        CHECK_THROWS_WITH(launch(),
                          Contains("'scale_add'") && Contains("gpu0") && Contains("gpu1") && Contains("reach"));
    };
    refused([&] { second.kernel.launch(second.stream, second.config, here, 2u, 1u, count); });

    second.stream.begin_capture();
    second.kernel.launch(second.stream, second.config, there, 2u, 1u, count);
    Graph graph = second.stream.end_capture();
    refused([&] { graph.update(0, second.kernel, second.config, here, 2u, 1u, count); });
    graph.launch(second.stream);
    CHECK(there.copy_to_host<std::uint32_t>(second.stream) == Words(count, 7));
    CHECK(here.copy_to_host<std::uint32_t>(device.stream) == Words(count, 3));
}

TEST_CASE("kernels refuse an array whose elements are of another type than their metadata say", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    const Kernel kernel = Executable::load(device.gpu, test_support::test_file("stream.hsaco")).kernel("scale_add");
    const LaunchConfig config{.grid = count, .workgroup = count};
    const DeviceNDArray words = to_device(Words(count, 3), device.stream);
    const DeviceNDArray doubles = to_device(std::vector<double>(count, 3.0), device.stream);
    const MappedNDArray mapped = mapped_array({count}, dtypes::float32);
    const auto refused = [&](const auto& launch, const char* given) {
        CHECK_THROWS_AS(launch(), InvalidArgument);
        CHECK_THROWS_WITH(launch(), Contains("argument 1 of 4 (uint*)") && Contains(given));
    };
    const char *const wide = "a floating-point number of 8 bytes", *const narrow = "a floating-point number of 4 bytes";
    refused([&] { kernel.launch(device.stream, config, doubles, 2u, 1u, count); }, wide);
    refused([&] { kernel.launch(device.stream, config, mapped, 2u, 1u, count); }, narrow);
    const unsigned two = 2, one = 1;
    const LaunchArgument described[] = {LaunchArgument::of(doubles), LaunchArgument::of(two), LaunchArgument::of(one),
                                        LaunchArgument::of(count)};
    refused([&] { kernel.launch(device.stream, config, described); }, wide);
    kernel.launch(device.stream, config, words, 2u, 1u, count);
    CHECK(words.copy_to_host<std::uint32_t>(device.stream) == Words(count, 7));
}

TEST_CASE("kernels also refuse spans and mapped arrays that their GPU cannot reach", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    if (device.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    Context second{device.driver.gpus()[1]};
    Stream stream = second.stream();
    const Executable code = Executable::load(second, test_support::test_file("nd_span.hsaco"));
    const DeviceNDArray here = device_array<float>({8, 8}, device.stream);
    const LaunchConfig config{.grid = {8, 8}, .workgroup = {8, 8}};
    CHECK_THROWS_WITH(code.kernel("mark_places").launch(stream, config, nd_span<float, 2>(here)),
                      Contains("gpu0") && Contains("gpu1"));
    const Executable more = Executable::load(second, test_support::test_file("stream.hsaco"));
    const MappedNDArray mine = mapped_array({count}, dtypes::uint32, Order::C, {}, device.gpu);
    const MappedNDArray portable = mapped_array({count}, dtypes::uint32, Order::C, {.portable = true}, device.gpu);
    const auto launch = [&](const MappedNDArray& array) {
        more.kernel("scale_add").launch(stream, {.grid = count, .workgroup = count}, array, 0u, 4u, count);
        stream.synchronize();
    };
    CHECK_THROWS_WITH(launch(mine), Contains("gpu0") && Contains("gpu1"));
    launch(portable);
    CHECK(portable.get<std::uint32_t>({count - 1}) == 4);
}

TEST_CASE("a GPU with access takes the other's arrays as arguments", "[device]") {
    NEEDS_DEVICE();
    Device device;
    if (device.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    Second second(device.driver);
    if (device_pool(device.gpu).access(second.gpu) == PoolAccess::never)
        SKIP_BECAUSE("the GPUs do not reach each other");
    const DeviceNDArray here = to_device(Words(count, 3), device.stream);
    device.stream.synchronize();
    const AgentRef gpu = second.gpu;
    allow_access(pointer_info(here.data()).agent_base, std::span(&gpu, 1));
    second.kernel.launch(second.stream, second.config, here, 2u, 1u, count);
    second.stream.synchronize();
    CHECK(here.copy_to_host<std::uint32_t>(device.stream) == Words(count, 7));
}

TEST_CASE("a non-contiguous array is not passed as a plain pointer; a span has its strides", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    const Executable code = Executable::load(device.gpu, test_support::test_file("stream.hsaco"));
    const Kernel kernel = code.kernel("scale_add");
    DeviceNDArray array = to_device(Words(count, 3), device.stream).reshape({8, 8});
    const auto launch = [&](const auto& argument) {
        kernel.launch(device.stream, {.grid = count, .workgroup = count}, argument, 1u, 1u, count);
    };
    const DeviceNDArray rows = array.slice({Slice{0, {}, 2}}), reversed = array.slice({Slice{{}, {}, -1}});
    for (const DeviceNDArray& view : {rows, reversed}) {
        CHECK_THROWS_AS(launch(view), InvalidArgument);
        CHECK_THROWS_WITH(launch(view), Contains("nd_span<uint32_t, 2>") && Contains("not contiguous") &&
                                            Contains(view.shape().to_string()));
    }
    const MappedNDArray mapped = mapped_array({count}, dtypes::uint32);
    CHECK_THROWS_WITH(launch(mapped.slice({Slice{0, {}, 2}})), Contains("nd_span<uint32_t, 1>"));
    launch(array);
    launch(array.transpose());  // Fortran order is contiguous
    kernel.launch(device.stream, {.grid = 64, .workgroup = 64}, rows.slice({Slice{0, 0}}), 1u, 1u, 0u);
    CHECK(array.copy_to_host<std::uint32_t>(device.stream) == Words(count, 5));
}

TEST_CASE("without a stream an array uses its own device, not the current context's", "[device]") {
    NEEDS_DEVICE();
    Device device;
    if (device.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    DeviceNDArray here = to_device(Words(count, 3), device.stream);
    device.stream.synchronize();
    const Context second{device.driver.gpus()[1]};
    CHECK(here.copy_to_host<std::uint32_t>() == Words(count, 3));
    here.fill(4u);
    CHECK(here.get<std::uint32_t>({1}) == 4);
    const DeviceNDArray like = device_array_like(here);
    CHECK(like.agent() == here.agent());
    CHECK(to_device(Words(2, 1)).agent() == second.agent());
    // A third GPU, without a Context on this thread.
    const DeviceNDArray third = device_array({count}, dtypes::uint32, Order::C, device.driver.gpus().back());
    DeviceNDArray(third).fill(9u);
    CHECK(third.copy_to_host<std::uint32_t>() == Words(count, 9));
}
