// A GPU whose memory the host cannot access, as on most without a large BAR: kernels and copies work,
// and an access by the host ends its process.
#include <csignal>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

#define NEEDS_PRIVATE(machine) \
    if ((machine).host_sees((machine).gpu())) SKIP_BECAUSE("the host may touch this GPU's memory")

TEST_CASE("kernels and copies work in private memory", "[device][private]") {
    NEEDS_GPUS(1);
    Machine machine;
    NEEDS_PRIVATE(machine);
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    constexpr std::uint32_t n = 70'000;
    const Memory a{machine.gpu().coarse, n * 4, {}}, b{machine.gpu().coarse, n * 4, {}};
    run(machine, queue, code.kernel("fill"), line(n), a.data(), 5u, n);
    run(machine, queue, code.kernel("increment"), line(n), b.data(), a.data(), n);
    std::vector<std::uint32_t> words(n);
    HSA_CHECK(hsa_memory_copy(words.data(), b.data(), n * 4));
    for (std::uint32_t i = 0; i < n; ++i) REQUIRE(words[i] == 6 + i);
}

TEST_CASE("child: a touch of private memory", "[.child]") {
    Machine machine;
    const Memory memory{machine.gpu().coarse, 1 << 20, {}};
    HSA_CHECK(hsa_amd_memory_fill(memory.data(), 0x41, 1 << 18));
    auto* word = memory.as<volatile std::uint32_t>() + 1000;
    if (row() == "read")
        CHECK(*word == 0x41);
    else
        *word = 7;
}

TEST_CASE("the host's touch of private memory is a segmentation fault", "[device][private]") {
    NEEDS_GPUS(1);
    {
        Machine machine;
        NEEDS_PRIVATE(machine);
    }
    if (kSanitized) SKIP_BECAUSE("a sanitizer handles the fault itself");
    for (const char* how : {"read", "write"}) {
        const ChildResult child = run_child("child: a touch of private memory", how);
        CAPTURE(how, child.output);
        CHECK(child.signal == SIGSEGV);
    }
}
