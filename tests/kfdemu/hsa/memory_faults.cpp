// Accesses that the GPU's page tables refuse: the system event HSA_AMD_GPU_MEMORY_FAULT_EVENT reports them,
// with the page and the reason (hsa_ext_amd.h: hsa_amd_register_system_event_handler,
// hsa_amd_gpu_memory_fault_info_t). The runtime delivers the first of a process and no other, so that every
// row runs in a separate process. On hardware a fault may take the process's other queues of that GPU along
// (amdkfd: kfd_process_vm_fault), so these are not tested here.
#include <csignal>
#include <functional>
#include <map>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/fault_event.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

/// A row's action: submits work that faults, and returns the expected page and reason.
struct ExpectedFault {
    std::uint64_t address;
    std::uint32_t reason;
};
struct FaultScene {
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
using FaultRow = std::function<ExpectedFault(FaultScene&)>;

// Larger than the blocks that the runtime cuts small allocations from, and keeps.
constexpr std::size_t kWhole = 4 << 20;

std::uint64_t past(const Memory& memory) { return memory.address() + memory.size_bytes(); }

const std::map<std::string, FaultRow>& fault_rows() {
    static const std::map<std::string, FaultRow> table = {
        {"null store",
         [](FaultScene& s) {
             s.launch_with("store_at", std::uint64_t{0}, 1u);
             return ExpectedFault{0, kAbsent};
         }},
        {"null load",
         [](FaultScene& s) {
             s.launch_with("load_at", std::uint64_t{0}, static_cast<void*>(nullptr));
             return ExpectedFault{0, kAbsent};
         }},
        {"store where nothing is",
         [](FaultScene& s) {
             s.launch_with("store_at", kNowhere + 0x238, 1u);
             return ExpectedFault{kNowhere, kAbsent};
         }},
        {"atomic where nothing is",
         [](FaultScene& s) {
             s.launch_with("atomic_at", kNowhere + 0x100);
             return ExpectedFault{kNowhere, kAbsent};
         }},
        {"store past an allocation",
         [](FaultScene& s) {
             Memory memory{s.machine.gpu().coarse, kWhole, {}};
             const std::uint64_t end = past(memory);
             s.launch_with("store_at", end, 1u);
             s.kept.push_back(std::move(memory));
             return ExpectedFault{end, kAbsent};
         }},
        {"store to what was freed",
         [](FaultScene& s) {
             const std::uint64_t address = Memory{s.machine.gpu().coarse, kWhole, {}}.address();
             s.launch_with("store_at", address + 4096, 1u);
             return ExpectedFault{address + 4096, kAbsent};
         }},
        {"host memory without access",
         [](FaultScene& s) {
             Memory memory{s.machine.cpu().coarse.handle ? s.machine.cpu().coarse : s.machine.cpu().fine, 4096, {}};
             const std::uint64_t address = memory.address();
             s.launch_with("store_at", address + 64, 1u);
             s.kept.push_back(std::move(memory));
             return ExpectedFault{address, kAbsent};
         }},
        {"a stack variable of the host",
         [](FaultScene& s) {
             static std::uint32_t variable = 0;
             const auto address = reinterpret_cast<std::uint64_t>(&variable);
             s.launch_with("store_at", address, 1u);
             return ExpectedFault{address & ~std::uint64_t{4095}, kAbsent};
         }},
        {"arguments null",
         [](FaultScene& s) {
             s.launch("store_at", Memory{});
             return ExpectedFault{0, kAbsent};
         }},
        {"arguments beyond their allocation",
         [](FaultScene& s) {
             Memory memory = arguments(s.machine, s.faults.kernel("store_at"), kNowhere, 1u);
             auto packet = kernel_packet(s.faults.kernel("store_at"), {}, memory, s.done);
             const std::uint64_t end = (past(memory) + 4095) & ~std::uint64_t{4095};
             packet.kernarg_address = reinterpret_cast<void*>(end);
             s.queue.submit(packet);
             s.kept.push_back(std::move(memory));
             return ExpectedFault{end, kAbsent};
         }},
        {"a jump to nowhere",
         [](FaultScene& s) {
             s.launch_with("jump_to", kNowhere);
             return ExpectedFault{kNowhere, kAbsent};
         }},
        {"a barrier's completion signal that is none",
         [](FaultScene& s) {
             s.queue.submit(barrier_and({}, hsa_signal_t{kNowhere}));
             return ExpectedFault{kNowhere, kAbsent};
         }},
        {"a kernel's completion signal that is none",
         [](FaultScene& s) {
             Memory given = arguments(s.machine, s.faults.kernel("well"));
             auto packet = kernel_packet(s.faults.kernel("well"), {}, given, hsa_signal_t{kNowhere});
             s.queue.submit(packet);
             s.kept.push_back(std::move(given));
             return ExpectedFault{kNowhere, kAbsent};
         }},
        {"a dependency that is no signal",
         [](FaultScene& s) {
             s.queue.submit(barrier_and({hsa_signal_t{kNowhere}}, s.done));
             return ExpectedFault{kNowhere, kAbsent};
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
    FaultScene scene{machine, queue, faults, done};
    const std::uint64_t index = queue.write_index();
    const ExpectedFault expected = fault_rows().at(row())(scene);
    REQUIRE(eventually([&] { return fault.events != 0; }));
    CHECK((fault.address & ~std::uint64_t{4095}) == expected.address);
    CHECK((fault.reason & expected.reason) == expected.reason);
    CHECK(fault.agent == machine.gpu().agent.handle);
    CHECK(fault.events == 1);
    CHECK(done.load() == 1);
    CHECK(queue.read_index() <= index);
    queue.destroy();
}

TEST_CASE("a memory fault names its page and its reason, and the queue can be destroyed", "[device][faults]") {
    NEEDS_GPUS(1);
    for (const auto& [name, row] : fault_rows()) {
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
