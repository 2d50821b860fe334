// What kernels ask of the host while they run: printing and assertions.
#include "hsadrv/kernel_output.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "hsadrv/error.hpp"
#include "hsadrv/graph_builder.hpp"
#include "tests/hsadrv/kernel_texts.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

std::string variant_file(AgentRef gpu, const std::string& variant) {
    return variant.empty() ? test_file("services.hsaco")
                           : test_file("services_" + variant + "." + gpu.name() + ".hsaco");
}

std::string c_text(const char* format, auto... values) {
    char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    std::snprintf(text, sizeof text, format, values...);
#pragma GCC diagnostic pop
    return text;
}

}  // namespace

TEST_CASE("each work-item prints its own text, in the order of lanes", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::string variant = GENERATE("", "O0", "v4");
    CAPTURE(variant);
    const Executable code = Executable::load(device.gpu, variant_file(device.gpu.agent(), variant));
    const Kernel kernel = code.kernel("hello");
    constexpr std::uint32_t count = 1000;
    Shared<int> results(device.gpu, count);
    KernelTexts output;
    kernel.launch(device.stream, {.grid = count, .workgroup = 256}, results.data());
    device.stream.synchronize(patience);

    const auto texts = output.texts();
    REQUIRE(texts.size() == count);
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < count; ++i) places.emplace(texts[i], i);
    REQUIRE(places.size() == count);
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::string wanted = c_text("work-item %u of %u\n", i, count);
        const auto at = places.find(wanted);
        wrong += at == places.end() || results[i] != int(wanted.size());
        if (i % kernel.metadata().wavefront_size != 0 && at != places.end())
            wrong += places.at(c_text("work-item %u of %u\n", i - 1, count)) > at->second;
    }
    CHECK(wrong == 0);
}

TEST_CASE("conversions are those of C", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::string variant = GENERATE("", "O0");
    Shared<double> x(device.gpu, 2);
    x[0] = -3.14159;
    x[1] = 0.5;
    KernelTexts output;
    const Executable code = Executable::load(device.gpu, variant_file(device.gpu.agent(), variant));
    code.kernel("conversions").launch(device.stream, {.grid = 1, .workgroup = 1}, x.data());
    device.stream.synchronize(patience);
    const double y = x[0];
    const std::vector<std::string> wanted = {
        "-1 42     7|7    |00007 +7\n",
        c_text("%u %x %X %#o %lu %llx\n", 4000000000u, 255u, 255u, 8u, 1ul << 40, ~0ull),
        "-2 -3 -4\n",
        c_text("%f %.3f %e %g %a %10.2f|%-10.2f|\n", y, y, y, y, y, y, y),
        "0.5 ok text|     right|left      |cu\n",
        c_text("%*d|%-*d|%.*f %%\n", 6, 1, 6, 2, 2, y),
        c_text("%p\n", static_cast<const void*>(x.data())),
        "no conversion\n",
    };
    CHECK(output.texts() == wanted);
    CHECK(output.errors() == std::vector<std::string>{"to standard error\n"});
}

TEST_CASE("texts of different lengths from a part of a wave arrive whole", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    Shared<char> letters(device.gpu, 201);
    for (int i = 0; i < 200; ++i) letters[i] = static_cast<char>('a' + i % 26);
    KernelTexts output;
    const Executable code = Executable::load(device.gpu, test_file("services.hsaco"));
    code.kernel("lengths").launch(device.stream, {.grid = 200, .workgroup = 200},
                                  static_cast<const char*>(letters.data()));
    device.stream.synchronize(patience);
    const auto texts = output.texts();
    const std::set<std::string> got(texts.begin(), texts.end());
    std::set<std::string> wanted;
    for (std::uint32_t i = 1; i < 200; i += 2)
        wanted.insert(std::to_string(i) + ":" + (letters.data() + 200 - i) + "\n");
    CHECK(texts.size() == 100);
    CHECK(got == wanted);
}

TEST_CASE("a failed assertion fails its stream alone, with file and line", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::string variant = GENERATE("", "O0", "v4");
    const bool profiled = GENERATE(false, true);
    CAPTURE(variant, profiled);
    const Executable code = Executable::load(device.gpu, variant_file(device.gpu.agent(), variant));
    const Kernel kernel = code.kernel("all_positive");
    constexpr std::uint32_t count = 1024;
    Shared<int> values(device.gpu, count, 1), good(device.gpu, count, 1);
    Shared<std::uint32_t> reached(device.gpu, count), others(device.gpu, count);
    values[300] = 0;  // the second wave of the second work-group
    values[301] = -5;
    std::vector<Stream> streams;  // more than there are hardware queues
    for (int i = 0; i < 20; ++i) streams.push_back(device.gpu.stream());
    Stream failing = device.gpu.stream({.profile = profiled});
    kernel.launch(failing, {.grid = count, .workgroup = 256}, static_cast<const int*>(values.data()), reached.data());
    for (Stream& stream : streams)
        kernel.launch(stream, {.grid = count, .workgroup = 256}, static_cast<const int*>(good.data()), others.data());
    std::optional<KernelAssertion> error;
    try {
        failing.synchronize(patience);
    } catch (const KernelAssertion& thrown) {
        error = thrown;
    }
    REQUIRE(error);
    CHECK(error->file().ends_with("services.cpp"));
    CHECK(error->line() == 35);
    CHECK_THAT(error->what(), Contains(":35: assertion failed: values[i] > 0; in kernel all_positive, "
                                       "work-group (1, 0, 0), work-item (44, 0, 0)"));
    CHECK(failing.failed());
    CHECK_THROWS_AS(failing.synchronize(patience), KernelAssertion);  // sticky
    for (Stream& stream : streams) CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(others[300] == 1);

    // The failing wave ended, its work-group's other waves passed the barrier.
    std::size_t missing = 0;
    for (std::uint32_t i = 0; i < count; ++i) missing += reached[i] == 0;
    CHECK(missing == kernel.metadata().wavefront_size);
    CHECK(reached[300] == 0);
}

TEST_CASE("an assertion of a packet outside of streams is printed", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("services.hsaco"));
    const Kernel kernel = code.kernel("all_positive");
    Shared<int> values(device.gpu, 32);
    Shared<std::uint32_t> reached(device.gpu, 32);
    Allocation kernarg = Allocation::from_pool(host_pool(HostMemory::kernarg), kernel.plan().kernarg_bytes());
    const LaunchConfig config{.grid = 32, .workgroup = 32};
    const LaunchShape shape = kernel.plan().shape(config);
    kernel.plan().fill_implicit(kernarg.as<std::byte>(), shape, {});
    void* const arguments[] = {values.data(), reached.data()};
    std::memcpy(kernarg.data(), arguments, sizeof arguments);
    Queue queue = Queue::create(device.gpu);
    const Signal done = Signal::create(1);
    KernelTexts output;
    queue.ref().submit(hsadrv::detail::kernel_dispatch(kernel.plan().dispatch(kernel.kernel_object(), shape),
                                                       kernarg.data(), done.native()));
    done.wait(Condition::equal, 0, patience);
    REQUIRE(output.errors().size() == 1);
    CHECK_THAT(output.errors()[0], Contains("assertion failed: values[i] > 0"));
}

TEST_CASE("a text that cannot be handed over is -1 to the kernel", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("services.hsaco"));
    Shared<int> results(device.gpu, 3);
    on_kernel_output([](AgentRef, KernelOutput, std::string_view text) {
        if (text.starts_with("work-item 1 ")) throw std::runtime_error("full");
    });
    code.kernel("hello").launch(device.stream, {.grid = 3, .workgroup = 3}, results.data());
    device.stream.synchronize(patience);
    on_kernel_output(nullptr);
    CHECK(results[0] == int(std::strlen("work-item 0 of 3\n")));
    CHECK(results[1] == -1);
    CHECK(results[2] == results[0]);
}

TEST_CASE("a kernel that waits for the host delays its own stream alone", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("services.hsaco"));
    std::promise<void> released;
    const std::shared_future<void> release = released.get_future().share();
    on_kernel_output([release](AgentRef, KernelOutput, std::string_view) { release.wait(); });
    code.kernel("hello").launch(device.stream, {.grid = 1, .workgroup = 1}, static_cast<int*>(nullptr));
    CHECK_THROWS_AS(device.stream.synchronize(200ms), Timeout);
    {
        Shared<int> values(device.gpu, 64, 1);
        Shared<std::uint32_t> reached(device.gpu, 64);
        Stream other = device.gpu.stream();
        code.kernel("all_positive")
            .launch(other, {.grid = 64, .workgroup = 64}, static_cast<const int*>(values.data()), reached.data());
        other.synchronize(patience);
        CHECK(reached[63] == 1);
        Stream given_up = device.gpu.stream();
        code.kernel("hello").launch(given_up, {.grid = 1, .workgroup = 1}, static_cast<int*>(nullptr));
        CHECK_FALSE(given_up.close(300ms));  // its queue is stopped while its kernel waits
    }
    released.set_value();
    device.stream.synchronize(patience);
    on_kernel_output(nullptr);
}

TEST_CASE("kernels that end while they wait for the host leave its packets to others", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("services.hsaco"));
    const Kernel kernel = code.kernel("hello");
    const AgentRef gpu = device.gpu.agent();
    const std::uint32_t waves = gpu.compute_units() * gpu.max_waves_per_cu();
    for (int round = 0; round < 3; ++round) {
        std::promise<void> released;
        const std::shared_future<void> release = released.get_future().share();
        on_kernel_output([release](AgentRef, KernelOutput, std::string_view) { release.wait(); });
        Stream given_up = device.gpu.stream();
        kernel.launch(given_up, {.grid = waves * 64, .workgroup = 256}, static_cast<int*>(nullptr));
        CHECK_FALSE(given_up.close(500ms));
        released.set_value();
    }
    std::atomic<int> printed{0};
    on_kernel_output([&](AgentRef, KernelOutput, std::string_view text) { printed += text == "work-item 0 of 1\n"; });
    kernel.launch(device.stream, {.grid = 1, .workgroup = 1}, static_cast<int*>(nullptr));
    device.stream.synchronize(30s);
    on_kernel_output(nullptr);
    CHECK(printed == 1);
}

TEST_CASE("a stream that waits for one with a failed assertion fails, too", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("services.hsaco"));
    Shared<int> bad(device.gpu, 64, 0);
    Shared<std::uint32_t> reached(device.gpu, 64);
    for (int round = 0; round < 5; ++round) {
        std::promise<void> enqueued;
        Stream failing = device.gpu.stream(), waits = device.gpu.stream(), last = device.gpu.stream();
        failing.call([&] { enqueued.get_future().wait(); });
        code.kernel("all_positive")
            .launch(failing, {.grid = 64, .workgroup = 64}, static_cast<const int*>(bad.data()), reached.data());
        waits.wait(failing.record());
        last.wait(waits.record());
        enqueued.set_value();
        CHECK_THROWS_AS(last.synchronize(patience), KernelAssertion);
        CHECK_THROWS_AS(waits.synchronize(patience), KernelAssertion);
    }
}

TEST_CASE("a failed assertion in a branch of a graph fails the stream that replays it", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("services.hsaco"));
    const Kernel kernel = code.kernel("all_positive");
    Shared<int> good(device.gpu, 64, 1), bad(device.gpu, 64, 0);
    Shared<std::uint32_t> reached(device.gpu, 256);
    GraphBuilder build(device.gpu);
    const LaunchConfig config{.grid = 64, .workgroup = 64};
    for (int i = 0; i < 3; ++i)
        build.kernel({}, kernel, config, static_cast<const int*>(i == 1 ? bad.data() : good.data()),
                     reached.data() + 64 * i);
    const Graph graph = build.finish();
    Stream failing = device.gpu.stream(), other = device.gpu.stream();
    std::promise<void> enqueued;
    failing.call([&] { enqueued.get_future().wait(); });
    graph.launch(failing);
    enqueued.set_value();
    CHECK_THROWS_AS(failing.synchronize(patience), KernelAssertion);
    CHECK_THROWS_AS(graph.launch(failing), KernelAssertion);
    kernel.launch(other, config, static_cast<const int*>(good.data()), reached.data() + 192);
    other.synchronize(patience);
    CHECK(reached[192] == 1);
    CHECK(reached[64] == 0);
}

TEST_CASE("a request that hsadrv has no service for fails the stream", "[kernel_services][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("services.hsaco"));
    Shared<std::uint64_t> answer(device.gpu, 1, 7);
    code.kernel("ask_for").launch(device.stream, {.grid = 1, .workgroup = 1}, 4u, answer.data());
    CHECK_THROWS_WITH(device.stream.synchronize(patience), Contains("service 4"));
    // The stream fails when it is asked; the kernel goes on with the answer.
    CHECK(eventually([&] { return __atomic_load_n(&answer[0], __ATOMIC_ACQUIRE) == 0; }));
}

TEST_CASE("many streams and graphs print at once", "[kernel_services][device][stress]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("services.hsaco"));
    const Kernel kernel = code.kernel("hello");
    KernelTexts output;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            Stream stream(device.gpu.agent());
            for (int i = 0; i < 25; ++i)
                kernel.launch(stream, {.grid = 32, .workgroup = 32}, static_cast<int*>(nullptr));
            stream.synchronize(patience);
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(output.texts().size() == 4 * 25 * 32);
}

TEST_CASE("the output function needs a runtime", "[kernel_services]") {
    CHECK_THROWS_WITH(on_kernel_output(nullptr), Contains("construct a hsadrv::Driver"));
}
