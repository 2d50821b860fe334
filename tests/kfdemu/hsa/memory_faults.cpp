// Accesses that the GPU's page tables refuse: the system event HSA_AMD_GPU_MEMORY_FAULT_EVENT reports them,
// with the page and the reason (hsa_ext_amd.h: hsa_amd_register_system_event_handler,
// hsa_amd_gpu_memory_fault_info_t). The runtime delivers the first of a process and no other, so that every
// row runs in a separate process. On hardware a fault may take the process's other queues of that GPU along
// (amdkfd: kfd_process_vm_fault), so these are not tested here.
#include <csignal>
#include <functional>
#include <map>
#include <mutex>

#include "child.hpp"
#include "kernel.hpp"

using namespace hsa_test;

namespace {

struct Fault {
    std::mutex mutex;
    int events = 0;
    hsa_amd_gpu_memory_fault_info_t info{};

    bool came() {
        std::lock_guard lock{mutex};
        return events != 0;
    }
};

hsa_status_t on_event(const hsa_amd_event_t* event, void* data) {
    auto& fault = *static_cast<Fault*>(data);
    if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
    std::lock_guard lock{fault.mutex};
    ++fault.events;
    fault.info = event->memory_fault;
    return HSA_STATUS_SUCCESS;
}

/// A row's action: submits work that faults, and returns the expected page and reason.
struct Expected {
    std::uint64_t address;
    std::uint32_t reason;
};
struct Scene {
    Machine& machine;
    Queue& queue;
    const Executable& faults;
    const Signal& done;
    std::vector<Memory> kept{};

    void launch(const std::string& name, Memory given) {
        queue.submit(kernel_packet(faults.kernel(name), {}, given, done));
        kept.push_back(std::move(given));
    }
    template <class... Values>
    void launch_with(const std::string& name, Values... values) {
        launch(name, arguments(machine, faults.kernel(name), values...));
    }
};
using Row = std::function<Expected(Scene&)>;

constexpr std::uint32_t kAbsent = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
constexpr std::uint64_t kNowhere = 0x1234'5678'9000;
// Larger than the blocks that the runtime cuts small allocations from, and keeps.
constexpr std::size_t kWhole = 4 << 20;

std::uint64_t past(const Memory& memory) { return memory.address() + memory.size_bytes(); }

const std::map<std::string, Row>& rows() {
    static const std::map<std::string, Row> table = {
        {"null store",
         [](Scene& s) {
             s.launch_with("store_at", std::uint64_t{0}, 1u);
             return Expected{0, kAbsent};
         }},
        {"null load",
         [](Scene& s) {
             s.launch_with("load_at", std::uint64_t{0}, static_cast<void*>(nullptr));
             return Expected{0, kAbsent};
         }},
        {"store where nothing is",
         [](Scene& s) {
             s.launch_with("store_at", kNowhere + 0x238, 1u);
             return Expected{kNowhere, kAbsent};
         }},
        {"atomic where nothing is",
         [](Scene& s) {
             s.launch_with("atomic_at", kNowhere + 0x100);
             return Expected{kNowhere, kAbsent};
         }},
        {"store past an allocation",
         [](Scene& s) {
             Memory memory{s.machine.gpu().coarse, kWhole, {}};
             const std::uint64_t end = past(memory);
             s.launch_with("store_at", end, 1u);
             s.kept.push_back(std::move(memory));
             return Expected{end, kAbsent};
         }},
        {"store to what was freed",
         [](Scene& s) {
             const std::uint64_t address = Memory{s.machine.gpu().coarse, kWhole, {}}.address();
             s.launch_with("store_at", address + 4096, 1u);
             return Expected{address + 4096, kAbsent};
         }},
        {"host memory without access",
         [](Scene& s) {
             Memory memory{s.machine.cpu().coarse.handle ? s.machine.cpu().coarse : s.machine.cpu().fine, 4096, {}};
             const std::uint64_t address = memory.address();
             s.launch_with("store_at", address + 64, 1u);
             s.kept.push_back(std::move(memory));
             return Expected{address, kAbsent};
         }},
        {"a stack variable of the host",
         [](Scene& s) {
             static std::uint32_t variable = 0;
             const auto address = reinterpret_cast<std::uint64_t>(&variable);
             s.launch_with("store_at", address, 1u);
             return Expected{address & ~std::uint64_t{4095}, kAbsent};
         }},
        {"arguments null",
         [](Scene& s) {
             s.launch("store_at", Memory{});
             return Expected{0, kAbsent};
         }},
        {"arguments beyond their allocation",
         [](Scene& s) {
             Memory memory = arguments(s.machine, s.faults.kernel("store_at"), kNowhere, 1u);
             auto packet = kernel_packet(s.faults.kernel("store_at"), {}, memory, s.done);
             const std::uint64_t end = (past(memory) + 4095) & ~std::uint64_t{4095};
             packet.kernarg_address = reinterpret_cast<void*>(end);
             s.queue.submit(packet);
             s.kept.push_back(std::move(memory));
             return Expected{end, kAbsent};
         }},
        {"a jump to nowhere",
         [](Scene& s) {
             s.launch_with("jump_to", kNowhere);
             return Expected{kNowhere, kAbsent};
         }},
        {"a barrier's completion signal that is none",
         [](Scene& s) {
             s.queue.submit(barrier_and({}, hsa_signal_t{kNowhere}));
             return Expected{kNowhere, kAbsent};
         }},
        {"a kernel's completion signal that is none",
         [](Scene& s) {
             Memory given = arguments(s.machine, s.faults.kernel("well"));
             auto packet = kernel_packet(s.faults.kernel("well"), {}, given, hsa_signal_t{kNowhere});
             s.queue.submit(packet);
             s.kept.push_back(std::move(given));
             return Expected{kNowhere, kAbsent};
         }},
        {"a dependency that is no signal",
         [](Scene& s) {
             s.queue.submit(barrier_and({hsa_signal_t{kNowhere}}, s.done));
             return Expected{kNowhere, kAbsent};
         }},
    };
    return table;
}

}  // namespace

TEST_CASE("child: faults", "[.child]") {
    Fault fault;
    Machine machine;
    HSA_CHECK(hsa_amd_register_system_event_handler(on_event, &fault));
    Queue queue{machine.gpu()};
    const Executable faults{machine.gpu(), "faults"};
    const Signal done;
    REQUIRE(queue.drains());
    Scene scene{machine, queue, faults, done};
    const std::uint64_t index = queue.write_index();
    const Expected expected = rows().at(row())(scene);
    REQUIRE(eventually([&] { return fault.came(); }));
    std::lock_guard lock{fault.mutex};
    CHECK((fault.info.virtual_address & ~std::uint64_t{4095}) == expected.address);
    CHECK((fault.info.fault_reason_mask & expected.reason) == expected.reason);
    CHECK(fault.info.agent.handle == machine.gpu().agent.handle);
    CHECK(fault.events == 1);
    CHECK(done.load() == 1);
    CHECK(queue.read_index() <= index);
    queue.destroy();
}

TEST_CASE("a memory fault names its page and its reason, and the queue can be destroyed", "[device][faults]") {
    NEEDS_GPUS(1);
    for (const auto& [name, row] : rows()) {
        DYNAMIC_SECTION(name) {
            const ChildResult child = run_child("child: faults", name);
            INFO(child.output);
            CHECK(child.passed());
        }
    }
}

TEST_CASE("child: an unhandled fault", "[.child]") {
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable faults{machine.gpu(), "faults"};
    const Launch launched = launch(machine, queue, faults.kernel("store_at"), {}, kNowhere, 1u);
    CHECK(launched.completed());
}

TEST_CASE("a memory fault without a handler ends the process with the fault's address", "[device][faults]") {
    NEEDS_GPUS(1);
    const ChildResult child = run_child("child: an unhandled fault");
    INFO(child.output);
    CHECK(child.signal == SIGABRT);
    CHECK(child.output.find("Memory access fault by GPU") != std::string::npos);
    CHECK(child.output.find("0x123456789000") != std::string::npos);
}
