// When packets are published that several producers write, and that start while checks are switched.
#include <sys/resource.h>

#include <algorithm>

#include "tests/kfdemu/check/packets.hpp"

using namespace packets_test;

namespace {

/// Of memory that the process has had at once.
std::size_t peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

TEST_CASE("a doorbell of a packet that has run says nothing of the next one", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    control->forget_findings();
    Work work;
    Queue one{work.machine.gpu()}, other{work.machine.gpu()};
    const auto empty = barrier_and({});
    other.submit(empty);
    other.submit(empty);
    REQUIRE(other.drains());
    other.ring(0);  // of a slow producer; the packet was taken with the next one's doorbell
    std::this_thread::sleep_for(20ms);

    const HandOver hand_over{work};
    hand_over.write(one);
    other.submit(hand_over.reader());
    REQUIRE(hand_over.read.completed());
    INFO(joined(control.findings()));
    CHECK(control->findings() == 0);
    control->check(0);
}

TEST_CASE("a packet is not published by the doorbell of a later one", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    control->forget_findings();
    Work work;
    Queue one{work.machine.gpu()}, other{work.machine.gpu()};
    const std::uint64_t index = other.reserve(), next = other.reserve();
    const auto empty = barrier_and({});
    other.publish(next, &empty);
    other.ring(next);
    std::this_thread::sleep_for(20ms);

    const HandOver hand_over{work};
    hand_over.write(one);
    const auto reader = hand_over.reader();
    other.publish(index, &reader);
    other.ring(index);
    REQUIRE(hand_over.read.completed());
    INFO(joined(control.findings()));
    CHECK(control->findings() == 0);
    control->check(0);
}

TEST_CASE("a packet that started while the check was off does not date the next one", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    control->forget_findings();
    Work work;
    const Memory unwatched = work.memory();
    const Memory flag{work.machine.cpu().fine, 4096, work.machine.agents()};
    *flag.as<std::uint32_t>() = 0;
    Queue one{work.machine.gpu()}, other{work.machine.gpu()};
    const Signal gate, ended;
    const Memory late = arguments(work.machine, work.code.kernel("fill_later"), unwatched.data(), 9u, flag.data());
    const std::uint64_t before = control.counters().packets;
    other.submit(barrier_and({gate}));
    other.submit(work.packet("fill_later", late, false, ended));
    wait_for_packets(control, before + 1);
    std::this_thread::sleep_for(20ms);  // until the device has seen both doorbells
    control->check(0);
    gate.store(0);
    wait_for_packets(control, before + 2);
    std::this_thread::sleep_for(20ms);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);

    const HandOver hand_over{work};
    hand_over.write(one);
    other.submit(hand_over.reader());
    REQUIRE(hand_over.read.completed());
    __atomic_store_n(flag.as<std::uint32_t>(), 1, __ATOMIC_RELEASE);
    REQUIRE(ended.completed());
    INFO(joined(control.findings()));
    CHECK(control->findings() == 0);
    control->check(0);
}

TEST_CASE("a wrong kernel object is an error of the queue, whatever size its arguments seem to have",
          "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    control->forget_findings();
    Work work;
    const Memory with = work.fill(work.data.data(), 5u);
    auto* words = work.data.as<std::uint32_t>();
    std::fill_n(words, 1024, 0x3fffffffu);  // a descriptor with arguments of 1 GiB
    auto wrong = work.packet("fill", with);
    wrong.kernel_object = reinterpret_cast<std::uint64_t>(words);
    const std::size_t before = peak_bytes();
    Queue queue{work.machine.gpu()};
    queue.submit(wrong);
    CHECK(queue.wait_for_error() == HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    CHECK(peak_bytes() < before + (256u << 20));
    control->check(0);
}

TEST_CASE("kernels that wait for each other are forgotten one by one", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    control->forget_findings();
    Work work;
    const Memory data{work.machine.cpu().coarse, 1 << 20, work.machine.agents()};
    const Memory with = arguments(work.machine, work.code.kernel("fill_many"), data.data(), 4096u);
    const Signal gate, done;
    Queue queue{work.machine.gpu()};
    const std::size_t before = peak_bytes();
    queue.submit(barrier_and({gate}));
    for (int n = 0; n < 45; ++n) queue.submit(work.packet("fill_many", with, true));  // 13 MiB each
    queue.submit(barrier_and({}, done, true));
    std::this_thread::sleep_for(20ms);  // until the device has seen the doorbell of the last one
    gate.store(0);
    REQUIRE(done.completed(120s));                // sanitized, on a busy machine
    CHECK(peak_bytes() < before + (512u << 20));  // sanitizers keep 256 MiB of freed memory
    INFO(joined(control.findings()));
    CHECK(control->findings() == 0);
    control->check(0);
}

TEST_CASE("arguments that an earlier kernel writes change in flight, too", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    control->forget_findings();
    Work work;
    const Memory late = work.fill(work.data.data(), 5u);
    const Memory early = work.fill(late.as<std::uint32_t>() + 2, 6u);  // from `value` on
    const Signal gate, done;
    Queue queue{work.machine.gpu()};
    queue.submit(barrier_and({gate}));
    queue.submit(work.packet("fill", early));
    queue.submit(work.packet("fill", late, true, done));
    std::this_thread::sleep_for(20ms);  // until the device has seen the doorbell of the last one
    gate.store(0);
    REQUIRE(done.completed());
    CHECK(*work.data.as<std::uint32_t>() == 6);
    const auto found = control.findings();
    INFO(joined(found));
    REQUIRE(found.size() == 1);
    CHECK(has(found[0], "kernel arguments change while the kernel may read them, at byte 8 of 12: 0x5 becomes 0x6"));
    control->check(0);
}
