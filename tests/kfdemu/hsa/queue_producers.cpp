// Many producers on one queue, many queues on one GPU, and kernels that never end.
#include <atomic>
#include <numeric>
#include <thread>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

TEST_CASE("eight producers send through one small ring, each packet runs once", "[device][producers]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu(), 64, HSA_QUEUE_TYPE_MULTI};
    const Executable code{machine.gpu(), "work"};
    const Kernel count = code.kernel("count");
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    *total.as<std::uint32_t>() = 0;
    const Memory counting = arguments(machine, count, total.data());
    constexpr int producers = 8, packets = 250;
    const Signal done{producers * packets};
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int p = 0; p < producers; ++p)
        threads.emplace_back([&, p] {
            try {
                for (int i = 0; i < packets; ++i) {
                    if ((i + p) % 5 == 0)
                        queue.submit(barrier_and({}, done));
                    else
                        queue.submit(kernel_packet(count, line(3, 3), counting, done));
                }
            } catch (const std::exception&) {
                ++failures;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
    REQUIRE(done.wait(HSA_SIGNAL_CONDITION_EQ, 0));
    CHECK(*total.as<std::uint32_t>() == producers * packets * 4 / 5 * 3);
    CHECK(eventually([&] { return queue.read_index() == queue.write_index(); }));
    CHECK(queue.write_index() == producers * packets);
    CHECK(queue.errors().all().empty());
}

TEST_CASE("slots may be published and rung in any order", "[device][producers]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu(), 64, HSA_QUEUE_TYPE_MULTI};
    for (int round = 0; round < 6; ++round) {
        const Signal done{40};
        const auto packet = barrier_and({}, done);
        std::vector<std::uint64_t> slots(40);
        for (std::uint64_t& slot : slots) slot = queue.reserve();
        // In steps of 7 and 11: no neighbours, and the bells in another order than the packets.
        for (std::size_t i = 0; i < slots.size(); ++i) queue.publish(slots[i * 7 % 40], &packet);
        for (std::size_t i = 0; i < slots.size(); ++i) queue.ring(slots[i * 11 % 40]);
        REQUIRE(done.completed());
    }
    CHECK(queue.errors().all().empty());
}

TEST_CASE("a full ring accepts no packet until one has been consumed", "[device][producers]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu(), 64};
    const std::uint32_t size = queue.get()->size;
    const Signal gate, done{static_cast<hsa_signal_value_t>(size) - 1};
    queue.submit(barrier_and({gate}));
    for (std::uint32_t i = 1; i < size; ++i) queue.submit(barrier_and({}, done));
    CHECK_FALSE(done.completed(20ms));
    CHECK(queue.write_index() - queue.read_index() == size);
    gate.store(0);
    CHECK(done.completed());
    CHECK(queue.drains());
}

TEST_CASE("24 queues get their turn while one runs a kernel that never ends", "[device][producers]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable code{machine.gpu(), "work"};
    const Kernel count = code.kernel("count");
    const Memory words{machine.cpu().fine, 4096, machine.agents()};
    std::memset(words.data(), 0, 4096);
    auto* word = words.as<volatile std::uint32_t>();
    Queue busy{machine.gpu()};
    const Launch endless = launch(machine, busy, code.kernel("endless"), line(256), &word[0]);
    REQUIRE(eventually([&] { return word[0] == 1; }));

    // Enough work that it does not matter when a host thread is off its core for some milliseconds.
    constexpr std::size_t queues = 23, packets = 32, workitems = 8192;
    const Signal gate;
    std::vector<Queue> others;
    std::vector<Signal> done;
    std::vector<Memory> given;
    for (std::size_t q = 0; q < queues; ++q) {
        others.emplace_back(machine.gpu());
        done.emplace_back(packets);
        given.push_back(arguments(machine, count, &word[1 + q]));
        others[q].submit(barrier_and({gate}));
        Shape shape = line(workitems);
        shape.barrier_bit = true;
        for (std::size_t i = 0; i < packets; ++i) others[q].submit(kernel_packet(count, shape, given[q], done[q]));
    }
    gate.store(0);
    const auto left = [&](std::size_t q) { return static_cast<std::size_t>(done[q].load()); };
    // When three quarters of all are complete, no queue is starved.
    REQUIRE(eventually([&] {
        std::size_t sum = 0;
        for (std::size_t q = 0; q < queues; ++q) sum += left(q);
        return sum <= queues * packets / 4;
    }));
    for (std::size_t q = 0; q < queues; ++q) {
        CAPTURE(q);
        CHECK(left(q) < packets);
    }
    for (std::size_t q = 0; q < queues; ++q) {
        CAPTURE(q);
        CHECK(done[q].completed());
        CHECK(word[1 + q] == packets * workitems);
    }
    CHECK(endless.done.load() == 1);
}

TEST_CASE("destroying a queue ends the kernels on it", "[device][producers]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable code{machine.gpu(), "work"};
    const Memory word{machine.cpu().fine, 4096, machine.agents()};
    // More groups than fit on the GPU at once, and several kernels: some wait, some run.
    for (std::uint32_t workitems : {1u, 4096u, 1u << 22}) {
        CAPTURE(workitems);
        *word.as<volatile std::uint32_t>() = 0;
        Queue queue{machine.gpu()};
        std::vector<Launch> launched;
        for (int i = 0; i < 3; ++i)
            launched.push_back(launch(machine, queue, code.kernel("endless"),
                                      line(workitems, workitems < 256 ? 1 : 256), word.data()));
        REQUIRE(eventually([&] { return *word.as<volatile std::uint32_t>() == 1; }));
        const auto begin = std::chrono::steady_clock::now();
        queue.destroy();
        CHECK(std::chrono::steady_clock::now() - begin < 10s);
        for (const Launch& one : launched) CHECK(one.done.load() == 1);
    }
    Queue after{machine.gpu()};
    CHECK(after.drains());
}

TEST_CASE("queues are created and destroyed while others work", "[device][producers]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue steady{machine.gpu()};
    for (int round = 0; round < 10; ++round) {
        std::vector<Queue> passing;
        for (int i = 0; i < 4; ++i) passing.emplace_back(machine.gpu());
        const Signal gate, done{4};
        for (Queue& queue : passing) {
            queue.submit(barrier_and({gate}, done));
            if (round % 2) queue.submit(barrier_and({gate, Signal{}}));  // never completes
        }
        gate.store(0);
        REQUIRE(done.completed());
        passing.clear();
        REQUIRE(steady.drains());
    }
}

TEST_CASE("a grid too large to ever end is stopped with its queue", "[device][producers]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable code{machine.gpu(), "work"};
    const Kernel count = code.kernel("count");
    const Memory total{machine.cpu().fine, 4096, machine.agents()}, counting = arguments(machine, count, total.data());
    *total.as<volatile std::uint32_t>() = 0;
    Queue queue{machine.gpu()}, other{machine.gpu()};
    const Signal done;
    queue.submit(kernel_packet(count, {.grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX}}, counting, done));
    CHECK(eventually([&] { return *total.as<volatile std::uint32_t>() > 100; }));
    CHECK(other.drains());
    queue.destroy();
    CHECK(done.load() == 1);
    CHECK(other.drains());
}

TEST_CASE("queues are created until there are no more, all work, and all are there again", "[device][producers]") {
    NEEDS_GPUS(1);
    Machine machine;
    std::vector<Queue> queues;
    while (queues.size() < 150) {
        try {
            queues.emplace_back(machine.gpu());
        } catch (const std::exception&) {
            break;
        }
    }
    CHECK(queues.size() >= 24);
    for (Queue& queue : queues) REQUIRE(queue.drains());
    queues.clear();
    Queue again{machine.gpu()};
    CHECK(again.drains());
}
