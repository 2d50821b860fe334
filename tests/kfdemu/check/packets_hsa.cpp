// `race` between kernels, and between kernels and copies; `fence` of packets and arguments that change in flight.
#include "tests/kfdemu/check/packets.hpp"

using namespace packets_test;

TEST_CASE("two kernels of a queue without the barrier bit race, with it they do not", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    Work work;
    for (const bool barrier_bit : {false, true}) {
        control->forget_findings();
        run_pair(work, barrier_bit);
        const auto found = control.findings();
        INFO(joined(found));
        REQUIRE(found.size() == (barrier_bit ? 0 : 1));
        if (barrier_bit) continue;
        CHECK((has(found[0], "memory is read that another kernel writes") ||
               has(found[0], "memory is written that another kernel reads")));
        CHECK(has(found[0], " of dispatch "));
#ifdef HAS_LINES
        CHECK(has(found[0], "in fill"));
        CHECK(has(found[0], "in double_all"));
#endif
    }
    control->check(0);
}

TEST_CASE("kernels of two queues are ordered by a dependency", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    Work work;
    const auto once = [&](bool ordered) {
        const Signal start;
        const HandOver hand_over{work};
        Queue one{work.machine.gpu()}, other{work.machine.gpu()};
        const std::uint64_t before = control.counters().packets;
        one.submit(barrier_and({start}));
        one.submit(hand_over.writer());
        other.submit(barrier_and({ordered ? hand_over.written : start}));
        other.submit(hand_over.reader());
        wait_for_packets(control, before + 2);
        start.store(0);
        REQUIRE((hand_over.written.completed() && hand_over.read.completed()));
    };
    for (const bool ordered : {false, true}) {
        control->forget_findings();
        once(ordered);
        // The writer may have ended when the other queue is looked at: then its start is ordered after that.
        for (int n = 0; n < 50 && !ordered && control->findings() == 0; ++n) once(ordered);
        const auto found = control.findings();
        INFO(joined(found));
        CHECK(found.size() == (ordered ? 0 : 1));
    }
    control->check(0);
}

TEST_CASE("a program that waits orders kernels, and atomics order themselves", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    control->forget_findings();
    Work work;
    Queue one{work.machine.gpu()}, other{work.machine.gpu()};
    for (Queue* queue : {&one, &other, &one}) {
        const Memory to = work.fill(work.data.data(), 5u);
        const Signal done;
        queue->submit(work.packet("fill", to, false, done));
        REQUIRE(done.completed());
    }
    const Memory counted = arguments(work.machine, work.code.kernel("count"), work.result.data(), 3u);
    const Signal first, second;
    one.submit(work.packet("count", counted, false, first));
    other.submit(work.packet("count", counted, false, second));
    REQUIRE((first.completed() && second.completed()));
    INFO(joined(control.findings()));
    CHECK(control->findings() == 0);
    control->check(0);
}

TEST_CASE("a copy and a kernel race unless one waits for the other", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    Work work;
    const Memory host = work.memory(), device = work.device_memory();
    const Memory flag{work.machine.cpu().fine, 4096, work.machine.agents()};
    for (const bool ordered : {false, true}) {
        control->forget_findings();
        __atomic_store_n(flag.as<std::uint32_t>(), 0, __ATOMIC_RELEASE);
        const Signal copied, done;
        const Memory to = arguments(work.machine, work.code.kernel("fill_later"), device.data(), 9u, flag.data());
        Queue queue{work.machine.gpu()};
        const std::uint64_t before = control.counters().packets;
        if (ordered) queue.submit(barrier_and({copied}));
        queue.submit(work.packet("fill_later", to, false, done));
        wait_for_packets(control, before + 1);
        HSA_CHECK(hsa_amd_memory_async_copy(device.data(), work.machine.gpu().agent, host.data(),
                                            work.machine.cpu().agent, 256, 0, nullptr, copied));
        REQUIRE(copied.completed());
        __atomic_store_n(flag.as<std::uint32_t>(), 1, __ATOMIC_RELEASE);
        REQUIRE(done.completed());
        REQUIRE(queue.drains());
        const auto found = control.findings();
        INFO(joined(found));
        REQUIRE(found.size() == (ordered ? 0 : 1));
        if (!ordered) CHECK(has(found[0], "memory is written that a DMA engine writes"));
    }
    control->check(0);
}

TEST_CASE("two copies race unless one waits for the other", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    constexpr std::size_t kBytes = 64 << 20;  // milliseconds
    const Machine machine;
    const Memory from{machine.cpu().coarse, kBytes, machine.agents()}, to{machine.cpu().coarse, 4096, machine.agents()};
    Memory device{machine.gpu().coarse, kBytes, machine.agents()};
    const auto gpu = machine.gpu().agent, cpu = machine.cpu().agent;
    const std::byte* end = device.as<std::byte>() + kBytes - 4096;
    const auto copies = [&](bool ordered) {
        const Signal written, read;
        hsa_signal_t before = written;
        HSA_CHECK(hsa_amd_memory_async_copy(device.data(), gpu, from.data(), cpu, kBytes, 0, nullptr, written));
        HSA_CHECK(hsa_amd_memory_async_copy(to.data(), cpu, end, gpu, 4096, ordered ? 1 : 0,
                                            ordered ? &before : nullptr, read));
        REQUIRE((written.completed() && read.completed()));
    };
    copies(true);  // the runtime's first copy makes its queues
    for (const bool ordered : {false, true}) {
        control->forget_findings();
        copies(ordered);
        // The program may be slower than the first copy.
        for (int n = 0; n < 20 && !ordered && control->findings() == 0; ++n) copies(ordered);
        const auto found = control.findings();
        INFO(joined(found));
        REQUIRE(found.empty() == ordered);  // the engines copy in pieces
        if (!ordered) CHECK(has(found[0], "and nothing orders the two copies"));
    }
    control->check(0);
}

TEST_CASE("arguments that change while their kernel is in flight are reported", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    Work work;
    for (const bool early : {true, false}) {
        control->forget_findings();
        const Signal start, done;
        Memory to = work.fill(work.data.data(), 5u);
        Queue queue{work.machine.gpu()};
        const std::uint64_t before = control.counters().packets;
        queue.submit(barrier_and({start}));
        queue.submit(work.packet("fill", to, false, done));
        queue.submit(barrier_and({}));
        wait_for_packets(control, before + 1);
        std::this_thread::sleep_for(20ms);  // until the device has seen the doorbell of the last one
        if (!early) start.store(0);
        if (!early) REQUIRE(done.completed());
        to.as<std::uint32_t>()[2] = 6;  // the value
        start.store(0);
        REQUIRE(done.completed());
        REQUIRE(queue.drains());
        const auto found = control.findings();
        INFO(joined(found));
        REQUIRE(found.size() == (early ? 1 : 0));
        if (!early) continue;
        CHECK(has(found[0], "check fence: kernel arguments change while the kernel may read them, at byte 8 of "));
        CHECK(has(found[0], "0x5 becomes 0x6"));
    }
    control->check(0);
}

TEST_CASE("a kernel may write into its own arguments", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    control->forget_findings();
    Work work;
    Queue queue{work.machine.gpu()};
    const Signal done;
    Memory with = arguments(work.machine, work.code.kernel("scribble"), work.data.data(), work.data.data());
    void* itself = with.data();
    std::memcpy(with.as<std::byte>() + 8, &itself, sizeof itself);
    queue.submit(work.packet("scribble", with, false, done));
    REQUIRE(done.completed());
    INFO(joined(control.findings()));
    CHECK(control->findings() == 0);
    control->check(0);
}

TEST_CASE("a slot that is used again before the read index has passed it is reported", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    control->forget_findings();
    Work work;
    const Signal start, done;
    const Memory to = work.fill(work.data.data(), 5u), other = work.fill(work.data.data(), 6u);
    Queue queue{work.machine.gpu()};
    const std::uint64_t before = control.counters().packets;
    queue.submit(barrier_and({start}));
    const std::uint64_t index = queue.submit(work.packet("fill", to, false, done));
    wait_for_packets(control, before + 1);
    std::this_thread::sleep_for(20ms);
    auto* slots = static_cast<hsa_kernel_dispatch_packet_t*>(queue.get()->base_address);
    slots[index % queue.get()->size].kernarg_address = other.data();
    start.store(0);
    REQUIRE(done.completed());
    const auto found = control.findings();
    INFO(joined(found));
    REQUIRE(found.size() == 1);
    CHECK(has(found[0], "check fence: packet 1 of the queue changes after it was published, at byte 40"));
    control->check(0);
}

TEST_CASE("a packet whose header is stored before its body is reported", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    control->forget_findings();
    Work work;
    const Memory to = work.fill(work.data.data(), 5u), other = work.fill(work.data.data(), 6u);
    Queue queue{work.machine.gpu()};
    // Two producers: the second rings while the first has not written its packet. A slow device looks at it later.
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    for (int n = 0; control->findings() == 0 && std::chrono::steady_clock::now() < deadline; n = (n + 1) % 250) {
        const Signal done;
        auto early = work.packet("fill", to), complete = work.packet("fill", other);
        const std::uint64_t index = queue.reserve(), next = queue.reserve();
        const auto last = barrier_and({}, done, true);
        queue.publish(next, &last);
        queue.ring(next);
        queue.publish(index, &early);
        const auto until = std::chrono::steady_clock::now() + 60us + n * 20us;
        while (std::chrono::steady_clock::now() < until) {
        }
        auto* slots = static_cast<hsa_kernel_dispatch_packet_t*>(queue.get()->base_address);
        slots[index % queue.get()->size].kernarg_address = complete.kernarg_address;
        REQUIRE(done.completed());
    }
    const auto found = control.findings();
    INFO(joined(found));
    REQUIRE(found.size() == 1);
    CHECK(has(found[0], "its header has to be stored last"));
    control->check(0);
}
