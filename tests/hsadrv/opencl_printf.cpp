// OpenCL C's printf: its records are printed when the kernel is complete, in the order of the stream.
#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "hsadrv/error.hpp"
#include "hsadrv/graph.hpp"
#include "hsadrv/graph_builder.hpp"
#include "tests/hsadrv/kernel_texts.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;

Executable load(Context& gpu, const std::string& variant) {
    return Executable::load(
        gpu, test_file(variant.empty() ? "opencl_printf.hsaco"
                                       : "opencl_printf_" + variant + "." + gpu.agent().name() + ".hsaco"));
}

}  // namespace

TEST_CASE("each work-item's call is one text", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::string variant = GENERATE("", "O0", "v4");
    CAPTURE(variant);
    const Executable code = load(device.gpu, variant);
    constexpr std::uint32_t count = 1000;
    Shared<int> results(device.gpu, count, 1);
    KernelTexts output;
    code.kernel("hello").launch(device.stream, {.grid = count, .workgroup = 256}, results.data());
    device.stream.synchronize(patience);

    const Texts texts = output.texts();
    CHECK(texts.size() == count);
    const std::set<std::string> got(texts.begin(), texts.end());
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < count; ++i)
        wrong += !got.contains("work-item " + std::to_string(i) + " of 1000\n") || results[i] != 0;
    CHECK(wrong == 0);
    CHECK(output.errors().empty());
}

TEST_CASE("conversions are those of OpenCL C", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::string variant = GENERATE("", "O0", "v4");
    CAPTURE(variant);
    const Executable code = load(device.gpu, variant);
    Shared<float> x(device.gpu, 1, -3.25f);
    KernelTexts output;
    code.kernel("conversions").launch(device.stream, {.grid = 1, .workgroup = 1}, x.data());
    device.stream.synchronize(patience);
    char address[32];
    std::snprintf(address, sizeof address, "%p\n", static_cast<void*>(x.data()));
    CHECK(output.texts() == Texts{"-1|    7|7    |00007|+7\n", "4000000000 ff 010 1099511627776 ffffffffffffffff\n",
                                  "-2 -3 c\n", "-3.250000 -3.250 -3.250000e+00 -3.25|     -3.25|\n",
                                  "text|   right|: longer than eight %\n", address, "no conversion\n",
                                  "1,-2,3,-4 5,6 7,8,9\n", "1,-2,3,-4 0x1,0xfe,0x3,0xfc 1,-2,3,-4 1099511627776,-1\n",
                                  "-3.25,1.00,2.50,-3.00\n"});
}

TEST_CASE("texts are in the order of the stream's work", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel two = load(device.gpu, "").kernel("two");
    Shared<int> value(device.gpu, 1);
    KernelTexts output;
    Texts wanted;
    for (int i = 0; i < 20; ++i) {
        device.stream.call([&value, i] { value[0] = i; });
        if (i % 2)
            two.launch(device.stream, {.grid = 256, .workgroup = 64}, value.data(), i);
        else
            two.launch(device.stream, {.grid = 256, .workgroup = 64},
                       std::array{LaunchArgument::of(value.data()), LaunchArgument::of(i)});
        wanted.push_back(std::to_string(i) + " then " + std::to_string(i) + "\n");
    }
    device.stream.synchronize(patience);
    CHECK(output.texts() == wanted);
}

TEST_CASE("threads launch kernels of two code objects on one stream", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel much = load(device.gpu, "").kernel("much"), other = load(device.gpu, "other").kernel("other");
    Shared<int> lost(device.gpu, 1);
    KernelTexts output;
    constexpr int launches = 300;
    std::thread second([&] {
        for (int i = 0; i < launches; ++i) other.launch(device.stream, {.grid = 1, .workgroup = 1}, 4);
    });
    for (int i = 0; i < launches; ++i) much.launch(device.stream, {.grid = 1, .workgroup = 1}, lost.data(), 1);
    second.join();
    device.stream.synchronize(patience);
    Texts texts = output.texts();
    CHECK(std::count(texts.begin(), texts.end(), "0\n") == launches);
    CHECK(std::count(texts.begin(), texts.end(), "other 4 4\n") == launches);
    CHECK(texts.size() == 2 * launches);
    CHECK(output.errors().empty());
}

TEST_CASE("two streams print from two buffers", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel much = load(device.gpu, "").kernel("much");
    Stream other = device.gpu.stream();
    Shared<int> lost(device.gpu, 2, -1);
    KernelTexts output;
    much.launch(device.stream, {.grid = 1, .workgroup = 1}, &lost[0], 3);
    much.launch(other, {.grid = 1, .workgroup = 1}, &lost[1], 3);
    device.stream.synchronize(patience);
    other.synchronize(patience);
    Texts texts = output.texts();
    std::sort(texts.begin(), texts.end());
    CHECK(texts == Texts{"0\n", "0\n", "1\n", "1\n", "2\n", "2\n"});
    CHECK(lost[0] == 0);
    CHECK(lost[1] == 0);
}

TEST_CASE("what finds no room is not printed, and printf says so", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel much = load(device.gpu, "").kernel("much");
    constexpr int records = (1 << 20) / 8;
    Shared<int> lost(device.gpu, 1, -1);
    KernelTexts output;
    much.launch(device.stream, {.grid = 1, .workgroup = 1}, lost.data(), records + 10);
    device.stream.synchronize(patience);
    CHECK(lost[0] == 10);
    const Texts texts = output.texts();
    REQUIRE(texts.size() == records);
    CHECK(texts.back() == std::to_string(records - 1) + "\n");

    much.launch(device.stream, {.grid = 1, .workgroup = 1}, lost.data(), 2);  // the buffer is empty again
    device.stream.synchronize(patience);
    CHECK(lost[0] == 0);
    CHECK(output.texts().size() == records + 2);
}

TEST_CASE("a captured graph prints at each replay", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel two = load(device.gpu, "").kernel("two");
    Shared<int> value(device.gpu, 1, 5);
    KernelTexts output;
    device.stream.begin_capture();
    two.launch(device.stream, {.grid = 1, .workgroup = 1}, value.data(), 6);
    Graph graph = device.stream.end_capture();
    CHECK(output.texts().empty());
    for (int i = 0; i < 3; ++i) graph.launch(device.stream);
    device.stream.synchronize(patience);
    CHECK(output.texts() == Texts{"5 then 6\n", "5 then 6\n", "5 then 6\n"});
}

TEST_CASE("branches of a graph print, each from its own buffer", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel two = load(device.gpu, "").kernel("two");
    Shared<int> value(device.gpu, 1, 5);
    KernelTexts output;
    GraphBuilder build(device.gpu.agent());
    const LaunchConfig config{.grid = 1, .workgroup = 1};
    const auto left = build.kernel({}, two, config, value.data(), 1);
    const auto right = build.kernel({}, two, config, value.data(), 2);
    build.kernel({left, right}, two, config, value.data(), 3);
    Graph graph = build.finish();
    graph.launch(device.stream);
    device.stream.synchronize(patience);
    Texts texts = output.texts();
    REQUIRE(texts.size() == 3);
    CHECK(texts.back() == "5 then 3\n");
    std::sort(texts.begin(), texts.end());
    CHECK(texts == Texts{"5 then 1\n", "5 then 2\n", "5 then 3\n"});
}

TEST_CASE("a cooperative kernel prints", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel meet = load(device.gpu, "").kernel("meet");
    KernelTexts output;
    CHECK_THROWS_WITH(meet.launch(device.stream, {.grid = 256, .workgroup = 64}), Contains(".cooperative = true"));
    meet.launch(device.stream, {.grid = 256, .workgroup = 64, .cooperative = true});
    device.stream.synchronize(patience);
    CHECK(output.texts() == Texts{"before\n", "before\n", "before\n", "before\n", "after\n"});
}

TEST_CASE("launches whose buffer would not be printed are refused", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel two = load(device.gpu, "").kernel("two");
    const LaunchConfig config{.grid = 1, .workgroup = 1};
    const std::string how = "only Kernel::launch on a stream";
    CHECK_THROWS_WITH(two.plan().shape(config), Contains("OpenCL C's printf") && Contains(how));
    CHECK_NOTHROW(device.stream.synchronize(patience));
}

TEST_CASE("a function that throws fails the stream whose kernel printed", "[opencl_printf][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel two = load(device.gpu, "").kernel("two");
    Shared<int> value(device.gpu, 1);
    Stream other = device.gpu.stream();
    on_kernel_output([](AgentRef, KernelOutput, std::string_view) { throw std::runtime_error("no paper"); });
    two.launch(device.stream, {.grid = 1, .workgroup = 1}, value.data(), 1);
    CHECK_THROWS_WITH(device.stream.synchronize(patience), Contains("no paper"));
    KernelTexts output;
    two.launch(other, {.grid = 1, .workgroup = 1}, value.data(), 1);
    other.synchronize(patience);
    CHECK(output.texts() == Texts{"0 then 1\n"});
}
