// Events: the order between streams, the time between two of them, and failures seen by waiters.
#include "hsadrv/event.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("an event that was never recorded is complete", "[event]") {
    const Event event;
    CHECK_FALSE(event);
    CHECK(event.query());
    CHECK_NOTHROW(event.synchronize(0ms));
    CHECK_THROWS_AS(event.time(), InvalidArgument);
    CHECK_THROWS_AS(elapsed(event, event), InvalidArgument);
}

TEST_CASE("waiting for an event that was never recorded, or is the stream's own, enqueues no packet", "[event]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words flag(1);
    stream.wait(Event());
    CHECK(stream.progress().submitted == 0);
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    stream.wait(stream.record());
    CHECK(stream.progress().submitted == 1);
    flag.set(1);
    stream.synchronize(patience);
}

TEST_CASE("an event is complete when the work before it is, not sooner", "[event]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words flag(2);
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    const Event first = stream.record();
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data() + 1);
    const Event second = stream.record();
    CHECK_FALSE(first.query());
    CHECK_THROWS_AS(first.synchronize(20ms), Timeout);
    CHECK_THROWS_WITH(first.synchronize(20ms), Contains("kernel spin"));
    flag.set(1);
    CHECK_NOTHROW(first.synchronize(patience));
    CHECK(first.query());
    CHECK_FALSE(second.query());
    flag.set(1, 1);
    CHECK_NOTHROW(second.synchronize(patience));
}

TEST_CASE("a stream waits for another stream's kernel on the device, with one packet", "[event]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream producer(f.gpu), consumer(f.gpu);
    const Words flag(1), data(64);
    f.spin.launch(producer, {.grid = 1, .workgroup = 1}, flag.data());
    f.scale_add.launch(producer, {.grid = 64, .workgroup = 64}, data.data(), 0u, 5u, 64u);
    const Event produced = producer.record();
    consumer.wait(produced);
    CHECK(consumer.progress().submitted == 1);
    f.scale_add.launch(consumer, {.grid = 64, .workgroup = 64}, data.data(), 3u, 1u, 64u);
    std::this_thread::sleep_for(20ms);
    CHECK_FALSE(consumer.query());
    flag.set(1);
    consumer.synchronize(patience);
    CHECK(data.data()[0] == 16);
    CHECK(data.data()[63] == 16);
}

TEST_CASE("a stream waits for another stream's copy", "[event]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream copier(f.gpu), consumer(f.gpu);
    const Words flag(1), from(1, 7), to(1), out(1);
    f.spin.launch(copier, {.grid = 1, .workgroup = 1}, flag.data());
    copier.copy_async(to.data(), from.data(), 4);
    consumer.wait(copier.record());
    consumer.copy_async(out.data(), to.data(), 4);
    std::this_thread::sleep_for(20ms);
    CHECK(out.get() == 0);
    flag.set(1);
    consumer.synchronize(patience);
    CHECK(out.get() == 7);
}

TEST_CASE("streams of two GPUs wait for each other", "[event]") {
    NEEDS_DEVICE();
    const Kernels f;
    if (f.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    Stream here(f.gpu), there(f.driver.gpus()[1]);
    const Words flag(1), data(1, 1), copy(1);
    f.spin.launch(here, {.grid = 1, .workgroup = 1}, flag.data());
    f.scale_add.launch(here, {.grid = 1, .workgroup = 1}, data.data(), 2u, 3u, 1u);
    there.wait(here.record());
    there.copy_async(copy.data(), data.data(), 4);
    here.wait(there.record());
    f.scale_add.launch(here, {.grid = 1, .workgroup = 1}, data.data(), 2u, 0u, 1u);
    flag.set(1);
    here.synchronize(patience);
    CHECK(copy.get() == 5);
    CHECK(data.get() == 10);
}

TEST_CASE("an event outlives its stream", "[event]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words data(64);
    Event event;
    {
        Stream stream(f.gpu);
        f.scale_add.launch(stream, {.grid = 64, .workgroup = 64}, data.data(), 1u, 2u, 64u);
        event = stream.record();
    }
    CHECK_NOTHROW(event.synchronize(patience));
    Stream other(f.gpu);
    other.wait(event);
    CHECK(other.progress().submitted == 0);
}

TEST_CASE("the time between two events is that of the kernel between them", "[event][timing]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words flag(1);
    const auto before = std::chrono::steady_clock::now();
    const Event begin = stream.record({.timing = true});
    f.spin.launch(stream, {.grid = 1, .workgroup = 1}, flag.data());
    const Event end = stream.record({.timing = true});
    begin.synchronize(patience);
    CHECK_THROWS_WITH(end.time(), Contains("not complete"));
    std::this_thread::sleep_for(50ms);
    flag.set(1);
    stream.synchronize(patience);
    const auto after = std::chrono::steady_clock::now();
    CHECK(elapsed(begin, end) >= 50ms);
    CHECK(elapsed(begin, end) <= after - before + 1ms);
    CHECK(elapsed(end, begin) == -elapsed(begin, end));
    CHECK(begin.time() >= before - 1ms);
    CHECK(end.time() <= after + 1ms);
    CHECK(begin.time() < end.time());
    CHECK_THROWS_WITH(stream.record().time(), Contains("timing = true"));
}

TEST_CASE("waiters of a failed stream fail with its error; the first error is kept", "[event][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream bad(f.gpu), dependent(f.gpu), third(f.gpu), other(f.gpu);
    const Words flag(1), data(64);
    f.spin.launch(bad, {.grid = 1, .workgroup = 1}, flag.data());
    const Event good = bad.record();
    break_queue(bad);
    const Event lost = bad.record();
    dependent.wait(lost);
    f.scale_add.launch(dependent, {.grid = 64, .workgroup = 64}, data.data(), 1u, 2u, 64u);
    third.wait(dependent.record());
    other.wait(good);
    flag.set(1);
    CHECK_THROWS_AS(dependent.synchronize(patience), QueueError);
    CHECK_THROWS_AS(third.synchronize(patience), QueueError);
    CHECK_THROWS_AS(lost.synchronize(patience), QueueError);
    CHECK_THROWS_AS(lost.query(), QueueError);
    CHECK_THROWS_AS(bad.synchronize(patience), QueueError);
    CHECK(dependent.failed());
    // Events complete before the failure stay complete; their waiters succeed.
    CHECK_NOTHROW(good.synchronize(patience));
    CHECK_NOTHROW(other.synchronize(patience));
    CHECK_THROWS_AS(Stream(f.gpu).wait(lost), QueueError);
}

TEST_CASE("a stream waits for a signal of the host, and decrements one", "[event][signal]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    const Signal go = Signal::create(5), done = Signal::create(2);
    stream.wait(go, Condition::greater_equal, 7);
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 1u, 4u, 1u);
    stream.decrement(done);
    stream.decrement(done);
    std::this_thread::sleep_for(20ms);
    CHECK(data.get() == 0);
    CHECK(done.load() == 2);
    go.store(8);
    CHECK(done.wait(Condition::less, 1, patience) == 0);
    CHECK(data.get() == 4);
    stream.synchronize(patience);
    CHECK_THROWS_AS(stream.wait(SignalRef(), Condition::equal, 0), InvalidArgument);
    CHECK_THROWS_AS(stream.decrement(SignalRef()), InvalidArgument);
}
