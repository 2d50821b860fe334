// Failing calls of the kernel driver: the runtime reports them, nothing leaks, and later calls succeed.
#include <cerrno>
#include <functional>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

std::uint64_t tried(const kfdemu_counters& counters, std::uint32_t point) {
    return point == KFDEMU_ALLOCATION ? counters.allocations
           : point == KFDEMU_MMAP     ? counters.mappings
                                      : counters.ioctls;
}

/// Allocates memory, copies to it and frees it; returns the first failing status.
hsa_status_t use_memory(const Machine& machine) {
    void* memory = nullptr;
    if (auto status = hsa_amd_memory_pool_allocate(machine.gpu().coarse, 1 << 20, 0, &memory)) return status;
    std::uint32_t word = 0;
    hsa_status_t status = hsa_amd_memory_fill(memory, 0x5eed, 256);
    if (status == HSA_STATUS_SUCCESS) status = hsa_memory_copy(&word, memory, sizeof word);
    const hsa_status_t freed = hsa_amd_memory_pool_free(memory);
    if (status == HSA_STATUS_SUCCESS && word != 0x5eed) return HSA_STATUS_ERROR;
    return status ? status : freed;
}

hsa_status_t use_queue(const Machine& machine) {
    hsa_queue_t* queue = nullptr;
    if (auto status = hsa_queue_create(machine.gpu().agent, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX,
                                       UINT32_MAX, &queue))
        return status;
    return hsa_queue_destroy(queue);
}

struct FailureRow {
    const char* what;
    std::function<hsa_status_t(const Machine&)> use;
    std::uint32_t point;
    int error;
};

}  // namespace

TEST_CASE("a call that fails in turn is an error or is made up for, and the next try succeeds", "[control][failures]") {
    NEEDS_CONTROL(control);
    const FailureRow rows[] = {
        {"memory, allocations", use_memory, KFDEMU_ALLOCATION, ENOMEM},
        {"memory, mappings", use_memory, KFDEMU_MMAP, ENOMEM},
        {"queue, allocations", use_queue, KFDEMU_ALLOCATION, ENOMEM},
        {"queue, mappings", use_queue, KFDEMU_MMAP, ENOMEM},
        {"queue, CREATE_QUEUE", use_queue, KFDEMU_IOCTL_NUMBER(0x02), ENOSPC},
    };
    Machine machine;
    REQUIRE(use_memory(machine) == HSA_STATUS_SUCCESS);  // warm-up of what the runtime makes once
    REQUIRE(use_queue(machine) == HSA_STATUS_SUCCESS);
    for (const FailureRow& row : rows) {
        const auto before = tried(control.counters(), row.point & 0xff);
        REQUIRE(row.use(machine) == HSA_STATUS_SUCCESS);
        const auto calls = tried(control.counters(), row.point & 0xff) - before;
        for (std::uint64_t nth = 1; nth <= calls; ++nth) {
            INFO(row.what << ", call " << nth << " of " << calls);
            const auto injected = control.counters().injected;
            REQUIRE(control->fail(row.point, nth, 1, row.error) == 0);
            row.use(machine);  // an error, or the runtime found another way: both are right
            control->reset();
            CHECK(control.counters().injected <= injected + 1);
            CHECK(describe(row.use(machine)) == describe(HSA_STATUS_SUCCESS));
        }
    }
}

TEST_CASE("a failed allocation is reported as out of resources", "[control][failures]") {
    NEEDS_CONTROL(control);
    Machine machine;
    void* memory = nullptr;
    REQUIRE(control->fail(KFDEMU_ALLOCATION, 1, KFDEMU_ALL, ENOMEM) == 0);
    HSA_STATUS(hsa_amd_memory_pool_allocate(machine.gpu().coarse, 1 << 20, 0, &memory),
               HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    CHECK(control.counters().injected > 0);
    control->reset();
    HSA_STATUS(use_memory(machine), HSA_STATUS_SUCCESS);
}

TEST_CASE("exhausted scratch stops only the queue that needs it", "[control][failures]") {
    NEEDS_CONTROL(control);
    // ROCR 6 reserves scratch of this size at start; not here.
    setenv("HSA_SCRATCH_SINGLE_LIMIT", "0", 1);
    Machine machine;
    unsetenv("HSA_SCRATCH_SINGLE_LIMIT");
    Executable code{machine.gpu(), "order"};
    Memory out{machine.cpu().fine, 4096, machine.agents()};
    Queue poor{machine.gpu()}, other{machine.gpu()};
    REQUIRE(control->fail(KFDEMU_SCRATCH, 1, KFDEMU_ALL, ENOMEM) == 0);
    Launch wants_scratch = launch(machine, poor, code.kernel("with_scratch"), line(64), out.data(), 7u);
    CHECK(describe(poor.wait_for_error()) == describe(HSA_STATUS_ERROR_OUT_OF_RESOURCES));
    CHECK(wants_scratch.done.load() == 1);
    CHECK(other.drains());
    control->reset();
    run(machine, other, code.kernel("with_scratch"), line(64), out.data(), 7u);
    CHECK(out.as<std::uint32_t>()[5] == 1);  // own[7] was written by i with 7 i = 7 (mod 64)
}

TEST_CASE("child: the runtime starts while a call fails", "[.child]") {
    if (hsa_init() != HSA_STATUS_SUCCESS) return;
    HSA_CHECK(hsa_shut_down());
}

TEST_CASE("the runtime starts or reports the reason, whichever request fails", "[control][failures]") {
    NEEDS_CONTROL(control);
    // Only requests whose failure the runtime checks: for others its asserts abort.
    const char* rows[] = {"ioctl/0x01:1:EIO", "ioctl/0x14:1:ENOMEM", "ioctl/0x15:1:EINVAL", "allocation:1:ENOMEM",
                          "mmap:1:ENOMEM"};
    for (const char* failure : rows) {
        INFO(failure);
        const char* model = std::getenv("KFDEMU");
        const ChildResult child = run_child("child: the runtime starts while a call fails", {},
                                            {{"KFDEMU", std::string{model ? model : "on"} + ",fail=" + failure}});
        INFO(child.output);
        CHECK_FALSE(child.timed_out);
        CHECK(child.signal == 0);
    }
}

TEST_CASE("requests that cannot be meant are refused", "[control]") {
    NEEDS_CONTROL(control);
    const std::uint32_t word = 0;
    CHECK(control->fail(0, 1, 1, ENOMEM) == EINVAL);
    CHECK(control->fail(99, 1, 1, ENOMEM) == EINVAL);
    CHECK(control->fail(KFDEMU_ALLOCATION, 0, 1, ENOMEM) == EINVAL);
    CHECK(control->fail(KFDEMU_ALLOCATION, 1, 0, ENOMEM) == EINVAL);
    CHECK(control->fail(KFDEMU_ALLOCATION, 1, 1, 0) == EINVAL);
    CHECK(control->fail(KFDEMU_MMAP | 2 << 8, 1, 1, ENOMEM) == EINVAL);
    CHECK(control->interrupts(9, 1, 1, 0) == EINVAL);
    CHECK(control->stall_queue(nullptr, 1) == EINVAL);
    CHECK(control->break_packet(KFDEMU_ALL_COMPUTE_QUEUES, 1, 61, &word, 4) == EINVAL);
    CHECK(control->break_packet(KFDEMU_ALL_COMPUTE_QUEUES, 1, 0, &word, 9) == EINVAL);
    CHECK(control->reset_gpu(99, 0) == ENODEV);
    CHECK(kfdemu_get_control(KFDEMU_CONTROL_VERSION + 1) == nullptr);
    CHECK(control->size_bytes == sizeof(kfdemu_control));
}
