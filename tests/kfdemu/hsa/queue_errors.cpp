// An error in a packet or a wave stops only its queue, with the status of the error.
// hsa.h: hsa_queue_create, "callback"; HSA Platform System Architecture Specification 1.2, "Queue error".
// Memory faults, which are the process's, not the queue's, are in memory_faults.cpp.
#include <atomic>
#include <functional>
#include <thread>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

using Packet = hsa_kernel_dispatch_packet_t;

struct ErrorRow {
    const char* name;
    std::function<void(Packet&)> spoil;
    hsa_status_t expected;
};

void set_type(Packet& packet, unsigned type) { packet.header = header(type); }

void set_vendor(Packet& packet, std::uint8_t format) {
    hsa_amd_barrier_value_packet_t vendor =
        barrier_value(kNoSignal, HSA_SIGNAL_CONDITION_EQ, 0, -1, packet.completion_signal);
    vendor.header.AmdFormat = format;
    std::memcpy(&packet, &vendor, sizeof packet);
}

std::uint32_t lds_limit(const Machine& machine) {
    std::size_t size = 0;
    const auto visit = [](hsa_amd_memory_pool_t pool, void* data) {
        hsa_amd_segment_t segment{};
        HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
        if (segment == HSA_AMD_SEGMENT_GROUP)
            HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, data));
        return HSA_STATUS_SUCCESS;
    };
    HSA_CHECK(hsa_amd_agent_iterate_memory_pools(machine.gpu().agent, visit, &size));
    return static_cast<std::uint32_t>(size);
}

/// The queue refuses the packet with that status and stops, while another queue of the same GPU continues.
void require_refused(const Machine& machine, const Packet& bad, const Signal& done, hsa_status_t expected) {
    Queue queue{machine.gpu()}, other{machine.gpu()};
    REQUIRE(queue.drains());
    const std::uint64_t index = queue.submit(bad);
    const Signal after;
    queue.submit(barrier_and({}, after, true));
    CHECK(describe(queue.wait_for_error()) == describe(expected));
    CHECK(other.drains());
    CHECK(queue.read_index() <= index);
    CHECK(done.load() == 1);
    CHECK_FALSE(after.completed(5ms));
    CHECK(queue.errors().all().size() == 1);
    queue.destroy();
    CHECK(other.drains());
    CHECK(other.errors().all().empty());
}

}  // namespace

TEST_CASE("a malformed dispatch stops its queue with the status of its defect", "[device][errors]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable code{machine.gpu(), "work"};
    const std::uint32_t lds = lds_limit(machine);
    const Memory zeros{machine.cpu().fine, 4096, machine.agents()}, ones{machine.cpu().fine, 4096, machine.agents()};
    std::memset(zeros.data(), 0, zeros.size_bytes());
    std::memset(ones.data(), 0xff, ones.size_bytes());
    REQUIRE(lds >= 32768);

    constexpr auto dimensions = HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
    constexpr auto group = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    constexpr auto format = HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    constexpr auto object = HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    const auto workgroup = [](std::uint16_t x, std::uint16_t y, std::uint16_t z) {
        return [=](Packet& p) {
            p.setup = 3;
            p.workgroup_size_x = x, p.workgroup_size_y = y, p.workgroup_size_z = z;
            p.grid_size_x = std::max<std::uint32_t>(x, 64), p.grid_size_y = std::max<std::uint32_t>(y, 64);
            p.grid_size_z = std::max<std::uint32_t>(z, 64);
        };
    };
    const ErrorRow rows[] = {
        {"no dimension", [](Packet& p) { p.setup = 0; }, dimensions},
        {"no dimension that counts, but a reserved bit", [](Packet& p) { p.setup = 4; }, dimensions},
        {"work-group 0 in x", workgroup(0, 1, 1), dimensions},
        {"work-group 0 in y", workgroup(1, 0, 1), dimensions},
        {"work-group 0 in z", workgroup(1, 1, 0), dimensions},
        {"grid 0 in x", [](Packet& p) { p.grid_size_x = 0; }, dimensions},
        {"grid 0 in y", [](Packet& p) { p.setup = 2, p.grid_size_y = 0; }, dimensions},
        {"grid 0 in z", [](Packet& p) { p.setup = 3, p.grid_size_z = 0; }, dimensions},
        {"a grid smaller than the work-group", [](Packet& p) { p.grid_size_x = 63; }, dimensions},
        {"work-group 1025 in x", workgroup(1025, 1, 1), group},
        {"work-group 1025 in y", workgroup(1, 1025, 1), group},
        {"work-group 1025 in z", workgroup(1, 1, 1025), group},
        {"work-group 1026 of two dimensions", workgroup(513, 2, 1), group},
        {"work-group 1056 of three dimensions", workgroup(32, 11, 3), group},
        {"work-group of 2^48", workgroup(65535, 65535, 65535), group},
        {"LDS one byte over", [=](Packet& p) { p.group_segment_size = lds + 1; }, HSA_STATUS_ERROR_INVALID_ALLOCATION},
        {"all of 32 bits of LDS", [](Packet& p) { p.group_segment_size = UINT32_MAX; },
         HSA_STATUS_ERROR_INVALID_ALLOCATION},
        {"kernel object null", [](Packet& p) { p.kernel_object = 0; }, object},
        {"kernel object misaligned", [](Packet& p) { p.kernel_object += 8; }, object},
        {"kernel object of zeros", [&](Packet& p) { p.kernel_object = zeros.address(); }, object},
        {"kernel object of ones", [&](Packet& p) { p.kernel_object = ones.address(); }, object},
        {"agent dispatch", [](Packet& p) { set_type(p, HSA_PACKET_TYPE_AGENT_DISPATCH); }, format},
        {"reserved type 6", [](Packet& p) { set_type(p, 6); }, format},
        {"reserved type 127", [](Packet& p) { set_type(p, 127); }, format},
        {"reserved type 255", [](Packet& p) { set_type(p, 255); }, format},
        {"vendor format 0", [](Packet& p) { set_vendor(p, 0); }, format},
        {"a barrier-value packet of no condition",
         [](Packet& p) {
             const Signal any;
             const auto vendor = barrier_value(any, 4, 0, -1, p.completion_signal);
             std::memcpy(&p, &vendor, sizeof p);
         },
         format},
        {"vendor format 99", [](Packet& p) { set_vendor(p, 99); }, format},
    };
    for (const ErrorRow& row : rows) {
        DYNAMIC_SECTION(row.name) {
            const Kernel kernel = code.kernel("nothing");
            const Memory none = arguments(machine, kernel);
            const Signal done;
            Packet packet = kernel_packet(kernel, line(64), none, done);
            row.spoil(packet);
            require_refused(machine, packet, done, row.expected);
        }
    }
}

TEST_CASE("the largest that is allowed runs", "[device][errors]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable code{machine.gpu(), "work"};
    Queue queue{machine.gpu()};
    const Kernel kernel = code.kernel("count");
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    const std::pair<const char*, Shape> rows[] = {
        {"all of LDS", {.grid = {64, 1, 1}, .group_bytes = lds_limit(machine)}},
        {"1024 in x", {.grid = {1024, 1, 1}, .workgroup = {1024, 1, 1}}},
        {"1024 in y", {.grid = {1, 1024, 1}, .workgroup = {1, 1024, 1}}},
        {"1024 in z", {.grid = {1, 1, 1024}, .workgroup = {1, 1, 1024}}},
        {"1024 in three dimensions", {.grid = {16, 8, 8}, .workgroup = {16, 8, 8}}},
        {"a grid that is no multiple", {.grid = {1025, 1, 1}, .workgroup = {1024, 1, 1}}},
        {"work-groups of one", {.grid = {3, 3, 3}, .workgroup = {1, 1, 1}}},
    };
    for (const auto& [name, shape] : rows) {
        CAPTURE(name);
        *total.as<std::uint32_t>() = 0;
        run(machine, queue, kernel, shape, total.data());
        CHECK(*total.as<std::uint32_t>() == shape.grid[0] * shape.grid[1] * shape.grid[2]);
    }
    CHECK(queue.errors().all().empty());
}

TEST_CASE("a failing wave stops its queue with the status of its failure", "[device][errors]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable code{machine.gpu(), "faults"};
    const auto exception = [&](const char* name, hsa_status_t expected, auto... values) {
        CAPTURE(name);
        const Kernel kernel = code.kernel(name);
        const Memory given = arguments(machine, kernel, values...);
        const Signal done;
        require_refused(machine, kernel_packet(kernel, line(256), given, done), done, expected);
    };
    SECTION("an illegal instruction") {
        exception("illegal", static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION));
    }
    SECTION("a trap") { exception("trap", HSA_STATUS_ERROR_EXCEPTION); }
    SECTION("an address that is not canonical") {
        exception("store_at", static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION),
                  std::uint64_t{0x0100'0000'0000'0000}, 1u);
    }
}

TEST_CASE("work before the bad packet has its results, and work after it does not run", "[device][errors]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable work{machine.gpu(), "work"}, faults{machine.gpu(), "faults"};
    Queue queue{machine.gpu()};
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    *total.as<std::uint32_t>() = 0;
    const Kernel count = work.kernel("count"), trap = faults.kernel("trap");
    const Memory counting = arguments(machine, count, total.data()), none = arguments(machine, trap);
    Shape shape = line(64);
    shape.barrier_bit = true;
    const Signal before, bad, after;
    queue.submit(kernel_packet(count, shape, counting, before));
    queue.submit(kernel_packet(trap, shape, none, bad));
    queue.submit(kernel_packet(count, shape, counting, after));
    CHECK(describe(queue.wait_for_error()) == describe(HSA_STATUS_ERROR_EXCEPTION));
    CHECK(before.load() == 0);
    CHECK(bad.load() == 1);
    CHECK_FALSE(after.completed(20ms));
    CHECK(*total.as<std::uint32_t>() == 64);
    CHECK(queue.read_index() == 1);
}

// Not from within: hsa_queue_destroy waits for the callback to return (ROCR's ~AqlQueue), on any device.
TEST_CASE("a queue may be destroyed by another thread while its error callback runs", "[device][errors]") {
    NEEDS_GPUS(1);
    Machine machine;
    struct Callback {
        std::atomic<bool> entered{false}, left{false};
    } callback;
    const auto on_error = [](hsa_status_t, hsa_queue_t*, void* data) {
        auto& self = *static_cast<Callback*>(data);
        self.entered = true;
        std::this_thread::sleep_for(50ms);
        self.left = true;
    };
    hsa_queue_t* queue = nullptr;
    HSA_CHECK(hsa_queue_create(machine.gpu().agent, 64, HSA_QUEUE_TYPE_SINGLE, on_error, &callback, UINT32_MAX,
                               UINT32_MAX, &queue));
    auto* slot = static_cast<std::uint16_t*>(queue->base_address);
    std::memset(slot + 1, 0, 62);
    const std::uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
    __atomic_store_n(slot, header(77), __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
    REQUIRE(eventually([&] { return callback.entered.load(); }));
    HSA_STATUS(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
    CHECK(callback.left);
    Queue other{machine.gpu()};
    CHECK(other.drains());
}

TEST_CASE("an inactivated queue runs no more packets and can be destroyed", "[device][errors]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()}, other{machine.gpu()};
    REQUIRE(queue.drains());
    HSA_STATUS(hsa_queue_inactivate(queue.get()), HSA_STATUS_SUCCESS);
    const Signal done;
    queue.submit(barrier_and({}, done));
    CHECK_FALSE(done.completed(20ms));
    CHECK(other.drains());
    HSA_STATUS(hsa_queue_inactivate(queue.get()), HSA_STATUS_SUCCESS);
    queue.destroy();
    CHECK(other.drains());
}
