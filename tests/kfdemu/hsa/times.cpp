// Time stamps of kernels and copies: hsa_amd_profiling_get_dispatch_time,
// hsa_amd_profiling_get_async_copy_time and the conversion between the GPU's clock and the system's.
#include <thread>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

std::uint64_t system_now() {
    std::uint64_t now = 0;
    HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
    return now;
}

std::uint64_t system_ticks(Duration time) {
    std::uint64_t frequency = 0;
    HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
    return static_cast<std::uint64_t>(std::chrono::duration<double>(time).count() * static_cast<double>(frequency));
}

hsa_amd_profiling_dispatch_time_t times_of(const Gpu& gpu, const Signal& signal) {
    hsa_amd_profiling_dispatch_time_t times{};
    HSA_CHECK(hsa_amd_profiling_get_dispatch_time(gpu.agent, signal, &times));
    return times;
}

struct Profiled {
    explicit Profiled(const Gpu& gpu) : queue{gpu} {
        HSA_CHECK(hsa_amd_profiling_set_profiler_enabled(queue.get(), 1));
    }
    Queue queue;
};

// The allowed difference of the two clocks: the runtime extrapolates one from the other.
const Duration kSlack = 1ms;

}  // namespace

TEST_CASE("a kernel's times are between the host's times before and after", "[device][times]") {
    NEEDS_GPUS(1);
    Machine machine;
    Profiled profiled{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory words{machine.cpu().fine, 4096, machine.agents()};
    std::memset(words.data(), 0, 4096);
    auto* word = words.as<volatile std::uint32_t>();
    const std::uint64_t before = system_now();
    const Launch launched = launch(machine, profiled.queue, code.kernel("spin"), line(1, 1), &word[0], &word[1]);
    run(machine, profiled.queue, code.kernel("nothing"), {});  // packets start in order: it has begun
    std::this_thread::sleep_for(30ms);
    word[0] = 1;
    REQUIRE(launched.completed());
    const std::uint64_t after = system_now(), slack = system_ticks(kSlack);
    const auto times = times_of(machine.gpu(), launched.done);
    CHECK(times.start <= times.end);
    CHECK(times.start + slack >= before);
    CHECK(times.end <= after + slack);
    CHECK(times.end - times.start >= system_ticks(20ms));
    CHECK(times.end - times.start <= after - before + slack);
}

TEST_CASE("the times of kernels with barrier bits do not overlap", "[device][times]") {
    NEEDS_GPUS(1);
    Machine machine;
    Profiled profiled{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    const Kernel count = code.kernel("count");
    const Memory counting = arguments(machine, count, total.data());
    std::vector<Signal> done(20);
    Shape shape = line(256);
    shape.barrier_bit = true;
    for (const Signal& signal : done) profiled.queue.submit(kernel_packet(count, shape, counting, signal));
    for (const Signal& signal : done) REQUIRE(signal.completed());
    std::uint64_t last_end = 0;
    for (const Signal& signal : done) {
        const auto times = times_of(machine.gpu(), signal);
        CHECK(times.start >= last_end);
        CHECK(times.end >= times.start);
        last_end = times.end;
    }
}

TEST_CASE("the clock a kernel reads converts to a system time within the kernel's own", "[device][times]") {
    NEEDS_GPUS(1);
    Machine machine;
    Profiled profiled{machine.gpu()};
    const Executable code{machine.gpu(), "clock"};
    const Memory ticks{machine.cpu().fine, 4096, machine.agents()};
    const Launch launched = launch(machine, profiled.queue, code.kernel("read_clock"), {}, ticks.data());
    REQUIRE(launched.completed());
    const auto times = times_of(machine.gpu(), launched.done);
    std::uint64_t converted = 0;
    HSA_CHECK(
        hsa_amd_profiling_convert_tick_to_system_domain(machine.gpu().agent, *ticks.as<std::uint64_t>(), &converted));
    CHECK(converted + system_ticks(kSlack) >= times.start);
    CHECK(converted <= times.end + system_ticks(kSlack));
}

TEST_CASE("GPU ticks convert in order", "[device][times]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "clock"};
    const Memory ticks{machine.cpu().fine, 4096, machine.agents()};
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i) {
        run(machine, queue, code.kernel("read_clock"), {}, ticks.data());
        std::uint64_t now = 0;
        HSA_CHECK(
            hsa_amd_profiling_convert_tick_to_system_domain(machine.gpu().agent, *ticks.as<std::uint64_t>(), &now));
        CHECK(now > last);
        last = now;
    }
}

TEST_CASE("a copy's times are between the host's times before and after", "[device][times]") {
    NEEDS_GPUS(1);
    Machine machine;
    HSA_CHECK(hsa_amd_profiling_async_copy_enable(true));
    constexpr std::size_t size = 8 << 20;
    const Memory host{machine.cpu().fine, size, machine.agents()}, device{machine.gpu().coarse, size, {}};
    std::memset(host.data(), 1, size);
    for (int i = 0; i < 5; ++i) {
        const bool up = i % 2;
        const Signal done;
        const std::uint64_t before = system_now();
        HSA_CHECK(hsa_amd_memory_async_copy(
            up ? device.data() : host.data(), up ? machine.gpu().agent : machine.cpu().agent,
            up ? host.data() : device.data(), up ? machine.cpu().agent : machine.gpu().agent, size, 0, nullptr, done));
        REQUIRE(done.completed());
        const std::uint64_t after = system_now(), slack = system_ticks(kSlack);
        hsa_amd_profiling_async_copy_time_t times{};
        HSA_CHECK(hsa_amd_profiling_get_async_copy_time(done, &times));
        CHECK(times.start < times.end);
        CHECK(times.start + slack >= before);
        CHECK(times.end <= after + slack);
    }
    HSA_CHECK(hsa_amd_profiling_async_copy_enable(false));
}
