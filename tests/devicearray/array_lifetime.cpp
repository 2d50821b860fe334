// Arrays under adverse conditions: short memory, waiting threads, captured streams, processes that fork.
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <thread>

#include "hsadrv/graph.hpp"
#include "tests/devicearray/array_fixture.hpp"

using namespace hsadrv;
using namespace std::chrono_literals;
using array_test::counting;
using test_support::Contains;
using test_support::Device;
using test_support::Gate;

TEST_CASE("memory of destroyed arrays is reused, even on a full device", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    const std::size_t pool = device_pool(device.gpu).size_bytes();
    const auto part = static_cast<std::int64_t>(pool / 3);
    const HostNDArray source = pinned_array({1 << 10}, dtypes::uint8);
    for (int i = 0; i < 6; ++i) {
        DeviceNDArray array = device_array({part}, dtypes::uint8, Order::C, device.stream);
        array.slice({Slice{0, 1 << 10}}).copy_to_device(source, device.stream);
    }
    // Other sizes, and memory that does not come from the pool.
    CHECK(device_array({part / 2 * 5}, dtypes::uint8, Order::C, device.stream).size() > 0);
    CHECK(device_array({part / 2 * 5}, dtypes::uint8, Order::C, device.gpu).size() > 0);
    CHECK(array_memory(device.gpu).used_bytes == 0);
}

TEST_CASE("pinned memory of the pool is released, too", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray array = device_array<float>(1 << 20, device.stream);
    static_cast<void>(array.copy_to_host(device.stream));
    device.stream.synchronize();
    CHECK(array_memory(device.gpu).held_host_bytes >= 4u << 20);
    CHECK(array_memory(device.gpu).used_host_bytes == 0);
    CHECK(release_cached(device.gpu) >= 4u << 20);
    CHECK(array_memory(device.gpu).held_host_bytes == 0);
}

TEST_CASE("a deadline holds while another thread waits on the same stream", "[device][threads]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray source = to_device(counting(1000), device.stream);
    HostNDArray pinned = pinned_array({1000}, dtypes::float32);
    pinned.fill(1.0f);
    std::weak_ptr<const void> memory;
    {
        DeviceNDArray target = device_array<float>(1000, device.stream);
        memory = target.keep_alive();
        std::vector<float> out(1000);
        const Gate gate(device.stream);
        std::thread waits([&] { source.copy_to_host(out, device.stream); });  // holds the stream's mutex
        std::this_thread::sleep_for(50ms);
        const auto begin = std::chrono::steady_clock::now();
        CHECK_THROWS_AS(target.copy_to_device(pinned, device.stream, 100ms), Timeout);
        CHECK_THROWS_AS(target.fill(1.0f, device.stream, 100ms), Timeout);
        CHECK(std::chrono::steady_clock::now() - begin < 20s);
        gate.open();
        waits.join();
        CHECK(out == counting(1000));
    }
    device.stream.synchronize();
    CHECK(device.stream.query());
    CHECK(memory.expired());
}

TEST_CASE("replayable transfers are captured with their resources; others are refused", "[device][capture]") {
    NEEDS_DEVICE();
    Device device;
    Stream& stream = device.stream;
    HostNDArray source = pinned_array({30, 20}, dtypes::float32), result = pinned_array({30, 20}, dtypes::float32);
    DeviceNDArray array = device_array<float>({20, 30}, stream);
    std::vector<float> pageable(600, 5.0f);
    array.fill(0.0f, stream);
    stream.synchronize();

    stream.begin_capture();
    array.copy_to_device(source.transpose(), stream);
    array.copy_to_device(array.slice({Slice{{}, {}, -1}}), stream);  // through a temporary
    array.transpose().copy_to_host(result, stream);
    const auto refused = [&](const std::function<void()>& call, const char* why) {
        CHECK_THROWS_AS(call(), InvalidArgument);
        CHECK_THROWS_WITH(call(), Contains("captured") && Contains(why));
    };
    refused([&] { array.copy_to_device(host_view(pageable, {20, 30}), stream); }, "pageable");
    refused([&] { array.copy_to_host(host_view(pageable, {20, 30}), stream); }, "pageable");
    refused([&] { array.set({0, 0}, 1.0f, stream); }, "pageable");
    refused([&] { array.transpose().slice({Slice{0, {}, 2}}).fill(1.0f, stream); }, "pageable");
    refused([&] { array.get<float>({0, 0}, stream); }, "waits");
    refused([&] { array.copy_to_host<float>(stream); }, "waits");
    Graph graph = stream.end_capture();

    // Later allocations do not get the graph's temporary.
    DeviceNDArray other = device_array<float>({20, 30}, stream);
    other.fill(-1.0f, stream);
    for (const float base : {100.0f, 2000.0f}) {
        for (std::int64_t i = 0; i < 30; ++i) {
            for (std::int64_t j = 0; j < 20; ++j) source.set({i, j}, base + static_cast<float>(20 * i + j));
        }
        graph.launch(stream);
        stream.synchronize();
        CHECK(result.get<float>({7, 0}) == base + 20 * 7 + 19);
        CHECK(result.get<float>({29, 19}) == base + 20 * 29);
    }
    CHECK(other.copy_to_host<float>(stream) == std::vector<float>(600, -1.0f));
    CHECK(pageable == std::vector<float>(600, 5.0f));
}

TEST_CASE("both addresses of memory count as the same memory", "[device][host]") {
    NEEDS_DEVICE();
    Device device;
    std::vector<float> host = counting(2000);
    auto [mapped_host] = mapped(host);
    DeviceNDArray array = mapped_host.device();
    array.copy_to_device(host, device.stream);  // the same array
    array.slice({Slice{1, {}}})
        .copy_to_device(HostView{host.data(), dtypes::float32, Layout::contiguous({1999}, 4)}, device.stream);
    device.stream.synchronize();
    CHECK(host[0] == 0);
    CHECK(host[1999] == 1998);
}

TEST_CASE("arrays in a forked child are refused as the parent's", "[device][process]") {
    NEEDS_DEVICE();
    Device device;
    DeviceNDArray array = to_device(counting(10), device.stream);
    std::vector<float> out(10);
    device.stream.synchronize();
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const std::function<void()> calls[] = {
            [&] { array.copy_to_host(out, device.stream); },
            [&] { array.slice({Slice{{}, {}, -1}}).copy_to_host(out, device.stream); },
            [&] { array.copy_to_device(out, device.stream); },
            [&] { array.fill(1.0f, device.stream); },
            [&] { array.get<float>({1}, device.stream); },
            [&] { device_array<float>(4, device.stream); },
            [&] { array_memory(device.gpu); },
            [&] { release_cached(device.gpu); },
        };
        int wrong = 0;
        for (const auto& call : calls) {
            ++wrong;
            try {
                call();
            } catch (const ForkedChild&) {
                --wrong;
            }
        }
        ::_exit(wrong);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(array.copy_to_host<float>(device.stream) == counting(10));
}

TEST_CASE("arrays end with their runtime, and work in the next one", "[device][process]") {
    NEEDS_DEVICE();
    for (int i = 0; i < 3; ++i) {
        std::optional<DeviceNDArray> kept;
        {
            Device device;
            kept = to_device(counting(100), device.stream).slice({Slice{{}, {}, -1}});
            CHECK(kept->get<float>({0}, device.stream) == 99);
        }
        CHECK(kept->size() == 100);
    }
}
