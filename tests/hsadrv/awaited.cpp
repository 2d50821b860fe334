// Callbacks, coroutines and host functions receive failures although no host thread waits.
#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hsadrv/signal/watched_wait.hpp"
#include "hsadrv/stream/queue_pool.hpp"
#include "tests/hsadrv/stream_fixture.hpp"
#include "tests/hsadrv/task.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

/// The result of a callback, for a thread that makes no other call meanwhile.
class Told {
  public:
    std::function<void(std::exception_ptr)> callback() {
        return [this](std::exception_ptr error) { told_.set_value(std::move(error)); };
    }
    /// True if the callback ran in time without an error; rethrows its error.
    bool good() {
        if (future_.wait_for(patience) != std::future_status::ready) return false;
        if (const std::exception_ptr error = future_.get()) std::rethrow_exception(error);
        return true;
    }

  private:
    std::promise<std::exception_ptr> told_;
    std::future<std::exception_ptr> future_ = told_.get_future();
};

Task awaits(Stream& stream) { co_await stream.completion(); }

/// Two streams with running kernels, so that either may have caused the fault.
struct Faulty : Kernels {
    Words flag{1}, asked{1};
    Stream busy{gpu}, bad{gpu, {.drain = 100ms}};
    Faulty() {
        spin.launch(busy, {.grid = 1, .workgroup = 1}, flag.data());
        spin.launch(bad, {.grid = 1, .workgroup = 1}, asked.data());
        store_at.launch(bad, {.grid = 1, .workgroup = 1}, std::uint64_t{0x1234'5678'9000}, 1u);
    }
    /// After a test has asked for what is to follow: a call in a stream that has failed would throw.
    void fault() { asked.set(1); }
    /// The other may have caused the fault as well.
    void check_busy() {
        CHECK_THROWS_AS(busy.synchronize(patience), MemoryFault);
        flag.set(1);  // in case the GPU does not stop it
    }
};

/// Two streams of one queue, which the first stops when `flag` is set.
struct Neighbours : Kernels {
    Words flag{1}, data{1};  // outlive the streams
    std::vector<Stream> streams;
    Stream *bad = nullptr, *good = nullptr;
    Neighbours() {
        for (std::size_t i = 0; i <= detail::QueuePool::most; ++i) streams.emplace_back(gpu);
        good = &streams.back();
        for (Stream& stream : streams)
            if (&stream != good && stream.queue().native() == good->queue().native()) bad = &stream;
        REQUIRE(bad != nullptr);
        spin.launch(*bad, {.grid = 1, .workgroup = 1}, flag.data());
        break_queue(*bad);
    }
};

}  // namespace

TEST_CASE("child: a fault with a callback", "[.child][defect]") {
    Told told;  // outlives the streams
    Faulty f;
    f.bad.on_complete(told.callback());
    f.fault();
    CHECK_THROWS_AS(told.good(), MemoryFault);
    f.check_busy();
}

TEST_CASE("a callback receives a memory fault although no thread waits", "[stream][awaited][fault]") {
    NEEDS_DEVICE();
    check_child("child: a fault with a callback");
}

TEST_CASE("child: a fault with a coroutine", "[.child][defect]") {
    Faulty f;
    Task task = awaits(f.bad);
    f.fault();
    REQUIRE(task.done.wait_for(patience) == std::future_status::ready);
    CHECK_THROWS_AS(task.done.get(), MemoryFault);
    f.check_busy();
}

TEST_CASE("a coroutine receives a memory fault although no thread waits", "[stream][awaited][fault]") {
    NEEDS_DEVICE();
    check_child("child: a fault with a coroutine");
}

TEST_CASE("child: a fault before a host function", "[.child][defect]") {
    std::atomic<bool> called{false};
    Faulty f;
    f.bad.call([&] { called = true; });
    f.fault();
    CHECK(eventually([&] { return f.bad.failed(); }));
    CHECK_THROWS_AS(f.bad.synchronize(patience), MemoryFault);
    f.check_busy();
    f.driver.callbacks().drain(patience);
    CHECK_FALSE(called);
}

TEST_CASE("a stream with a host function enqueued after a memory fault fails although no thread waits",
          "[stream][awaited][fault]") {
    NEEDS_DEVICE();
    check_child("child: a fault before a host function");
}

TEST_CASE("a callback that throws does not keep others from running", "[stream][awaited][error]") {
    NEEDS_DEVICE();
    Told second, third;  // outlive the streams
    Kernels f;
    Stream bad(f.gpu), good(f.gpu);
    const Words flag(1);
    for (Stream* stream : {&bad, &good}) f.spin.launch(*stream, {.grid = 1, .workgroup = 1}, flag.data());
    break_queue(bad);
    bad.on_complete([](const std::exception_ptr&) { throw std::out_of_range("seven"); });
    bad.on_complete(second.callback());
    good.on_complete(third.callback());
    flag.set(1);
    CHECK_THROWS_AS(second.good(), QueueError);
    CHECK(third.good());
    CHECK_THROWS_WITH(f.driver.callbacks().drain(patience), "seven");
}

TEST_CASE("a stream of a failed queue moves to another queue and runs its callback", "[stream][awaited][pool]") {
    NEEDS_DEVICE();
    Told told;  // outlives the streams
    Neighbours f;
    f.scale_add.launch(*f.good, {.grid = 1, .workgroup = 1}, f.data.data(), 0u, 7u, 1u);
    f.good->on_complete(told.callback());
    f.flag.set(1);
    CHECK(told.good());
    CHECK(f.data.get() == 7);
}

TEST_CASE("a stream of a failed queue moves to another queue and runs its coroutine and host function",
          "[stream][awaited][pool]") {
    NEEDS_DEVICE();
    std::promise<std::uint32_t> seen;  // outlives the streams
    Neighbours f;
    f.scale_add.launch(*f.good, {.grid = 1, .workgroup = 1}, f.data.data(), 0u, 7u, 1u);
    f.good->call([&] { seen.set_value(f.data.get()); });
    Task task = awaits(*f.good);
    auto value = seen.get_future();
    f.flag.set(1);
    REQUIRE(value.wait_for(patience) == std::future_status::ready);
    CHECK(value.get() == 7);
    REQUIRE(task.done.wait_for(patience) == std::future_status::ready);
    CHECK_NOTHROW(task.done.get());
}

TEST_CASE("a callback runs on a stream that waits for a stream of a failed queue", "[stream][awaited][pool]") {
    NEEDS_DEVICE();
    Told told;  // outlives the streams
    Neighbours f;
    Stream dependent(f.gpu, {.exclusive_queue = true});
    f.scale_add.launch(*f.good, {.grid = 1, .workgroup = 1}, f.data.data(), 0u, 7u, 1u);
    dependent.wait(f.good->record());
    f.scale_add.launch(dependent, {.grid = 1, .workgroup = 1}, f.data.data(), 2u, 1u, 1u);
    dependent.on_complete(told.callback());
    f.flag.set(1);
    CHECK(told.good());
    CHECK(f.data.get() == 15);
}

namespace {
std::atomic<int> looks{0}, other_looks{0};
void look() noexcept { ++looks; }
void look_elsewhere() noexcept { ++other_looks; }
}  // namespace

TEST_CASE("the callback thread polls for failures while a waiter requests it, once for all waiters",
          "[signal][awaited]") {
    NEEDS_DEVICE();
    const Device device;
    SignalCallbacks callbacks;
    const Signal never = Signal::create(1);
    looks = other_looks = 0;
    std::vector<SignalCallbacks::Id> ids;
    for (int i = 0; i < 100; ++i) ids.push_back(callbacks.on_signal(never, Condition::less, 1, [] {}, look));
    ids.push_back(callbacks.on_signal(never, Condition::less, 1, [] {}, look_elsewhere));
    const auto plain = callbacks.on_signal(never, Condition::less, 1, [] {});
    CHECK(eventually([] { return looks >= 3 && other_looks >= 3; }));
    CHECK(looks < 100);
    for (const auto id : ids) CHECK(callbacks.cancel(id));
    const int before = looks;
    std::this_thread::sleep_for(3 * detail::poll_period);
    CHECK(looks <= before + 1);
    CHECK(callbacks.cancel(plain));
}

namespace {
std::array<std::atomic<int>, 9> looks_of{};
template <std::size_t I>
void look_of() noexcept {
    ++looks_of[I];
}

template <std::size_t... I>
std::array<SignalCallbacks::Meanwhile, sizeof...(I)> all_looks(std::index_sequence<I...>) {
    return {look_of<I>...};
}
}  // namespace

TEST_CASE("the callback thread runs every poller that waiters request", "[signal][awaited]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal never = Signal::create(1);
    SignalCallbacks callbacks;
    for (auto& count : looks_of) count = 0;
    std::vector<SignalCallbacks::Id> ids;
    for (const auto look : all_looks(std::make_index_sequence<looks_of.size()>()))
        ids.push_back(callbacks.on_signal(never, Condition::less, 1, [] {}, look));
    const auto seen = [](const std::atomic<int>& count) { return count >= 2; };
    CHECK(eventually([&] { return std::all_of(looks_of.begin(), looks_of.end(), seen); }));
    // The last poller is no longer requested.
    CHECK(callbacks.cancel(ids.back()));
    const int last = looks_of.back(), first = looks_of.front();
    CHECK(eventually([&] { return looks_of.front() >= first + 3; }));
    CHECK(looks_of.back() <= last + 1);
}
