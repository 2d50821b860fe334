// Host functions in a stream's order, callbacks, and awaiting a stream.
#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include "tests/hsadrv/stream_fixture.hpp"
#include "tests/hsadrv/task.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

Task doubled_on_the_host(Kernels& f, Stream& stream, const Words& data) {
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 0u, 3u, 1u);
    co_await stream.completion();
    data.set(2 * data.get());
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 1u, 1u, 1u);
    co_await stream.completion();
}

Task waits_for_failure(Stream& stream) { co_await stream.completion(); }

}  // namespace

TEST_CASE("a host function runs between the work submitted before and after it", "[stream][host]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words flag(1), data(1), copy(1);
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 0u, 3u, 1u);
    stream.call([&] { data.set(data.get() * 10); });
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 1u, 1u, 1u);
    stream.copy_async(copy.data(), data.data(), 4);
    stream.call([&] { copy.set(copy.get() + 100); });
    std::this_thread::sleep_for(20ms);
    CHECK(data.get() == 0);
    flag.set(1);
    stream.synchronize(patience);
    CHECK(data.get() == 31);
    CHECK(copy.get() == 131);
}

TEST_CASE("host functions of an idle stream run in order, once each", "[stream][host]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    std::vector<int> order;
    for (int i = 0; i < 100; ++i) stream.call([&order, i] { order.push_back(i); });
    stream.synchronize(patience);
    REQUIRE(order.size() == 100);
    for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
    CHECK_THROWS_AS(stream.call({}), InvalidArgument);
}

TEST_CASE("a host function that throws fails its stream; waits rethrow its exception", "[stream][host][error]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu), other(f.gpu);
    std::atomic<bool> later{false};
    stream.call([] { throw std::out_of_range("seven"); });
    CHECK_THROWS_WITH(stream.synchronize(patience), "seven");
    CHECK_THROWS_AS(stream.call([&] { later = true; }), std::out_of_range);
    CHECK_THROWS_AS(stream.synchronize(patience), std::out_of_range);
    CHECK_FALSE(later);
    other.call([&] { later = true; });
    other.synchronize(patience);
    CHECK(later);
}

TEST_CASE("host functions of a failed stream are not called; its callbacks are, with the failure",
          "[stream][host][error]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words flag(1);
    std::atomic<bool> called{false}, good{false};
    std::exception_ptr error;
    std::atomic<bool> told{false};
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    stream.on_complete([&](const std::exception_ptr& e) { good = !e; });
    break_queue(stream);
    stream.call([&] { called = true; });
    stream.on_complete([&](std::exception_ptr e) {
        error = std::move(e);
        told = true;
    });
    flag.set(1);
    REQUIRE(eventually([&] { return told.load(); }));
    CHECK(good);
    CHECK_FALSE(called);
    REQUIRE(error);
    CHECK_THROWS_AS(std::rethrow_exception(error), QueueError);
}

TEST_CASE("a callback runs when everything before it is complete, and delays no work", "[stream][host]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words flag(1), data(1);
    std::promise<void> release, told;
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    stream.on_complete([&told, released = release.get_future().share()](const std::exception_ptr&) {
        told.set_value();
        released.wait();  // a copy: the test may end before this thread wakes
    });
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 0u, 3u, 1u);
    auto called = told.get_future();
    CHECK(called.wait_for(20ms) == std::future_status::timeout);
    flag.set(1);
    stream.synchronize(patience);
    CHECK(data.get() == 3);
    CHECK(called.wait_for(patience) == std::future_status::ready);
    release.set_value();
    CHECK_THROWS_AS(stream.on_complete({}), InvalidArgument);
}

TEST_CASE("a stream is awaited by a coroutine", "[stream][host][await]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    Task task = doubled_on_the_host(f, stream, data);
    REQUIRE(task.done.wait_for(patience) == std::future_status::ready);
    CHECK_NOTHROW(task.done.get());
    CHECK(data.get() == 7);
}

TEST_CASE("awaiting a stream that fails throws its failure into the coroutine", "[stream][host][await][error]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words flag(1);
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    break_queue(stream);
    Task task = waits_for_failure(stream);
    CHECK(task.done.wait_for(10ms) == std::future_status::timeout);
    flag.set(1);
    REQUIRE(task.done.wait_for(patience) == std::future_status::ready);
    CHECK_THROWS_AS(task.done.get(), QueueError);
}

TEST_CASE("destroying a stream waits for a host function in flight", "[stream][host]") {
    NEEDS_DEVICE();
    Kernels f;
    std::atomic<bool> done{false};
    {
        Stream stream(f.gpu);
        stream.call([&] {
            std::this_thread::sleep_for(30ms);
            done = true;
        });
    }
    CHECK(done);
}

TEST_CASE("a callback may destroy its stream before on_complete() has returned", "[stream][host]") {
    NEEDS_DEVICE();
    const Device device;
    for (int i = 0; i < 100; ++i) {
        auto stream = std::make_unique<Stream>(device.gpu);
        Stream& named = *stream;
        std::atomic<bool> gone{false};
        named.on_complete([&](const std::exception_ptr&) {
            stream.reset();
            gone = true;
        });
        CHECK(eventually([&] { return gone.load(); }));
    }
}
