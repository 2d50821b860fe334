// Lost work is reported as lost, and destroyed objects keep the resources of their packets until those have run.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "hsadrv/allocator.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/event_state.hpp"
#include "hsadrv/stream/live_streams.hpp"
#include "hsadrv/stream/queue_pool.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "hsadrv/stream/stream_handle.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

/// A stream that is closed with a kernel enqueued after another stream's; `gone`: what it attached is destroyed.
struct Attached : Busy {
    std::atomic<bool> gone{false};
    std::shared_ptr<const detail::Timeline> timeline = after.core().timeline();
    Attached() {
        after.attach(std::shared_ptr<const void>(nullptr, [this](const void*) { gone = true; }));
        scale_add.launch(after, one, data.data(), 2u, 1u, 1u);
        CHECK_FALSE(after.close(20ms));
    }
};

void await(const std::atomic<bool>& flag) {
    while (!flag) std::this_thread::sleep_for(1ms);
}

std::size_t waiting_on_copies_thread() { return Driver::current().runtime().copies().counts().waiting; }

}  // namespace

TEST_CASE("code of a destroyed stream stays loaded until its kernels have run", "[stream][pool][executable]") {
    NEEDS_DEVICE();
    Busy f;
    const Words words(16, 1);
    {
        const Executable code = Executable::load(f.gpu, test_support::test_file("stream.hsaco"));
        code.kernel("scale_add").launch(f.after, one, words.data(), 2u, 1u, 1u);
        CHECK_FALSE(f.after.close(20ms));
    }
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    CHECK(eventually([&] { return words.get() == 3; }));
}

TEST_CASE("objects attached to a destroyed stream stay alive until its kernels have run", "[stream][pool]") {
    NEEDS_DEVICE();
    Attached f;
    CHECK_FALSE(f.gone);
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    CHECK(eventually([&] { return f.gone.load(); }));
}

TEST_CASE("what a destroyed stream attached is released although the stream fails once more", "[stream][pool]") {
    NEEDS_DEVICE();
    Attached f;
    f.timeline->fail(std::make_exception_ptr(Error("as a host function that is still running does")));
    let_time_pass();
    CHECK_FALSE(f.gone);
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    for (const Deadline deadline(5s); !f.gone && !deadline.passed();) std::this_thread::sleep_for(1ms);
    CHECK(f.gone);
}

TEST_CASE("a destructor of what a destroyed stream attached does not delay another stream's copies",
          "[stream][pool][copy]") {
    NEEDS_DEVICE();
    Busy f;
    const Words mine(1), from(1, 3), to(1);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4);
    std::atomic<bool> runs{false}, may_end{false}, gone{false};
    f.after.attach(std::shared_ptr<const void>(nullptr, [&](const void*) {
        runs = true;
        await(may_end);
        gone = true;
    }));
    f.scale_add.launch(f.after, one, f.data.data(), 2u, 1u, 1u);
    CHECK_FALSE(f.after.close(20ms));
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    for (const Deadline deadline(patience); !runs && !deadline.passed();) std::this_thread::sleep_for(1ms);
    CHECK(runs);
    f.spin.launch(f.runs, one, mine.data());  // so that its copies are submitted to an engine later
    f.runs.copy_async(device.data(), from.data(), 4);
    f.runs.copy_async(to.data(), device.data(), 4);
    mine.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    CHECK(to.get() == 3);
    may_end = true;
    CHECK(eventually([&] { return gone.load(); }));
}

TEST_CASE("a stream that a destroyed stream attached completes its host functions", "[stream][pool][host]") {
    NEEDS_DEVICE();
    Busy f;
    const Words theirs(1);
    std::atomic<bool> called{false};
    auto inner = std::make_shared<Stream>(f.gpu, StreamOptions{.exclusive_queue = true});
    f.spin.launch(*inner, one, theirs.data());
    inner->call([&] { called = true; });
    f.after.attach(std::move(inner));
    f.scale_add.launch(f.after, one, f.data.data(), 2u, 1u, 1u);
    CHECK_FALSE(f.after.close(20ms));
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    let_time_pass();
    theirs.set(1);
    CHECK(eventually([&] { return called.load(); }));
}

TEST_CASE("a host function that runs does not delay the return of a destroyed stream's memory",
          "[stream][pool][host][allocator]") {
    NEEDS_DEVICE();
    Busy f;
    constexpr std::size_t bytes = 4u << 20;
    Allocator allocator(device_pool(f.gpu), {.limit_bytes = bytes, .patience = 2s});
    Block block = allocator.allocate(bytes, f.after);
    f.scale_add.launch(f.after, one, f.data.data(), 0u, 7u, 1u);
    block = {};
    CHECK_FALSE(f.after.close(20ms));
    std::atomic<bool> runs{false}, may_end{false};
    Stream caller(f.gpu);
    caller.call([&] {
        runs = true;
        await(may_end);
        static_cast<void>(allocator.allocate(bytes, f.runs));
    });
    await(runs);
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    let_time_pass();
    may_end = true;
    CHECK_NOTHROW(caller.synchronize(patience));
}

TEST_CASE("a callback learns that a host function before it was lost, with no packet between", "[stream][host]") {
    NEEDS_DEVICE();
    const Device device;
    Stream stream(device.gpu);
    std::atomic<bool> may_end{false};
    std::atomic<int> told{0};
    stream.call([&] {
        await(may_end);
        throw std::runtime_error("on purpose");
    });
    stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    may_end = true;
    CHECK_NOTHROW(device.driver.callbacks().drain(patience));
    CHECK(told == 1);
}

TEST_CASE("a callback learns that a copy before it was lost, with no packet between", "[stream][copy]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words words(1024, 1);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4096);
    Stream stream(f.gpu);
    std::atomic<int> told{0};
    std::atomic<bool> may_end{false};
    stream.call([&] { await(may_end); });
    stream.copy_async(device.data(), words.data(), 4096);
    stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    std::jthread opens([&] {
        let_time_pass();
        may_end = true;
    });
    CHECK_FALSE(stream.close(10ms));
    CHECK_NOTHROW(f.driver.callbacks().drain(patience));
    CHECK(told == 1);
}

TEST_CASE("an event after a copy that its engine aborted is an error", "[stream][event][copy]") {
    NEEDS_DEVICE();
    const Device device;
    detail::EventState event;
    const auto timeline = std::make_shared<detail::Timeline>("a stream", 64);
    event.timeline = timeline;
    event.completion.copy = device.driver.runtime().signals().acquire(-1);
    CHECK(event.lost());
    CHECK_THROWS_AS(timeline->rethrow(), Error);
}

TEST_CASE("a wait that finds the ring full leaves the caller's signal unchanged", "[stream][signal][deadline]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(1);
    const Signal signal = Signal::create(1);
    Stream stream(f.gpu, {.packets = 64});
    f.spin.launch(stream, one, flag.data());
    REQUIRE(eventually([] { return waiting_on_copies_thread() == 0; }));  // streams of other tests leave copies there
    std::size_t put = 0;
    try {
        for (; put < 1000; ++put) stream.wait(signal, Condition::equal, 0, 20ms);
        FAIL("no limit");
    } catch (const Timeout&) {
    }
    const std::size_t waiting = waiting_on_copies_thread();
    CHECK((waiting == put || waiting == 0));
    signal.ref().store(0);
    flag.set(1);
    CHECK_NOTHROW(stream.synchronize(patience));
}

TEST_CASE("a queue that fails while streams move to it fails only the streams that caused it",
          "[stream][pool][error]") {
    NEEDS_DEVICE();
    Kernels f;
    for (int round = 0; round < 5; ++round) {
        const Words flag(1), words(64, 0);
        std::vector<Stream> streams;
        for (std::size_t i = 0; i < 4 * detail::QueuePool::most; ++i) streams.emplace_back(f.gpu);
        const std::vector<Stream*> others = neighbours_of_first(streams);
        REQUIRE(others.size() == 3);
        f.spin.launch(streams[0], one, flag.data());
        break_queue(streams[0]);
        break_queue(*others[0]);
        for (int i = 0; i < 300; ++i)
            for (std::size_t k = 1; k < 3; ++k) f.scale_add.launch(*others[k], one, words.data() + k, 1u, 1u, 1u);
        flag.set(1);
        CHECK_THROWS_AS(streams[0].synchronize(patience), QueueError);
        CHECK_THROWS_AS(others[0]->synchronize(patience), QueueError);
        for (std::size_t k = 1; k < 3; ++k) {
            CHECK_NOTHROW(others[k]->synchronize(patience));
            CHECK(words.get(k) == 300);
        }
    }
}

TEST_CASE("objects attached to a stream during its destruction are released once", "[stream][pool]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words words(16, 1);
    std::atomic<std::size_t> let_go{0};
    std::size_t given = 0;
    for (int round = 0; round < 100; ++round) {
        std::optional<Stream> stream(f.gpu);
        const std::shared_ptr handle = stream->handle();
        std::atomic<std::size_t> kept{0};
        {
            const std::jthread gives([&] {
                do {
                    ++kept;
                    std::this_thread::sleep_for(5us);
                } while (handle->keep_alive(std::shared_ptr<const void>(nullptr, [&](const void*) { ++let_go; })));
            });
            f.scale_add.launch(*stream, one, words.data(), 1u, 1u, 1u);
            CHECK(eventually([&] { return kept > 10; }));
            stream.reset();
        }
        given += kept;
    }
    CHECK(eventually([&] { return let_go == given; }));
}

TEST_CASE("streams that waited for each other keep neither each other nor the runtime alive", "[stream][event]") {
    NEEDS_DEVICE();
    const auto wait_for_each_other = [](Stream& a, Stream& b, Kernels& f, const Words& words) {
        for (Stream* stream : {&a, &b}) {
            f.scale_add.launch(*stream, one, words.data(), 1u, 1u, 1u);
            (stream == &a ? b : a).wait(stream->record());
        }
    };
    SECTION("idle") {
        {
            Kernels f;
            const Words words(16, 1);
            Stream a(f.gpu), b(f.gpu);
            wait_for_each_other(a, b, f, words);
            a.synchronize(patience);
            b.synchronize(patience);
        }
        CHECK_FALSE(detail::Runtime::find());
    }
    SECTION("with packets after another stream's") {
        {
            Busy f;
            const Words words(16, 1);
            Stream other(f.gpu);
            wait_for_each_other(f.after, other, f, words);
            CHECK_FALSE(f.after.close(20ms));
            CHECK_FALSE(other.close(20ms));
            f.flag.set(1);
            CHECK_NOTHROW(f.runs.synchronize(patience));
        }
        CHECK(eventually([] { return !detail::Runtime::find(); }));
    }
}

TEST_CASE("a decrement that finds the ring full decrements nothing", "[stream][signal][deadline]") {
    NEEDS_DEVICE();
    constexpr std::uint32_t packets = 64;
    Kernels f;
    const Words flag(1), words(16, 1);
    const Signal signal = Signal::create(1);
    Stream stream(f.gpu, {.packets = packets});
    f.spin.launch(stream, one, flag.data());
    for (std::uint32_t i = 1; i < packets; ++i) f.scale_add.launch(stream, one, words.data(), 1u, 0u, 1u);
    CHECK_THROWS_AS(stream.decrement(signal, 20ms), Timeout);
    flag.set(1);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(signal.load() == 1);
    stream.decrement(signal, patience);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(signal.load() == 0);
}

TEST_CASE("a stream does not wait for another's host function to end", "[stream][host]") {
    NEEDS_DEVICE();
    const Device device;
    std::atomic<bool> runs{false}, go_on{false}, called{false};
    Stream busy(device.gpu), stream(device.gpu);
    busy.call([&] {
        runs = true;
        await(go_on);
    });
    await(runs);
    stream.call([&] { called = true; });
    const std::shared_ptr handle = stream.handle();
    CHECK_FALSE(stream.close(20ms));
    CHECK(handle->state() == detail::StreamHandle::State::gone);  // not lost together with its resources
    go_on = true;
    CHECK_NOTHROW(busy.synchronize(patience));
    CHECK_FALSE(called);
}

TEST_CASE("a forked child destroys a stream whatever the parent's threads had locked", "[stream][process]") {
    NEEDS_DEVICE();
    const Device device;
    std::optional<Stream> stream(device.gpu);
    std::atomic<bool> held{false}, release{false};
    std::thread holds([&] {
        detail::live_streams::visit([&](detail::StreamCore&) {
            held = true;
            await(release);
        });
    });
    await(held);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        stream.reset();
        ::_exit(0);
    }
    int status = -1;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    release = true;
    holds.join();
}
