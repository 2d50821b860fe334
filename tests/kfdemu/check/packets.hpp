// Kernels that hand memory to each other, in packets that the test writes itself, for `race` and `fence`.
//
//     Work work;
//     queue.submit(work.packet("fill", work.fill(work.data.data(), 5u), false, done));
//     REQUIRE(control.findings().empty());
#pragma once

#include <cstring>
#include <thread>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

namespace packets_test {

using namespace hsa_test;

struct Work {
    Work() : code{machine.gpu(), "../check/handed.O3"} {}

    Memory memory() const { return {machine.cpu().coarse, 4096, machine.agents()}; }
    Memory device_memory() const { return {machine.gpu().coarse, 4096, machine.agents()}; }
    template <class... Arguments>
    Memory fill(Arguments... values) const {
        return arguments(machine, code.kernel("fill"), values...);
    }
    hsa_kernel_dispatch_packet_t packet(const char* kernel, const Memory& with, bool barrier_bit = false,
                                        hsa_signal_t done = kNoSignal) const {
        Shape shape = line(64);
        shape.barrier_bit = barrier_bit;
        return kernel_packet(code.kernel(kernel), shape, with, done);
    }

    Machine machine;
    Executable code;
    Memory data = memory(), result = memory();
};

inline std::string joined(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& one : all) text += one;
    return text;
}

/// `data` written by fill and read by double_all, both published at once.
inline void run_pair(Work& work, bool barrier_bit) {
    const Memory to = work.fill(work.data.data(), 5u);
    const Memory from = arguments(work.machine, work.code.kernel("double_all"), work.data.data(), work.result.data());
    const Signal done;
    Queue queue{work.machine.gpu()};
    const auto first = work.packet("fill", to);
    const auto second = work.packet("double_all", from, barrier_bit, done);
    const std::uint64_t at = queue.reserve();
    queue.publish(at, &first);
    const std::uint64_t next = queue.reserve();
    queue.publish(next, &second);
    queue.ring(next);
    REQUIRE(done.completed());
    REQUIRE(queue.drains());
}

/// Waits until the device has read that many packets.
inline void wait_for_packets(const test_support::Control& control, std::uint64_t wanted) {
    REQUIRE(eventually([&] { return control.counters().packets >= wanted; }));
}

/// `data` written by fill in one queue and read by double_all in another, with signals for the end of each.
struct HandOver {
    explicit HandOver(const Work& in)
        : work{in},
          to{work.fill(work.data.data(), 5u)},
          from{arguments(work.machine, work.code.kernel("double_all"), work.data.data(), work.result.data())} {}

    hsa_kernel_dispatch_packet_t writer() const { return work.packet("fill", to, false, written); }
    hsa_kernel_dispatch_packet_t reader() const { return work.packet("double_all", from, false, read); }
    /// Returns when the program has waited for it.
    void write(Queue& queue) const {
        queue.submit(writer());
        REQUIRE(written.completed());
    }

    const Work& work;
    Memory to, from;
    Signal written, read;
};

}  // namespace packets_test
