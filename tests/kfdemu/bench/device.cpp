// Times of the device, each with its goal. Not a pass/fail test: `meson test -C build --benchmark`.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

using Clock = std::chrono::steady_clock;

struct Samples {
    std::vector<double> us;

    double at(double fraction) {
        std::sort(us.begin(), us.end());
        return us[static_cast<std::size_t>(fraction * static_cast<double>(us.size() - 1))];
    }
};

template <class Action>
Samples measure(unsigned warm_ups, unsigned count, Action&& action) {
    Samples samples;
    for (unsigned i = 0; i < warm_ups + count; ++i) {
        const auto start = Clock::now();
        action();
        const std::chrono::duration<double, std::micro> took = Clock::now() - start;
        if (i >= warm_ups) samples.us.push_back(took.count());
    }
    return samples;
}

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

TEST_CASE("an idle device costs little", "[bench]") {
    Machine machine;
    Queue queue{machine.gpu()};
    REQUIRE(queue.drains());
    std::this_thread::sleep_for(1s);
    const double before = cpu_seconds();
    std::this_thread::sleep_for(3s);
    std::printf("idle device, one queue: %.2f %% of a core (goal: below 1 %%)\n", (cpu_seconds() - before) / 3 * 100);
}

TEST_CASE("an empty kernel, submit to completion, its waiter spinning", "[bench]") {
    Machine machine;
    Executable code{machine.gpu(), "work"};
    Queue queue{machine.gpu()};
    const Kernel nothing = code.kernel("nothing");
    const Memory no_arguments = arguments(machine, nothing);
    Signal done;
    Samples samples = measure(300, 3000, [&] {
        done.store(1);
        queue.submit(kernel_packet(nothing, line(64), no_arguments, done));
        while (done.load() != 0) {
        }
    });
    std::printf("empty kernel: median %.1f us, p5 %.1f, p95 %.1f, n %zu (goal: median below 20 us)\n", samples.at(0.5),
                samples.at(0.05), samples.at(0.95), samples.us.size());
}

TEST_CASE("empty kernels, one doorbell for many", "[bench]") {
    Machine machine;
    Executable code{machine.gpu(), "work"};
    Queue queue{machine.gpu(), 1024};
    const Kernel nothing = code.kernel("nothing");
    const Memory no_arguments = arguments(machine, nothing);
    constexpr unsigned kBatch = 500;
    Samples samples = measure(3, 41, [&] {
        Signal done;
        std::uint64_t last = 0;
        for (unsigned i = 0; i < kBatch; ++i) {
            auto packet = kernel_packet(nothing, line(64), no_arguments,
                                        i + 1 == kBatch ? static_cast<hsa_signal_t>(done) : kNoSignal);
            if (i + 1 == kBatch) packet.header |= 1 << HSA_PACKET_HEADER_BARRIER;
            queue.publish(last = queue.reserve(), &packet);
        }
        queue.ring(last);
        REQUIRE(done.completed());
    });
    std::printf("empty kernels in batches of %u: median %.2f us each, p5 %.2f, p95 %.2f, n %zu\n", kBatch,
                samples.at(0.5) / kBatch, samples.at(0.05) / kBatch, samples.at(0.95) / kBatch, samples.us.size());
}

TEST_CASE("empty kernels, many in flight", "[bench]") {
    Machine machine;
    Executable code{machine.gpu(), "work"};
    Queue queue{machine.gpu(), 1 << 17};
    const Kernel nothing = code.kernel("nothing");
    const Memory no_arguments = arguments(machine, nothing);
    for (const std::uint32_t count : {1'000u, 10'000u, 100'000u}) {
        Samples samples = measure(1, 5, [&] {
            Signal gate, done{static_cast<hsa_signal_value_t>(count)};
            queue.submit(barrier_and({gate}));
            const auto packet = kernel_packet(nothing, line(64), no_arguments, done);
            std::uint64_t last = 0;
            for (std::uint32_t i = 0; i < count; ++i) queue.publish(last = queue.reserve(), &packet);
            queue.ring(last);
            gate.store(0);
            REQUIRE(done.wait(HSA_SIGNAL_CONDITION_EQ, 0));
        });
        std::printf("empty kernels, %u in flight: median %.2f us each (goal: the same for every number)\n", count,
                    samples.at(0.5) / count);
    }
}

// Prints the median time of a kernel with many work-groups; the parent sets how many workers there are.
TEST_CASE("child: a busy kernel", "[.child]") {
    Machine machine;
    Executable code{machine.gpu(), "order"};
    Queue queue{machine.gpu()};
    Memory words{machine.cpu().fine, 4 * 513, machine.agents()};
    auto* word = words.as<std::uint32_t>();
    const std::uint32_t groups = static_cast<std::uint32_t>(std::strtoul(row().c_str(), nullptr, 10));
    Samples samples = measure(3, 21, [&] {
        run(machine, queue, code.kernel("work_then_ticket"), line(groups * 64), word, word + 1, 1024u * 512u / groups);
    });
    std::printf("MEDIAN %.1f\n", samples.at(0.5));
}

// Likewise for a kernel that copies one word a work-item, in work-groups of the given size. Most of the time is
// the start and the end of work-groups, and memory.
TEST_CASE("child: a copying kernel", "[.child]") {
    constexpr std::uint32_t kWords = 1 << 21;
    Machine machine;
    Executable code{machine.gpu(), "work"};
    Queue queue{machine.gpu()};
    const auto group = static_cast<std::uint32_t>(std::strtoul(row().c_str(), nullptr, 10));
    const Memory from{machine.cpu().fine, 4 * kWords, machine.agents()},
        to{machine.cpu().fine, 4 * kWords, machine.agents()};
    std::fill_n(from.as<std::uint32_t>(), kWords, 1u);
    const double before = cpu_seconds();
    Samples samples = measure(3, 21, [&] {
        run(machine, queue, code.kernel("increment"), line(kWords, group), to.data(), from.data(), kWords);
    });
    std::printf("MEDIAN %.1f CPU %.1f\n", samples.at(0.5), (cpu_seconds() - before) / 24 * 1e6);
}

TEST_CASE("two workers copy faster than one", "[bench]") {
    const char* chosen = std::getenv("KFDEMU");
    struct Times {
        double median_us = 0, cpu_us = 0;
    };
    const auto times = [&](unsigned group, unsigned workers) {
        const std::string options = std::string{chosen ? chosen : "on"} + ",workers=" + std::to_string(workers);
        const ChildResult child =
            run_child("child: a copying kernel", std::to_string(group), {{"KFDEMU", options}}, 120s);
        Times result;
        const auto at = child.output.find("MEDIAN ");
        REQUIRE(at != std::string::npos);
        REQUIRE(std::sscanf(child.output.c_str() + at, "MEDIAN %lf CPU %lf", &result.median_us, &result.cpu_us) == 2);
        return result;
    };
    for (const unsigned group : {64u, 256u, 1024u}) {
        const Times one[] = {times(group, 1), times(group, 1)}, two[] = {times(group, 2), times(group, 2)};
        std::printf(
            "a copy in work-groups of %u: one worker %.0f us, two %.0f us, ratio %.2f (goal: 1.8); processor time "
            "%.0f us and %.0f us\n",
            group, (one[0].median_us + one[1].median_us) / 2, (two[0].median_us + two[1].median_us) / 2,
            (one[0].median_us + one[1].median_us) / (two[0].median_us + two[1].median_us),
            (one[0].cpu_us + one[1].cpu_us) / 2, (two[0].cpu_us + two[1].cpu_us) / 2);
    }
}

TEST_CASE("two workers are faster than one, and never slower", "[bench]") {
    const char* chosen = std::getenv("KFDEMU");
    const auto median = [&](unsigned groups, unsigned workers) {
        const std::string options = std::string{chosen ? chosen : "on"} + ",workers=" + std::to_string(workers);
        const ChildResult child =
            run_child("child: a busy kernel", std::to_string(groups), {{"KFDEMU", options}}, 120s);
        const auto at = child.output.find("MEDIAN ");
        REQUIRE(at != std::string::npos);
        return std::strtod(child.output.c_str() + at + 7, nullptr);
    };
    for (const unsigned groups : {1u, 2u, 8u, 512u}) {
        double one[2], two[2];  // A B B A: disturbances affect both
        one[0] = median(groups, 1);
        two[0] = median(groups, 2);
        two[1] = median(groups, 2);
        one[1] = median(groups, 1);
        const double ratio = (one[0] + one[1]) / (two[0] + two[1]);
        std::printf("%3u work-groups: one worker %.0f us, two %.0f us, ratio %.2f (goal: %s)\n", groups,
                    (one[0] + one[1]) / 2, (two[0] + two[1]) / 2, ratio,
                    groups == 1 ? "at least 1.0, within noise" : "1.8");
    }
}
