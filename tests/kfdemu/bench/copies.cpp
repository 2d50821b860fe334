// The bandwidth of copies by a kernel and by SDMA engines, next to what the host's memcpy reaches. To be run with
// different numbers of workers. Not a pass/fail test: `meson test -C build --benchmark`.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;

double cpu_ms() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto ms = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
    };
    return ms(used.ru_utime) + ms(used.ru_stime);
}

double median(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Prints the median bandwidth of `action`, which reads and writes `bytes` each, and its CPU time: on a busy machine
/// the second alone tells whether workers hinder each other.
template <class Action>
void report(const char* what, std::size_t bytes, Action&& action) {
    constexpr unsigned kWarmUps = 3, kSamples = 21;
    std::vector<double> gigabytes, cpu;
    for (unsigned n = 0; n < kWarmUps + kSamples; ++n) {
        const auto begin = std::chrono::steady_clock::now();
        const double used_ms = cpu_ms();
        action();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (n < kWarmUps) continue;
        gigabytes.push_back(2.0 * static_cast<double>(bytes) / 1e9 / took.count());
        cpu.push_back((cpu_ms() - used_ms) / (2.0 * static_cast<double>(bytes) / 1e9));
    }
    const double middle = median(gigabytes);
    std::printf("%s: median %.2f GB/s, p5 %.2f, p95 %.2f; %.0f ms of CPU time a GB\n", what, middle, gigabytes[1],
                gigabytes[19], median(cpu));
}

void copy_on_threads(std::byte* to, const std::byte* from, unsigned threads) {
    std::vector<std::thread> others;
    const std::size_t part = kBytes / threads;
    for (unsigned i = 1; i < threads; ++i)
        others.emplace_back([=] { std::memcpy(to + i * part, from + i * part, part); });
    std::memcpy(to, from, part);
    for (auto& other : others) other.join();
}

}  // namespace

TEST_CASE("the host's memcpy", "[bench]") {
    const auto from = std::make_unique<std::byte[]>(kBytes), to = std::make_unique<std::byte[]>(kBytes);
    report("memcpy, one thread", kBytes, [&] { copy_on_threads(to.get(), from.get(), 1); });
    report("memcpy, two threads", kBytes, [&] { copy_on_threads(to.get(), from.get(), 2); });
}

TEST_CASE("a kernel that copies a float a work-item", "[bench]") {
    Machine machine;
    Executable code{machine.gpu(), "bench"};
    Queue queue{machine.gpu()};
    const Kernel copy = code.kernel("copy");
    const Memory from{machine.gpu().coarse, kBytes, machine.agents()},
        to{machine.gpu().coarse, kBytes, machine.agents()};
    const Memory values = arguments(machine, copy, to.address(), from.address());
    report("copy kernel", kBytes, [&] { run_with(queue, copy, line(kBytes / sizeof(float), 256), values); });
}

TEST_CASE("copies between host and device, one way and both ways at once", "[bench]") {
    Machine machine;
    const Memory host{machine.cpu().coarse, 2 * kBytes, machine.agents()};
    const Memory device{machine.gpu().coarse, 2 * kBytes, machine.agents()};
    const auto start = [&](std::size_t at, bool to_device, hsa_signal_t done) {
        auto *on_host = host.as<std::byte>() + at, *on_device = device.as<std::byte>() + at;
        HSA_CHECK(hsa_amd_memory_async_copy(
            to_device ? on_device : on_host, to_device ? machine.gpu().agent : machine.cpu().agent,
            to_device ? on_host : on_device, to_device ? machine.cpu().agent : machine.gpu().agent, kBytes, 0, nullptr,
            done));
    };
    report("SDMA, one copy", kBytes, [&] {
        const Signal done;
        start(0, true, done);
        REQUIRE(done.completed());
    });
    report("SDMA, two copies at once", 2 * kBytes, [&] {
        const Signal done, back;
        start(0, true, done);
        start(kBytes, false, back);
        REQUIRE(done.completed());
        REQUIRE(back.completed());
    });
}
