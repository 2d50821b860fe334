// What the emulated device costs and how fast it answers, each figure beside its goal: while it is idle, for
// an empty kernel, and for a kernel that two workers share. Nothing passes or fails here: figures are of the
// machine and what else runs on it.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "kfdemu/hsa/kernel.hpp"

namespace {

using namespace hsa_test;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Of all threads together, some time after a queue was last used.
void idle() {
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    run(machine, queue, code.kernel("nothing"), Shape{});
    std::this_thread::sleep_for(std::chrono::seconds{2});
    const Clock::time_point begin = Clock::now();
    const double before = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::seconds{2});
    const double used = cpu_seconds() - before;
    std::printf("idle device: %.2f %% of a core (goal: below 1 %%)\n", 100 * used / seconds_since(begin));
}

/// Each kernel after the one before has completed; the waiter spins.
void empty_kernel() {
    constexpr int kWarmUp = 500, kLaunches = 10'000;
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Kernel nothing = code.kernel("nothing");
    const Memory none = arguments(machine, nothing);
    const Signal done;
    std::vector<double> microseconds;
    for (int n = -kWarmUp; n < kLaunches; ++n) {
        done.store(1);
        const Clock::time_point begin = Clock::now();
        queue.submit(kernel_packet(nothing, Shape{}, none, done));
        if (!done.wait(HSA_SIGNAL_CONDITION_LT, 1, kDeadline, HSA_WAIT_STATE_ACTIVE)) std::exit(1);
        if (n >= 0) microseconds.push_back(1e6 * seconds_since(begin));
    }
    std::sort(microseconds.begin(), microseconds.end());
    const auto at = [&](double part) {
        return microseconds[static_cast<std::size_t>(part * (kLaunches - 1))];
    };
    std::printf(
        "empty kernel, submit to completion: median %.1f us, 5 %% below %.1f us, 95 %% below %.1f us (goal: "
        "median below 20 us)\n",
        at(0.5), at(0.05), at(0.95));
}

/// The best of several, in seconds.
void compute() {
    constexpr std::uint32_t kItems = 64 * 512, kRounds = 2000;
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "bench"};
    const Memory out{machine.cpu().fine, kItems * sizeof(float), machine.agents()};
    double best = 1e9;
    for (int n = 0; n < 5; ++n) {
        const Clock::time_point begin = Clock::now();
        run(machine, queue, code.kernel("multiply_add"), line(kItems), out.data(), kRounds);
        best = std::min(best, seconds_since(begin));
    }
    std::printf("%.6f\n", best);
}

/// This program's compute() with so many workers.
double compute_with(const std::string& self, unsigned workers) {
    setenv("KFDEMU", ("on,workers=" + std::to_string(workers)).c_str(), 1);
    std::FILE* child = popen((self + " compute").c_str(), "r");
    double seconds = 0;
    if (!child || std::fscanf(child, "%lf", &seconds) != 1) std::exit(1);
    pclose(child);
    return seconds;
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1 && std::string{arguments[1]} == "compute") return compute(), 0;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    setenv("KFDEMU", "on", 0);
    idle();
    empty_kernel();
    const double one = compute_with(arguments[0], 1), two = compute_with(arguments[0], 2);
    std::printf(
        "compute kernel: %.1f ms with one worker, %.1f ms with two: %.2f times as fast (goal: never below 1, "
        "1.8 with two cores to itself)\n",
        1e3 * one, 1e3 * two, one / two);
}
