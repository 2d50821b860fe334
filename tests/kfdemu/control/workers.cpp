// Workers that share a kernel's work-groups do not wait for each other.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

constexpr std::uint32_t kGroups = 1 << 15, kRounds = 10;

/// How often a thread of this process slept or waited for a lock.
long waits() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
}

}  // namespace

TEST_CASE("child: short work-groups", "[.child]") {
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory from{machine.cpu().fine, 256 * kGroups, machine.agents()},
        to{machine.cpu().fine, 256 * kGroups, machine.agents()};
    std::fill_n(from.as<std::uint32_t>(), 64 * kGroups, 41u);
    const auto copy = [&] {
        run(machine, queue, code.kernel("increment"), line(64 * kGroups), to.data(), from.data(), 64 * kGroups);
    };
    copy();
    const long before = waits();
    for (std::uint32_t round = 0; round < kRounds; ++round) copy();
    std::printf("waits: %ld\n", waits() - before);
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < 64 * kGroups; ++i) wrong += to.as<std::uint32_t>()[i] != 42;
    CHECK(wrong == 0);
}

TEST_CASE("two workers seldom wait for each other, however short the work-groups are", "[control][queues]") {
    NEEDS_CONTROL(control);
    const char* device = std::getenv("KFDEMU");
    const ChildResult child =
        run_child("child: short work-groups", "", {{"KFDEMU", std::string{device ? device : "on"} + ",workers=2"}});
    INFO(child.output);
    REQUIRE(child.passed());
    const auto at = child.output.find("waits: ");
    REQUIRE(at != child.output.npos);
    const long waits = std::strtol(child.output.c_str() + at + 7, nullptr, 10);
    std::printf("%ld waits in %u work-groups\n", waits, kRounds * kGroups);
    CHECK(waits < long{kRounds * kGroups / 50});
}
