// The normal case: a kernel runs, in order, as often as it is submitted.
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

TEST_CASE("a kernel's results are visible at its completion signal", "[device][queue]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory out{machine.cpu().fine, 1000 * sizeof(std::uint32_t), machine.agents()};
    run(machine, queue, code.kernel("fill"), line(1000), out.data(), 7u, 1000u);
    for (std::uint32_t i = 0; i < 1000; ++i) REQUIRE(out.as<std::uint32_t>()[i] == 7 + i);
    CHECK(queue.errors().all().empty());
}

TEST_CASE("a ring is used again and again, and the order of packets with barrier bits stays", "[device][queue]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu(), 64};
    const Executable code{machine.gpu(), "work"};
    const Kernel kernel = code.kernel("scale_add");
    const Memory word{machine.cpu().fine, 4096, machine.agents()};
    *word.as<std::uint32_t>() = 1;
    const Memory plus = arguments(machine, kernel, word.data(), 3u, 1u);
    const Memory times = arguments(machine, kernel, word.data(), 7u, 0u);
    const std::uint32_t packets = 3 * queue.get()->size + 5;
    std::uint32_t expected = 1;
    const Shape shape{.barrier_bit = true};
    for (std::uint32_t i = 0; i < packets; ++i) {
        queue.submit(kernel_packet(kernel, shape, i % 2 ? times : plus));
        expected = i % 2 ? expected * 7 : expected * 3 + 1;
    }
    REQUIRE(queue.drains());
    CHECK(*word.as<std::uint32_t>() == expected);
    CHECK(eventually([&] { return queue.read_index() == queue.write_index(); }));
}
