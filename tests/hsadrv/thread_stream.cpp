// A thread's default stream: one per thread and GPU, ended with the thread or the context, in either order.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "hsadrv/base/runtime.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

std::size_t descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

void check_works(const Kernels& f, Stream& stream) {
    const Words data(1);
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
    stream.synchronize(patience);
    CHECK(data.get() == 7);
}

}  // namespace

TEST_CASE("a thread has one stream per GPU, from any context", "[context][thread_stream]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Context gpu(f.gpu);
    Stream& mine = gpu.thread_stream();
    CHECK(mine.agent() == f.gpu);
    check_works(f, mine);
    CHECK(&gpu.thread_stream() == &mine);
    {
        const Context inner(f.gpu);
        CHECK(&inner.thread_stream() == &mine);
        CHECK(&Context::current().thread_stream() == &mine);
        for (const AgentRef other : f.driver.gpus()) {
            const Context there(other);
            CHECK(there.thread_stream().agent() == other);
            CHECK((&there.thread_stream() == &mine) == (other == f.gpu));
        }
    }
    check_works(f, mine);
    Stream* theirs = nullptr;
    std::thread([&] {
        theirs = &gpu.thread_stream();
        CHECK(&gpu.thread_stream() == theirs);
    }).join();
    CHECK(theirs != &mine);
}

TEST_CASE("no thread's stream waits for another's", "[context][thread_stream]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Context gpu(f.gpu);
    const Words flag(1);
    f.spin.launch(gpu.thread_stream(), {.grid = 1, .workgroup = 1}, flag.data());
    std::thread([&] { check_works(f, gpu.thread_stream()); }).join();
    CHECK_FALSE(gpu.thread_stream().query());
    flag.set(1);
    gpu.thread_stream().synchronize(patience);
}

TEST_CASE("a thread synchronises its stream before it ends", "[context][thread_stream]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Context gpu(f.gpu);
    const Words data(64);
    for (std::uint32_t round = 1; round <= 10; ++round) {
        std::thread([&] {
            for (int i = 0; i < 20; ++i)
                f.scale_add.launch(gpu.thread_stream(), {.grid = 64, .workgroup = 64}, data.data(), 1u, 1u, 64u);
        }).join();
        CHECK(data.get(63) == 20 * round);
    }
}

TEST_CASE("the last context of a GPU synchronises the streams of running threads, which later get new ones",
          "[context][thread_stream]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words data(2);
    std::barrier step(2);
    std::optional<Context> gpu(std::in_place, f.gpu);
    std::thread other([&] {
        f.scale_add.launch(gpu->thread_stream(), {.grid = 1, .workgroup = 1}, data.data(), 1u, 3u, 1u);
        step.arrive_and_wait();
        step.arrive_and_wait();  // the context ends here
        const Context again(f.gpu);
        f.scale_add.launch(again.thread_stream(), {.grid = 1, .workgroup = 1}, data.data(), 2u, 1u, 1u);
        again.thread_stream().synchronize(patience);
    });
    f.scale_add.launch(gpu->thread_stream(), {.grid = 1, .workgroup = 1}, data.data() + 1, 1u, 5u, 1u);
    step.arrive_and_wait();
    {
        const Context inner(f.gpu);
        gpu.reset();
        CHECK_NOTHROW(inner.thread_stream().query());  // another context exists
    }
    CHECK(data.get() == 3);
    CHECK(data.get(1) == 5);
    step.arrive_and_wait();
    other.join();
    CHECK(data.get() == 7);
}

TEST_CASE("a thread's stream does not keep the runtime alive after the contexts", "[context][thread_stream]") {
    NEEDS_DEVICE();
    for (int round = 0; round < 3; ++round) {
        {
            const Kernels f;
            const Context gpu(f.gpu);
            check_works(f, gpu.thread_stream());
        }
        CHECK_THROWS_AS(Driver::current(), Error);
    }
}

TEST_CASE("short-lived threads and contexts leak nothing", "[context][thread_stream][stress]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Context gpu(f.gpu);
    const Words data(4);
    std::atomic<int> failures{0};
    const auto crowd = [&](int rounds) {
        for (int round = 0; round < rounds; ++round) {
            std::vector<std::thread> threads;
            for (int t = 0; t < 4; ++t)
                threads.emplace_back([&, t] {
                    try {
                        f.scale_add.launch(gpu.thread_stream(), {.grid = 1, .workgroup = 1}, data.data() + t, 1u, 0u,
                                           1u);
                    } catch (const std::exception&) {
                        ++failures;
                    }
                });
            for (std::thread& thread : threads) thread.join();
        }
    };
    crowd(5);
    const std::size_t allocations = live_allocations().size(), files = descriptors();
    const std::size_t signals = f.driver.runtime().signals().counts().live;
    crowd(50);
    CHECK(failures == 0);
    CHECK(live_allocations().size() == allocations);
    CHECK(descriptors() == files);
    CHECK(f.driver.runtime().signals().counts().live == signals);
}

TEST_CASE("threads and the context end concurrently: each stream ends once", "[context][thread_stream][stress]") {
    NEEDS_DEVICE();
    const Kernels f;
    std::atomic<int> failures{0};
    for (int round = 0; round < 20; ++round) {
        const Words data(4);
        std::vector<std::thread> threads;
        std::barrier ready(5);
        {
            const Context gpu(f.gpu);
            for (std::size_t t = 0; t < 4; ++t)
                threads.emplace_back([&, t] {
                    try {
                        f.scale_add.launch(gpu.thread_stream(), {.grid = 1, .workgroup = 1}, data.data() + t, 0u, 9u,
                                           1u);
                    } catch (const std::exception&) {
                        ++failures;
                    }
                    ready.arrive_and_wait();
                });
            ready.arrive_and_wait();
        }
        for (std::thread& thread : threads) thread.join();
        for (std::size_t t = 0; t < 4; ++t) CHECK(data.get(t) == 9);
    }
    CHECK(failures == 0);
}

TEST_CASE("a thread's failed stream is replaced when it is closed", "[context][thread_stream][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Context gpu(f.gpu);
    CHECK(gpu.close_thread_stream());
    break_queue(gpu.thread_stream());
    CHECK_THROWS_AS(gpu.thread_stream().synchronize(patience), QueueError);
    std::thread([&] { check_works(f, gpu.thread_stream()); }).join();
    CHECK(gpu.thread_stream().failed());
    CHECK_FALSE(gpu.close_thread_stream());
    check_works(f, gpu.thread_stream());
    CHECK(gpu.close_thread_stream(patience));
    check_works(f, gpu.thread_stream());
}

namespace {
/// Requests the stream during the destruction of the thread's storage.
struct Late {
    const Context* gpu = nullptr;
    std::atomic<int>* refused = nullptr;
    ~Late() {
        if (gpu == nullptr) return;
        try {
            gpu->thread_stream();
        } catch (const Error&) {
            ++*refused;
        }
        if (gpu->close_thread_stream()) ++*refused;
    }
};
}  // namespace

TEST_CASE("a thread whose streams have ended gets no new one", "[context][thread_stream][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Context gpu(f.gpu);
    std::atomic<int> refused{0};
    std::thread([&] {
        thread_local Late late;  // before the stream: destroyed after it
        late.gpu = &gpu;
        late.refused = &refused;
        gpu.thread_stream().synchronize(patience);
    }).join();
    CHECK(refused == 2);
}

TEST_CASE("in a forked child a thread has no stream, and exits normally", "[context][thread_stream][fork]") {
    NEEDS_DEVICE();
    const Kernels f;
    auto gpu = std::make_unique<Context>(f.gpu);
    check_works(f, gpu->thread_stream());
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        int status = 1;
        try {
            gpu->thread_stream();
        } catch (const ForkedChild& error) {
            status = std::string(error.what()).find("thread_stream") == std::string::npos ? 2 : 0;
        }
        if (!gpu->close_thread_stream()) status = 3;
        gpu.reset();
        ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    check_works(f, gpu->thread_stream());
}

TEST_CASE("child: exits with threads' streams", "[.child]") {
    static const Kernels f;
    static const Words data(2);       // its kernels use it until the streams end
    static const Context gpu(f.gpu);  // ends with the statics, after the main thread's storage
    f.scale_add.launch(gpu.thread_stream(), {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
    std::atomic<bool> begun{false};
    std::thread([&begun] {
        f.scale_add.launch(gpu.thread_stream(), {.grid = 1, .workgroup = 1}, data.data() + 1, 1u, 0u, 1u);
        begun = true;
        for (;;) std::this_thread::sleep_for(1h);
    }).detach();
    while (!begun) std::this_thread::yield();
    std::exit(0);
}

TEST_CASE("a process may exit with threads' streams, including those of running threads", "[context][thread_stream]") {
    NEEDS_DEVICE();
    for (int round = 0; round < 3; ++round) {
        const ChildResult child = run_test_in_child("child: exits with threads' streams", "HSADRV_TEST", "1");
        INFO(child.output);
        CHECK(child.status == 0);
    }
}
