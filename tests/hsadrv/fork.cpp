// A forked child: every call that needs the runtime is refused by name, and the parent's objects stay its own.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "hsadrv/allocator.hpp"
#include "hsadrv/dma_copy.hpp"
#include "hsadrv/graph.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "tests/hsadrv/device.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

/// The exit status of a forked child that runs `body`, or minus the signal that ended it.
int status_in_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        ::_exit(body());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("in a forked child every call throws with its name", "[driver][process][fork]") {
    NEEDS_DEVICE();
    const Device device;
    const Context gpu(device.gpu);
    Stream stream = gpu.stream(), other = gpu.stream();
    SignalPool pool;
    Allocator allocator(device_pool(device.gpu));
    const Executable code = Executable::load(device.gpu, test_support::test_file("stream.hsaco"));
    const Kernel kernel = code.kernel("store_at");
    const Allocation data = gpu.allocate(4096), host = gpu.allocate_host(4096);
    const Event event = stream.record(), timed = stream.record({.timing = true});
    const Signal signal = Signal::create(1);
    const Queue queue = Queue::create(device.gpu);
    const auto capture_launch = [&] {
        Stream captured = gpu.stream();
        captured.begin_capture();
        kernel.launch(captured, {.grid = 1, .workgroup = 1}, reinterpret_cast<std::uint64_t>(data.data()), 1u);
        return captured.end_capture();
    };
    Graph launched = capture_launch();
    launched.launch(stream);
    Graph graph;
    {
        Stream captured = gpu.stream();
        captured.begin_capture();
        captured.fill_async(static_cast<std::uint32_t*>(data.data()), 1u, 1024);
        graph = captured.end_capture();
    }
    stream.synchronize(patience);
    struct Row {
        const char* what;
        const char* names;  ///< in the message
        std::function<void()> call;
    };
    const auto launch = [&] {
        kernel.launch(stream, {.grid = 1, .workgroup = 1}, reinterpret_cast<std::uint64_t>(data.data()), 1u);
    };
    const Row rows[] = {
        {"launch", "", launch},
        {"submit", "Stream::submit", [&] { stream.submit(barrier_and({})); }},
        {"copy_async", "", [&] { stream.copy_async(data.data(), host.data(), 64); }},
        {"fill_async", "", [&] { stream.fill_async(static_cast<std::uint32_t*>(data.data()), 1u, 16); }},
        {"record", "Stream::record", [&] { stream.record(); }},
        {"wait for an event", "Stream::wait", [&] { other.wait(event); }},
        {"wait for a signal", "Stream::wait", [&] { stream.wait(signal, Condition::less, 1); }},
        {"decrement", "Stream::decrement", [&] { stream.decrement(signal); }},
        {"call", "Stream::call", [&] { stream.call([] {}); }},
        {"on_complete", "Stream::on_complete", [&] { stream.on_complete([](std::exception_ptr) {}); }},
        {"begin_capture", "Stream::begin_capture", [&] { stream.begin_capture(); }},
        {"end_capture", "Stream::end_capture", [&] { stream.end_capture(); }},
        {"graph", "Graph::launch", [&] { graph.launch(stream); }},
        {"graph of one kernel", "Graph::launch", [&] { launched.launch(stream); }},
        {"update", "Graph::update",
         [&] {
             launched.update(0, kernel, {.grid = 1, .workgroup = 1}, reinterpret_cast<std::uint64_t>(data.data()), 2u);
         }},
        {"profile", "Stream::profile", [&] { stream.profile(true); }},
        {"take_profile", "Stream::take_profile", [&] { stream.take_profile(); }},
        {"synchronize", "Stream::synchronize", [&] { stream.synchronize(1s); }},
        {"query", "Stream::query", [&] { stream.query(); }},
        {"progress", "Stream::progress", [&] { static_cast<void>(stream.progress()); }},
        {"Event::query", "Event::query", [&] { event.query(); }},
        {"Event::synchronize", "Event::synchronize", [&] { event.synchronize(1s); }},
        {"Event::time", "Event::time", [&] { timed.time(); }},
        {"elapsed", "Event::time", [&] { elapsed(timed, timed); }},
        {"QueueRef::submit", "QueueRef::reserve", [&] { queue.ref().submit(barrier_and({})); }},
        {"QueueRef::try_submit", "QueueRef::reserve", [&] { queue.ref().try_submit(barrier_and({})); }},
        {"QueueRef::wait", "QueueRef::wait", [&] { queue.ref().wait(signal, Condition::less, 1, 1s); }},
        {"dma_copy", "hsadrv::dma_copy",
         [&] { dma_copy({data.data(), device.gpu}, {host.data(), device.driver.cpus().front()}, 64, signal); }},
        {"SignalCallbacks::counts", "SignalCallbacks::counts",
         [&] { static_cast<void>(device.driver.callbacks().counts()); }},
        {"SignalPool::counts", "SignalPool::counts", [&] { static_cast<void>(pool.counts()); }},
        {"Allocator::statistics", "Allocator::statistics", [&] { static_cast<void>(allocator.statistics()); }},
        {"Allocator::release_cached", "Allocator::release_cached", [&] { allocator.release_cached(); }},
        {"SignalCallbacks::drain", "SignalCallbacks::drain", [&] { device.driver.callbacks().drain(); }},
        {"set_priority", "QueueRef::set_priority", [&] { queue.ref().set_priority(QueuePriority::high); }},
        {"set_cu_mask", "QueueRef::set_cu_mask", [&] { queue.ref().set_cu_mask({}); }},
        {"Signal::wait", "SignalRef::wait", [&] { signal.wait(Condition::less, 1, 1s); }},
        {"Driver", "Driver", [] { Driver(); }},
        {"Driver::current", "Driver::current", [] { Driver::current(); }},
        {"Context", "Driver", [&] { Context again(device.gpu); }},
        {"Signal", "Signal::create", [] { Signal::create(1); }},
        {"SignalPool", "SignalPool::acquire", [&] { pool.acquire(1); }},
        {"Queue", "Queue::create", [&] { Queue::create(device.gpu); }},
        {"Stream", "Stream", [&] { Stream another(device.gpu); }},
        {"Allocation", "Allocation::from_pool", [&] { gpu.allocate(4096); }},
        {"host Allocation", "host_pool", [&] { gpu.allocate_host(4096); }},
        {"Executable", "Executable::load",
         [&] { Executable::load(device.gpu, test_support::test_file("stream.hsaco")); }},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const int status = status_in_child([&] {
            try {
                row.call();
            } catch (const ForkedChild& error) {
                const std::string text = error.what();
                return text.find("forked") != std::string::npos && text.find(row.names) != std::string::npos ? 0 : 3;
            } catch (const std::exception&) {
                return 1;
            }
            return 2;
        });
        CHECK(status == 0);
    }
    const auto waits = device.driver.callbacks().on_signal(signal, Condition::less, 1, [] {});
    CHECK(status_in_child([&] { return device.driver.callbacks().cancel(waits) ? 1 : 0; }) == 0);
    CHECK(status_in_child([&] { return queue.ref().read_index() + queue.ref().write_index() == 0 ? 0 : 1; }) == 0);
    CHECK(device.driver.callbacks().cancel(waits));
    CHECK(status_in_child([] { return Driver::try_current() ? 1 : 0; }) == 0);
    CHECK(Driver::try_current());
    CHECK_NOTHROW(Signal::create(1));
    CHECK_NOTHROW(gpu.stream().synchronize(patience));
}

TEST_CASE("a child that is forked while another thread asks its stream refuses launches", "[driver][process][fork]") {
    NEEDS_DEVICE();
    const Device device;
    const Context gpu(device.gpu);
    Stream busy = gpu.stream(), idle = gpu.stream();
    const Executable code = Executable::load(device.gpu, test_support::test_file("stream.hsaco"));
    const Kernel kernel = code.kernel("store_at");
    const Allocation data = gpu.allocate(4096);
    const auto launch = [&] {
        kernel.launch(idle, {.grid = 1, .workgroup = 1}, reinterpret_cast<std::uint64_t>(data.data()), 1u);
    };
    launch();
    idle.synchronize(patience);
    const Signal open = Signal::create(1);
    busy.wait(open, Condition::less, 1);
    std::atomic<bool> over{false};
    std::thread asks([&] {
        while (!over) busy.query();  // holds the list of streams most of the time
    });
    unsigned refused = 0;
    for (int i = 0; i < 20; ++i)
        refused += status_in_child([&] {
                       try {
                           launch();
                       } catch (const ForkedChild&) {
                           return 0;
                       }
                       return 1;
                   }) == 0;
    over = true;
    asks.join();
    open.store(0);
    CHECK(refused == 20);
}

TEST_CASE("after fork and exec the runtime starts again", "[driver][process][fork]") {
    NEEDS_DEVICE();
    const Device device;
    const Signal signal = Signal::create(1);
    check_child("child: its own driver");
    CHECK(signal.load() == 1);
    CHECK_NOTHROW(Queue::create(device.gpu));
}

TEST_CASE("child: its own driver", "[.child]") {
    const Device device;
    CHECK(Signal::create(3).load() == 3);
}

TEST_CASE("a child that is forked while other threads have locks of the callbacks and of a pool ends their objects",
          "[driver][process][fork]") {
    NEEDS_DEVICE();
    const Device device;
    auto pool = std::make_unique<SignalPool>();
    std::atomic<bool> over{false};
    std::thread uses([&] {
        while (!over) {
            static_cast<void>(pool->acquire(1));
            static_cast<void>(device.driver.callbacks().counts());
        }
    });
    for (int round = 0; round < 30; ++round) {
        const int status = status_in_child([&] {
            static_cast<void>(device.driver.callbacks().take_error());
            pool.reset();
            return 0;
        });
        if (status != 0) {
            CHECK(status == 0);
            break;
        }
    }
    over = true;
    uses.join();
}

TEST_CASE("destructors in a forked child leave the parent's objects alone", "[driver][process][fork]") {
    NEEDS_DEVICE();
    auto driver = std::make_unique<Driver>();
    // The memory of the kernels' services is the parent's, too.
    Executable::load(driver->gpus().front(), test_support::test_file("services.hsaco")).kernel("hello");
    auto queue = std::make_unique<Queue>(Queue::create(driver->gpus().front()));
    auto signal = std::make_unique<Signal>(Signal::create(1));
    const int status = status_in_child([&] {
        signal.reset();
        queue.reset();
        driver.reset();
        return 0;
    });
    CHECK(status == 0);
    queue->ref().submit(barrier_and({}, signal->native()));
    CHECK(signal->wait(Condition::equal, 0, patience) == 0);
}

TEST_CASE("a forked child leaves the scope of an auto_synchronize() whose stream another thread uses",
          "[driver][process][fork]") {
    NEEDS_DEVICE();
    const Device device;
    Stream stream(device.gpu);
    std::atomic<bool> held{false}, over{false};
    std::thread uses([&] {
        const auto lock = stream.core().lock_data("test");  // the child's for ever
        held = true;
        while (!over) std::this_thread::yield();
    });
    while (!held) std::this_thread::yield();
    const int status = status_in_child([&] {
        const auto scope = stream.auto_synchronize(patience);
        return 0;
    });
    over = true;
    uses.join();
    CHECK(status == 0);
}
