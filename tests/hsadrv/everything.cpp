// Eight threads use every operation while queues fail and streams end: results of other streams are right,
// every callback runs, and only injected failures occur. Runs for HSADRV_STRESS_SECONDS (default 3), seeded by
// HSADRV_TEST_SEED. tools/test --long runs it with ThreadSanitizer.
#include <cstdlib>
#include <thread>
#include <vector>

#include "hsadrv/context.hpp"
#include "tests/hsadrv/everything/doomed.hpp"
#include "tests/hsadrv/everything/innocent.hpp"

using namespace hsadrv;
using namespace device_test;
using namespace device_test::everything;

namespace {

/// The stream that all threads use.
void share(Gpu& gpu, Random& random) {
    const auto n = static_cast<std::uint32_t>(random() % 100);
    switch (random() % 4) {
        case 0:
        case 1:
            gpu.add(gpu.shared, n);
            gpu.added += n;
            break;
        case 2:
            gpu.adds_three.launch(gpu.shared, patience);
            gpu.added += 3;
            break;
        case 3:
            try {
                gpu.shared.progress();
                gpu.shared.synchronize(soon);
            } catch (const Timeout&) {
            }
            break;
    }
}

/// The thread's own stream, and memory of the allocator.
void use_thread_stream(Everything& all, Context& context, Gpu& gpu, Random& random) {
    Stream& stream = context.thread_stream();
    const auto value = static_cast<std::uint32_t>(random());
    std::vector<std::uint32_t> host(count);
    Block block = gpu.allocator.allocate(bytes, stream);
    stream.fill_async(block.as<std::uint32_t>(), value, count, patience);
    stream.copy_async(host.data(), block.data(), bytes, patience);
    block.reset();
    stream.synchronize(patience);
    all.complaints.unless(host == std::vector<std::uint32_t>(count, value), "memory of a thread's stream");
}

/// A callback on a signal that another thread may store to first, or that is cancelled.
void signal_callback(Everything& all, Random& random) {
    const Signal signal = Signal::create(1);
    SignalCallbacks& callbacks = all.driver.callbacks();
    std::atomic<int> ran{0};
    const SignalCallbacks::Id id = callbacks.on_signal(signal, Condition::less, 1, [&] { ++ran; });
    const bool stored = one_in(random, 2);
    if (stored) signal.store(0);
    const bool cancelled = callbacks.cancel(id);
    all.complaints.unless(ran == (cancelled ? 0 : 1), "a callback both ran and was cancelled, or neither");
    all.complaints.unless(stored || cancelled, "a callback ran before its signal");
}

void work(Everything& all, unsigned thread, Deadline end) {
    Random random(thread + 8 * static_cast<unsigned>(test_support::test_seed()));
    const auto any_gpu = [&]() -> Gpu& { return *all.gpus[random() % all.gpus.size()]; };
    const auto innocent = [&] { return std::make_unique<Innocent>(all, any_gpu(), random); };
    std::vector<std::unique_ptr<Innocent>> innocents;
    for (int i = 0; i < 3; ++i) innocents.push_back(innocent());
    std::unique_ptr<Doomed> doomed;
    Gpu& own = *all.gpus[thread % all.gpus.size()];
    Context context{own.gpu};
    // At least a few operations, however slow the machine is.
    for (int i = 0; i < 30 || !end.passed(); ++i) {
        ++all.operations;
        const unsigned what = random() % 16;
        if (what < 10) {
            innocents[random() % innocents.size()]->work(random);
        } else if (what < 12) {
            share(any_gpu(), random);
        } else if (what < 15) {
            if (!doomed) doomed = std::make_unique<Doomed>(all, any_gpu(), random);
            doomed->work(random);
            if (!one_in(random, 8)) continue;
            doomed->end(random);
            doomed.reset();
        } else if (one_in(random, 4)) {
            signal_callback(all, random);
        } else if (one_in(random, 3)) {
            use_thread_stream(all, context, own, random);
        } else if (one_in(random, 8)) {
            auto& one = innocents[random() % innocents.size()];
            one->check();
            one = innocent();
        }
    }
    for (auto& one : innocents) one->check();
}

unsigned long stress_seconds() {
    const char* text = std::getenv("HSADRV_STRESS_SECONDS");
    return text ? std::strtoul(text, nullptr, 10) : 3;
}

}  // namespace

TEST_CASE("eight threads use every operation while queues fail and streams end: all other results are right",
          "[stress]") {
    NEEDS_DEVICE();
    Everything all;
    const Deadline end{std::chrono::seconds(stress_seconds())};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            try {
                work(all, t, end);
            } catch (const std::exception& error) {
                all.complaints.add("thread " + std::to_string(t) + ": " + error.what());
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& gpu : all.gpus) {
        CHECK_NOTHROW(gpu->shared.synchronize(patience));
        CHECK(gpu->sum.get() == gpu->added);
    }
    CHECK_NOTHROW(all.driver.callbacks().drain(patience));
    CHECK(all.told == all.owed);
    CHECK(eventually([&] { return all.dropped == all.kept; }));
    for (const std::string& text : all.complaints.take()) FAIL_CHECK(text);
    WARN("seed " << test_support::test_seed() << ": " << all.operations << " operations, " << all.broken
                 << " queues broken, " << all.closed << " streams closed, " << all.threw << " host functions threw");
}
