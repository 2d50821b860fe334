// The device's counters agree with the submitted work.
#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

TEST_CASE("counters count packets, kernels and waves", "[control][counters]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Executable code{machine.gpu(), "order"};
    Memory out{machine.cpu().fine, 4096, machine.agents()};
    Queue queue{machine.gpu()};
    const auto before = control.counters();
    run(machine, queue, code.kernel("place"), {.grid = {1000, 1, 1}, .workgroup = {256, 1, 1}}, out.data());
    Signal done;
    queue.submit(barrier_and({}, done));
    REQUIRE(done.completed());
    const auto after = control.counters();
    CHECK(after.packets == before.packets + 2);
    CHECK(after.dispatches == before.dispatches + 1);
    CHECK(after.work_groups == before.work_groups + 4);
    CHECK(after.waves == before.waves + 1024 / machine.gpu().wavefront_size);  // the last group has 232 work-items
    CHECK(after.instructions > before.instructions + 16);
    CHECK(after.faults == before.faults);
    CHECK(after.injected == before.injected);
}

TEST_CASE("counters count copied bytes, and calls of the driver", "[control][counters]") {
    NEEDS_CONTROL(control);
    Machine machine;
    const auto start = control.counters();
    Memory device{machine.gpu().coarse, 1 << 20, machine.agents()}, host{machine.cpu().fine, 1 << 20, machine.agents()};
    const auto before = control.counters();
    CHECK(before.allocations > start.allocations);
    CHECK(before.mappings > start.mappings);
    CHECK(before.ioctls > start.ioctls);
    Signal done;
    HSA_CHECK(hsa_amd_memory_async_copy(device.data(), machine.gpu().agent, host.data(), machine.cpu().agent, 1 << 20,
                                        0, nullptr, done));
    REQUIRE(done.completed());
    const auto after = control.counters();
    CHECK(after.sdma_bytes == before.sdma_bytes + (1 << 20));
    CHECK(after.sdma_packets > before.sdma_packets);
}

TEST_CASE("the buffer count is that of unfreed buffers", "[control][counters]") {
    NEEDS_CONTROL(control);
    Machine machine;
    const auto before = control.counters().buffers;
    CHECK(before > 0);
    {
        Memory device{machine.gpu().coarse, 4 << 20, machine.agents()};
        Memory host{machine.cpu().fine, 4 << 20, machine.agents()};
        CHECK(control.counters().buffers == before + 2);
    }
    CHECK(control.counters().buffers == before);
}

TEST_CASE("counters count faults and interrupts", "[control][counters]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Queue queue{machine.gpu()};
    const auto before = control.counters();
    auto packet = barrier_and({});
    packet.header = header(9);
    queue.submit(packet);
    CHECK(queue.wait_for_error() != HSA_STATUS_SUCCESS);
    CHECK(control.counters().faults == before.faults + 1);
    CHECK(control.counters().interrupts > before.interrupts);
}

TEST_CASE("an older program's shorter structure is filled up to its size", "[control][counters]") {
    NEEDS_CONTROL(control);
    std::uint64_t fields[3] = {~0ull, ~0ull, ~0ull};
    control->counters(reinterpret_cast<kfdemu_counters*>(fields), 2 * sizeof fields[0]);
    CHECK(fields[0] != ~0ull);
    CHECK(fields[1] != ~0ull);
    CHECK(fields[2] == ~0ull);
}
