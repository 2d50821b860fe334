// A copy whose engine reports an error: its signal becomes negative (hsa_ext_amd.h, hsa_amd_memory_async_copy). Work
// enqueued after it does not run, and every waiter receives the error.
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/copy_queue.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "hsadrv/stream/stream_handle.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

/// A stream with a copy that this test ends.
struct Copying : Kernels {
    Words data{1};
    Stream stream{gpu};
    std::shared_ptr<PooledSignal> done;

    Copying() : done(copy_on(stream)) {}
    /// A copy that an engine has when this returns, if it has those before it; its signal.
    std::shared_ptr<PooledSignal> copy_on(Stream& on) {
        std::shared_ptr<PooledSignal> given;
        detail::StreamCore& core = on.core();
        const auto held = core.lock({}, "test");
        static_cast<void>(core.put_copy(
            [&](std::span<const hsa_signal_t>, const std::shared_ptr<PooledSignal>& signal) {
                given = signal;
                return HSA_STATUS_SUCCESS;
            },
            {data.data(), gpu}, {data.data(), gpu}, 4, {}, {}));
        return given;
    }
    void fail() { done->ref().store(-1); }
    void check_error() { CHECK_THROWS_WITH(stream.synchronize(patience), Contains("engine reports an error")); }
};

bool is_mapped(const void* address) {
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    return hsa_amd_pointer_info(address, &info, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS &&
           info.type == HSA_EXT_POINTER_TYPE_HSA;
}

}  // namespace

TEST_CASE("a host function after a failed copy does not run", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Copying f;
    std::atomic<bool> ran{false};
    f.stream.call([&] { ran = true; });
    f.fail();
    f.check_error();
    CHECK_FALSE(ran);
}

TEST_CASE("a kernel after a failed copy does not run, and its waiters receive the error", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Copying f;
    std::atomic<bool> called{false}, failed{false};
    f.scale_add.launch(f.stream, one, f.data.data(), 0u, 7u, 1u);
    f.stream.on_complete([&](std::exception_ptr error) {
        failed = error != nullptr;
        called = true;
    });
    f.fail();
    f.check_error();
    for (const Deadline deadline(5s); !called && !deadline.passed();) std::this_thread::sleep_for(1ms);
    CHECK(failed);
    CHECK(f.data.get() == 0);
}

TEST_CASE("a copy after a failed copy does not run, and takes no engine", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Copying f;
    const Words from(1, 3), to(1);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4);
    f.stream.copy_async(device.data(), from.data(), 4);
    f.fail();
    f.check_error();
    Stream other(f.gpu);
    other.copy_async(to.data(), from.data(), 4);
    CHECK_NOTHROW(other.synchronize(patience));
    CHECK(to.get() == 3);
}

TEST_CASE("a wait for a failed copy itself throws", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Copying f;
    f.fail();
    CHECK_THROWS_WITH(f.stream.core().writer().wait({.copy = f.done}, 5s, "test"), Contains("engine reports an error"));
}

namespace {

/// Copies in parts that this test ends; it refuses the part `refused`.
struct InParts : Kernels {
    Words data{1};
    Stream stream{gpu};
    std::shared_ptr<PooledSignal> done;
    std::atomic<std::size_t> started{0};

    void copy(std::size_t parts, std::size_t refused = SIZE_MAX) {
        detail::StreamCore& core = stream.core();
        const auto held = core.lock({}, "test");
        const auto whole = [](detail::CopyQueue::Dependencies, const std::shared_ptr<PooledSignal>&) {
            return HSA_STATUS_ERROR_INVALID_AGENT;
        };
        const auto part = [this, refused](std::size_t number, detail::CopyQueue::Dependencies,
                                          const std::shared_ptr<PooledSignal>& signal) {
            if (number == 0) done = signal;
            if (number == refused) throw Error("refused on purpose");
            ++started;
        };
        static_cast<void>(
            core.put_copy(whole, {data.data(), gpu}, {data.data(), gpu}, 4, {}, {}, {.count = parts, .start = part}));
    }
};

}  // namespace

TEST_CASE("work after a copy of which an engine received only a part does not run", "[stream][copy][error]") {
    NEEDS_DEVICE();
    InParts f;
    const Words flag(1);
    f.spin.launch(f.stream, one, flag.data());  // the copy is submitted when it has run
    f.copy(5, 2);
    f.scale_add.launch(f.stream, one, f.data.data(), 0u, 7u, 1u);
    flag.set(1);
    CHECK_THROWS_WITH(f.stream.synchronize(patience), Contains("refused on purpose"));
    CHECK(f.started == 2);
    CHECK(f.done->ref().load() == 5);
    f.done->ref().subtract(2);
    CHECK(f.done->ref().wait(Condition::less, 0, patience) == -1);
    std::this_thread::sleep_for(100ms);
    CHECK(f.data.get() == 0);
}

TEST_CASE("engines have only some parts of a copy at once, and the next copy waits for all", "[stream][copy]") {
    NEEDS_DEVICE();
    constexpr std::size_t most = detail::EngineRoom::most, parts = 3 * most;
    InParts f;
    f.copy(parts);
    CHECK(f.started == most);
    const Words next(1), from(1);
    from.set(5);
    f.stream.copy_async(next.data(), from.data(), 4);
    for (std::size_t complete = 0; complete < parts; ++complete) {
        REQUIRE(eventually([&] { return f.started - complete == most || f.started == parts; }));
        CHECK(f.started - complete <= most);
        CHECK(next.get() == 0);
        f.done->ref().subtract(1);
    }
    CHECK_NOTHROW(f.stream.synchronize(patience));
    CHECK(next.get() == 5);
}

TEST_CASE("a stream that ends with a copy in parts starts no more of them, and waits for those it started",
          "[stream][copy][error]") {
    NEEDS_DEVICE();
    InParts f;
    f.copy(1000);
    const std::size_t started = f.started;
    CHECK_FALSE(f.stream.close(20ms));
    CHECK(f.done->ref().load() == 1000);
    f.done->ref().subtract(static_cast<std::int64_t>(started));
    CHECK(f.done->ref().wait(Condition::less, 0, patience) == -1);
    CHECK(f.started == started);
}

TEST_CASE("memory is kept while an engine has a part of a copy of which the rest was refused",
          "[stream][copy][pool][error]") {
    NEEDS_DEVICE();
    InParts f;
    CHECK_THROWS_WITH(f.copy(3, 1), Contains("refused on purpose"));
    std::atomic<bool> gone{false};
    f.stream.keep_alive(std::shared_ptr<const void>(nullptr, [&](const void*) { gone = true; }));
    const auto mark = f.stream.handle()->mark();
    REQUIRE(mark);
    CHECK_FALSE(f.stream.handle()->reached(*mark));
    CHECK_FALSE(gone);
    f.done->ref().subtract(1);
    f.stream.close(20ms);
    CHECK(eventually([&] { return gone.load(); }));
}

TEST_CASE("what is freed after a stream was closed is kept while an engine has one of its copies",
          "[stream][copy][pool]") {
    NEEDS_DEVICE();
    Copying f;
    std::atomic<bool> gone{false};
    std::optional<Allocation> memory = Allocation::from_pool(device_pool(f.gpu), 4u << 20);
    std::optional<Signal> signal = Signal::create(7);
    const hsa_signal_t native = signal->native();
    f.stream.attach(std::shared_ptr<const void>(nullptr, [&](const void*) { gone = true; }));
    const auto handle = f.stream.handle();
    CHECK_FALSE(f.stream.close(20ms));
    CHECK(handle->keep_alive(std::make_shared<int>(1)));
    void* const address = memory->data();
    memory.reset();
    signal.reset();
    CHECK(hsa_signal_load_relaxed(native) == 7);
    CHECK(is_mapped(address));
    CHECK_FALSE(gone);
    CHECK_NOTHROW(f.driver.callbacks().drain(patience));  // does not wait for the engine
    f.done->ref().store(0);
    CHECK(eventually([&] { return gone.load(); }));
    CHECK(eventually([&] { return !is_mapped(address); }));
    CHECK(handle->state() == detail::StreamHandle::State::gone);
}

TEST_CASE("what is created after a stream was closed is freed although an engine has one of its copies",
          "[stream][copy][pool]") {
    NEEDS_DEVICE();
    Copying f;
    CHECK_FALSE(f.stream.close(20ms));
    std::optional<Allocation> memory = Allocation::from_pool(device_pool(f.gpu), 4u << 20);
    void* const address = memory->data();
    CHECK(is_mapped(address));
    memory.reset();
    CHECK_FALSE(is_mapped(address));
    f.done->ref().store(0);
}

TEST_CASE("a failed copy is found by another stream's waiter", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Copying f;
    std::atomic<bool> failed{false};
    f.scale_add.launch(f.stream, one, f.data.data(), 0u, 7u, 1u);
    f.stream.on_complete([&](std::exception_ptr error) { failed = error != nullptr; });
    f.fail();
    Stream other(f.gpu);
    const Words flag(1);
    f.spin.launch(other, one, flag.data());
    CHECK_THROWS_AS(other.synchronize(1s), Timeout);  // a waiter polls for all streams
    CHECK(failed);
    flag.set(1);
    CHECK_NOTHROW(other.synchronize(patience));
}

TEST_CASE("an event of a copy whose engine never ends is lost when its stream has ended", "[stream][copy][event]") {
    NEEDS_DEVICE();
    Copying f;
    const Event event = f.stream.record();
    CHECK_FALSE(event.query());
    CHECK_FALSE(f.stream.close(20ms));
    CHECK_THROWS_AS(event.synchronize(patience), StreamEnded);
    f.done->ref().store(0);
}

TEST_CASE("an event of a copy in flight is lost with its GPU", "[stream][copy][event][fault]") {
    NEEDS_DEVICE();
    Copying f;
    std::atomic<int> told{0};
    const Event event = f.stream.record();
    f.stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    f.stream.core().fail(detail::Fault{.agent = f.gpu, .node = 0, .address = 0, .reasons = 0}, 0);
    CHECK_THROWS_AS(event.query(), DeviceLost);
    CHECK_THROWS_AS(event.synchronize(patience), DeviceLost);
    CHECK(eventually([&] { return told == 1; }));
    f.done->ref().store(0);  // the test's GPU is not lost
}

TEST_CASE("a kernel launched after a failed copy does not run", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Copying f;
    f.fail();
    CHECK_THROWS_WITH(f.scale_add.launch(f.stream, one, f.data.data(), 0u, 7u, 1u),
                      Contains("engine reports an error"));
    let_time_pass();
    CHECK(f.data.get() == 0);
}

TEST_CASE("a copy that fails while its stream looks at its copies is not forgotten", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Copying f;
    f.done->ref().store(0);
    int forgotten = 0, rounds = 0;
    for (const Deadline deadline(1s); !deadline.passed() && forgotten == 0; ++rounds) {
        Stream stream(f.gpu);
        detail::StreamCore& core = stream.core();
        const auto done = f.copy_on(stream);
        std::atomic<bool> looks{false};
        std::thread checks([&] {
            const auto held = core.lock({}, "test");
            looks = true;
            while (done->ref().load() >= 0) core.check_copies();
            core.check_copies();
        });
        while (!looks) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(rounds % 50));
        done->ref().store(-1);
        checks.join();
        forgotten += !core.failed();
    }
    CHECK(forgotten == 0);
}

TEST_CASE("what waits for a copy that an engine has after a failed one is told", "[stream][copy][event][error]") {
    NEEDS_DEVICE();
    Copying f;
    const auto second = f.copy_on(f.stream);
    REQUIRE(second);  // given at once: the same engine has the first
    std::atomic<int> told{0};
    const Event event = f.stream.record();
    f.stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    f.fail();
    f.check_error();
    for (const Deadline deadline(3s); told == 0 && !deadline.passed();) std::this_thread::sleep_for(1ms);
    CHECK(told == 1);
    CHECK_THROWS_WITH(event.synchronize(patience), Contains("engine reports an error"));
    second->ref().store(-1);
}

TEST_CASE("a copy after a failed one of the same engine is not given to it", "[stream][copy][error]") {
    NEEDS_DEVICE();
    const Device device;
    SignalPool& signals = device.driver.runtime().signals();
    const auto timeline = std::make_shared<detail::Timeline>("a test", 64);
    const auto queue = std::make_shared<detail::CopyQueue>(timeline);
    const auto first = signals.acquire(1), second = signals.acquire(1);
    int given = 0;
    const auto engine = [&](std::span<const hsa_signal_t>, const std::shared_ptr<PooledSignal>&) {
        ++given;
        return HSA_STATUS_SUCCESS;
    };
    CHECK(queue->put({.start = engine, .engine_id = {1, 1}, .before = {}, .done = first}) == HSA_STATUS_SUCCESS);
    first->ref().store(-1);
    CHECK(queue->put({.start = engine, .engine_id = {1, 1}, .before = {.copy = first}, .done = second}) ==
          HSA_STATUS_SUCCESS);
    CHECK(given == 1);
    CHECK(second->ref().load() == -1);
    CHECK(timeline->failed());
}

namespace {

/// A stream's copies, each of which waits for the one before, for one engine; this test ends them.
struct CopiesInOrder {
    CopiesInOrder(SignalPool& signals, std::atomic<std::size_t>& given) : signals(signals), given(given) {}

    void put(std::size_t count = 1) {
        for (; count > 0; --count) {
            const auto start = [this](detail::CopyQueue::Dependencies, const std::shared_ptr<PooledSignal>&) {
                ++given, ++own;
                return HSA_STATUS_SUCCESS;
            };
            const std::shared_ptr<PooledSignal> before = copies.empty() ? nullptr : copies.back();
            copies.push_back(signals.acquire(1));
            REQUIRE(
                queue->put({.start = start, .engine_id = {7, 7}, .before = {.copy = before}, .done = copies.back()}) ==
                HSA_STATUS_SUCCESS);
        }
    }
    void end(std::size_t count = 1) {
        for (; count > 0; --count) copies[ended++]->ref().store(0);
    }
    std::size_t in_flight() const { return own - ended; }

    SignalPool& signals;
    std::atomic<std::size_t>& given;
    std::atomic<std::size_t> own{0};
    std::size_t ended = 0;
    std::vector<std::shared_ptr<PooledSignal>> copies;
    std::shared_ptr<detail::CopyQueue> queue =
        std::make_shared<detail::CopyQueue>(std::make_shared<detail::Timeline>("of a test", 64));
};

}  // namespace

TEST_CASE("an engine has so many copies at once, and streams take turns", "[stream][copy]") {
    NEEDS_DEVICE();
    const Device device;
    constexpr std::size_t most = detail::EngineRoom::most;
    std::atomic<std::size_t> given{0};
    SignalPool& signals = device.driver.runtime().signals();
    CopiesInOrder many(signals, given), second(signals, given), third(signals, given);
    many.put(most + 10);
    second.put(2);
    third.put(1);
    CHECK(given == most);
    CHECK(second.own + third.own == 0);
    many.end(3);
    CHECK(eventually([&] { return second.own == 1 && third.own == 1; }));
    CHECK(given == most + 3);
    while (many.ended + second.ended + third.ended < most + 13) {
        const auto in_flight = [&] { return many.in_flight() + second.in_flight() + third.in_flight(); };
        CHECK(in_flight() <= most);
        for (CopiesInOrder* stream : {&many, &second, &third})
            if (stream->in_flight() > 0) stream->end();
        CHECK(eventually([&] { return in_flight() > 0 || given == most + 13; }));
    }
    CHECK(given == most + 13);
}

TEST_CASE("large copies count as several, whatever they copy between", "[stream][copy]") {
    NEEDS_DEVICE();
    const Device device;
    const auto room = std::make_shared<detail::EngineRoom>();
    const std::weak_ptr<detail::CopyQueue> none;
    SignalPool& signals = device.driver.runtime().signals();
    const auto large = signals.acquire(1), small = signals.acquire(1);
    CHECK(room->take(device.gpu, none, {large, 1, 200 * detail::EngineRoom::bytes_of_one}));
    CHECK_FALSE(room->take(device.gpu, none, {small, 1, 4}));
    CHECK(room->take({}, none, {small, 1, 4}));  // another GPU's
    large->ref().store(0);
    small->ref().store(0);
}

TEST_CASE("a copy that waits in line has one callback, however many turns it takes", "[stream][copy]") {
    NEEDS_DEVICE();
    constexpr std::size_t parts = 200;
    InParts copies[2];
    for (InParts& copy : copies) copy.copy(parts);
    std::size_t ended[2] = {}, most = 0;
    const auto in_flight = [&](unsigned n) { return copies[n].started - ended[n]; };
    for (std::size_t total = 0; total < 2 * parts; ++total) {
        REQUIRE(eventually([&] { return in_flight(0) + in_flight(1) > 0; }));
        const unsigned n = in_flight(total % 2) > 0 ? total % 2 : 1 - total % 2;
        copies[n].done->ref().subtract(1);
        ++ended[n];
        most = std::max(most, copies[0].driver.runtime().copies().counts().waiting);
    }
    CHECK(most < parts);
    for (InParts& copy : copies) CHECK_NOTHROW(copy.stream.synchronize(patience));
}

TEST_CASE("the signal of a copy that an engine refuses is released, though others wait for it",
          "[stream][copy][error]") {
    NEEDS_DEVICE();
    const Device device;
    std::atomic<std::size_t> given{0};
    SignalPool& signals = device.driver.runtime().signals();
    CopiesInOrder other(signals, given);
    CopiesInOrder many(signals, given);
    many.put(detail::EngineRoom::most - 1);
    std::shared_ptr<PooledSignal> done = signals.acquire(1);
    const std::weak_ptr<PooledSignal> refused = done;
    const auto start = [&](detail::CopyQueue::Dependencies, const std::shared_ptr<PooledSignal>&) {
        std::thread([&] { other.put(); }).join();  // in line, since this one has the last place
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    };
    const auto queue = std::make_shared<detail::CopyQueue>(std::make_shared<detail::Timeline>("of a test", 64));
    CHECK(queue->put({.start = start, .engine_id = {7, 7}, .before = {}, .done = std::move(done)}) ==
          HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    CHECK(eventually([&] { return other.own == 1; }));
    CHECK(eventually([&] { return refused.expired(); }));
    many.end(detail::EngineRoom::most - 1);
    other.end();
}

TEST_CASE("a stream waits for no particular copy of a full engine", "[stream][copy]") {
    NEEDS_DEVICE();
    const Device device;
    std::atomic<std::size_t> given{0};
    SignalPool& signals = device.driver.runtime().signals();
    CopiesInOrder many(signals, given), other(signals, given);
    many.put(detail::EngineRoom::most);
    other.put();
    CHECK(other.own == 0);
    many.copies[4]->ref().store(0);
    CHECK(eventually([&] { return other.own == 1; }));
    many.end(detail::EngineRoom::most);
    other.end();
}

TEST_CASE("streams that end while they wait for an engine leave their turns to others", "[stream][copy]") {
    NEEDS_DEVICE();
    const Device device;
    std::atomic<std::size_t> given{0};
    SignalPool& signals = device.driver.runtime().signals();
    CopiesInOrder many(signals, given), ended(signals, given), last(signals, given);
    auto destroyed = std::make_unique<CopiesInOrder>(signals, given);
    many.put(detail::EngineRoom::most);
    ended.put();
    destroyed->put();
    last.put();
    const std::weak_ptr<PooledSignal> waits = destroyed->copies.front();
    ended.queue->end();
    destroyed.reset();
    CHECK(eventually([&] { return waits.expired(); }));
    many.end();
    CHECK(eventually([&] { return last.own == 1; }));
    CHECK(ended.own == 0);
    CHECK(ended.copies.front()->ref().load() == -1);
    many.end(detail::EngineRoom::most - 1);
    last.end();
}

TEST_CASE("parts of a copy that is abandoned count until they are complete", "[stream][copy]") {
    NEEDS_DEVICE();
    InParts first, second;
    first.copy(1000);
    first.stream.core().end_waiting_copies();
    second.copy(1000);
    CHECK(second.started == 0);
    first.done->ref().subtract(1);
    CHECK(eventually([&] { return second.started == 1; }));
    second.stream.core().end_waiting_copies();
    first.done->ref().subtract(static_cast<std::int64_t>(first.started) - 1);
    second.done->ref().subtract(1);
    CHECK(first.done->ref().wait(Condition::less, 0, patience) == -1);
    CHECK(second.done->ref().wait(Condition::less, 0, patience) == -1);
}

TEST_CASE("a callback is not told that a lost copy is complete", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Kernels f;
    int wrong = 0, rounds = 0;
    for (const Deadline deadline(2s); !deadline.passed() && wrong == 0; ++rounds) {
        Stream stream(f.gpu);
        std::atomic<int> told{0};
        std::shared_ptr<PooledSignal> done;
        {
            detail::StreamCore& core = stream.core();
            Words data(1);
            const auto held = core.lock({}, "test");
            static_cast<void>(core.put_copy(
                [&](std::span<const hsa_signal_t>, const std::shared_ptr<PooledSignal>& signal) {
                    done = signal;
                    return HSA_STATUS_SUCCESS;
                },
                {data.data(), f.gpu}, {data.data(), f.gpu}, 4, {}, {}));
        }
        stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
        const auto timeline = stream.core().timeline();
        std::thread hurries([&] {
            for (int i = 0; i < 200 && told == 0; ++i)
                timeline->fail(std::make_exception_ptr(std::runtime_error("x")), timeline->submitted());
        });
        std::this_thread::sleep_for(std::chrono::microseconds(rounds % 200));
        done->ref().store(-1);
        while (told == 0) std::this_thread::yield();
        hurries.join();
        wrong += told == 2;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a copy that waits on an exclusive queue that stops is lost", "[stream][copy][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words mine(1), from(1, 3), to(1);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4);
    std::atomic<int> told{0};
    Stream stream(f.gpu, {.exclusive_queue = true});
    f.spin.launch(stream, one, mine.data());
    stream.queue().submit(bad_packet());
    stream.copy_async(device.data(), from.data(), 4);
    const Event copy = stream.record();
    stream.on_complete([&](std::exception_ptr error) { told = error ? 1 : 2; });
    mine.set(1);
    for (const Deadline deadline(patience); !stream.failed() && !deadline.passed();) std::this_thread::yield();
    CHECK(stream.failed());
    CHECK_THROWS_AS(copy.synchronize(patience), QueueError);
    CHECK(eventually([&] { return told == 1; }));
}
