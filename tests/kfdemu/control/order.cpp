// A seeded order: the same seed runs work-groups and waves in the same order, another seed in another; all results are
// right.
#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

constexpr std::uint32_t kCount = 128;

/// The tickets that so many work-groups (or waves) drew.
std::vector<std::uint32_t> tickets(const Machine& machine, Queue& queue, const Kernel& kernel, const Shape& shape) {
    Memory words{machine.cpu().fine, (kCount + 1) * 4, machine.agents()};
    std::fill_n(words.as<std::uint32_t>(), kCount + 1, 0u);
    run(machine, queue, kernel, shape, words.data(), words.as<std::uint32_t>() + 1);
    return {words.as<std::uint32_t>() + 1, words.as<std::uint32_t>() + 1 + kCount};
}

bool all_different(std::vector<std::uint32_t> values) {
    std::sort(values.begin(), values.end());
    return std::adjacent_find(values.begin(), values.end()) == values.end();
}

struct Row {
    const char* kernel;
    Shape shape;
};

}  // namespace

TEST_CASE("a seed decides in which order work-groups and waves run", "[control][order]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Executable code{machine.gpu(), "order"};
    const Row rows[] = {
        {"group_tickets", line(kCount * 64, 64)},
        {"wave_tickets", line(kCount * 64, 1024)},
    };
    for (const Row& row : rows) {
        INFO(row.kernel);
        std::vector<std::vector<std::uint32_t>> seen;
        for (const std::uint64_t seed : {1, 1, 2, 3}) {
            control->set_seed(seed);
            Queue queue{machine.gpu()};  // a dispatch's place in its queue counts, too
            seen.push_back(tickets(machine, queue, code.kernel(row.kernel), row.shape));
            CHECK(all_different(seen.back()));
        }
        CHECK(seen[0] == seen[1]);
        CHECK(seen[0] != seen[2]);
        CHECK(seen[2] != seen[3]);
    }
}

TEST_CASE("two dispatches in a row differ in their order under one seed", "[control][order]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Executable code{machine.gpu(), "order"};
    control->set_seed(7);
    Queue queue{machine.gpu()};
    const auto first = tickets(machine, queue, code.kernel("group_tickets"), line(kCount * 64));
    CHECK(first != tickets(machine, queue, code.kernel("group_tickets"), line(kCount * 64)));
}

TEST_CASE("without a seed one thread's work is in order again", "[control][order]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Executable code{machine.gpu(), "order"};
    Queue queue{machine.gpu()};
    control->set_seed(7);
    control->set_seed(0);
    CHECK(all_different(tickets(machine, queue, code.kernel("group_tickets"), line(kCount * 64))));
}
