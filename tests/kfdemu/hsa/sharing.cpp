// Memory that processes share: hsa_ext_amd.h, hsa_amd_ipc_memory_create, _attach and _detach,
// hsa_amd_ipc_signal_create and _attach. The exporter and the attacher are separate processes, in
// every way the runtime has of doing it: 6.x passes dma-bufs through a socket, or handles to the kernel
// as 5.x does.
#include <unistd.h>

#include <array>
#include <cstring>
#include <sstream>
#include <thread>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/exchange.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

constexpr std::size_t kFragmentBytes = 64 << 10;  // a part of an allocation of the kernel

std::string text(const hsa_amd_ipc_memory_t& handle) {
    std::ostringstream out;
    for (const std::uint32_t word : handle.handle) out << word << ' ';
    return out.str();
}

hsa_amd_ipc_memory_t handle_from(std::istream& in) {
    hsa_amd_ipc_memory_t handle{};
    for (std::uint32_t& word : handle.handle) in >> word;
    return handle;
}

/// The messages from an exporter to an attacher, and their turns.
struct Turns {
    Pipe attached, go_on;
    std::string text(const hsa_amd_ipc_memory_t& handle, std::size_t bytes) const {
        std::ostringstream out;
        out << ::text(handle) << bytes << ' ' << attached.write_end << ' ' << go_on.read_end;
        return out.str();
    }
};

struct Attached {
    explicit Attached(const Machine& machine, const std::string& row) {
        std::istringstream in{row};
        const auto handle = handle_from(in);
        in >> bytes >> told >> awaited;
        HSA_CHECK(hsa_amd_ipc_memory_attach(&handle, bytes, 1, &machine.gpu().agent, &address));
    }
    void detach() const { HSA_CHECK(hsa_amd_ipc_memory_detach(address)); }

    void* address = nullptr;
    std::size_t bytes = 0;
    int told = -1, awaited = -1;
};

// The runtime's two ways, as its environment variable chooses; 5.x knows but one and ignores it.
const std::vector<Environment> kWays = {{{"HSA_ENABLE_IPC_MODE_LEGACY", "1"}}, {{"HSA_ENABLE_IPC_MODE_LEGACY", "0"}}};

/// Runs a hidden test case of this program in a separate process, once for each mechanism.
void in_each_way(const std::string& test_case, const std::string& row = {}) {
    for (const Environment& way : kWays) {
        const auto child = run_child(test_case, row, way);
        INFO(way.front().first << '=' << way.front().second << '\n' << child.output);
        CHECK(child.passed());
    }
}

}  // namespace

TEST_CASE("child: attaches and writes", "[.child]") {
    Machine machine;
    const Attached attached{machine, row()};
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    HSA_CHECK(hsa_amd_pointer_info(attached.address, &info, nullptr, nullptr, nullptr));
    CHECK(info.agentOwner.handle == machine.gpu().agent.handle);
    const Pipe pipe;
    if (!machine.host_sees(machine.gpu())) CHECK(::write(pipe.write_end, attached.address, 1) == -1);
    CHECK(difference(read_back(machine, attached.address, attached.bytes), pattern(attached.bytes, 1)) == "");
    fill(machine, attached.address, pattern(attached.bytes, 2));
    attached.detach();
}

TEST_CASE("child: exports", "[.child]") {
    Machine machine;
    const std::size_t bytes = std::stoul(row());
    const Memory memory{machine.gpu().coarse, bytes, {}};
    fill(machine, memory.data(), pattern(bytes, 1));
    hsa_amd_ipc_memory_t handle;
    HSA_CHECK(hsa_amd_ipc_memory_create(memory.data(), bytes, &handle));
    const Turns turns;
    for (int time = 0; time < 2; ++time) {
        const auto child = run_child("child: attaches and writes", turns.text(handle, bytes));
        INFO(child.output);
        REQUIRE(child.passed());
        CHECK(difference(read_back(machine, memory.data(), bytes), pattern(bytes, 2)) == "");
        fill(machine, memory.data(), pattern(bytes, 1));
    }
}

TEST_CASE("one process reads what another writes to shared memory", "[device][memory][ipc]") {
    NEEDS_GPUS(1);
    SECTION("an allocation of the kernel's own") { in_each_way("child: exports", std::to_string(kOwnAllocationBytes)); }
    SECTION("a fragment of one") { in_each_way("child: exports", std::to_string(kFragmentBytes)); }
}

TEST_CASE("child: attaches and keeps", "[.child]") {
    Machine machine;
    const Attached attached{machine, row()};
    tell(attached.told);
    await(attached.awaited);
    CHECK(difference(read_back(machine, attached.address, attached.bytes), pattern(attached.bytes, 1)) == "");
    attached.detach();
}

TEST_CASE("child: exports and frees", "[.child]") {
    Machine machine;
    std::optional<Memory> memory{std::in_place, machine.gpu().coarse, kOwnAllocationBytes, std::vector<hsa_agent_t>{}};
    fill(machine, memory->data(), pattern(kOwnAllocationBytes, 1));
    hsa_amd_ipc_memory_t handle;
    HSA_CHECK(hsa_amd_ipc_memory_create(memory->data(), kOwnAllocationBytes, &handle));
    const Turns turns;
    ChildResult child;
    std::thread attacher{
        [&] { child = run_child("child: attaches and keeps", turns.text(handle, kOwnAllocationBytes)); }};
    await(turns.attached.read_end);
    memory.reset();
    const Memory other{machine.gpu().coarse, kOwnAllocationBytes, {}};
    fill(machine, other.data(), pattern(kOwnAllocationBytes, 3));
    tell(turns.go_on.write_end);
    attacher.join();
    INFO(child.output);
    CHECK(child.passed());
    CHECK(difference(read_back(machine, other.data(), kOwnAllocationBytes), pattern(kOwnAllocationBytes, 3)) == "");
}

TEST_CASE("attached memory keeps its contents after its exporter frees it", "[device][memory][ipc]") {
    NEEDS_GPUS(1);
    in_each_way("child: exports and frees");
}

TEST_CASE("child: attaches in vain", "[.child]") {
    Machine machine;
    std::istringstream in{row()};
    const auto handle = handle_from(in);
    void* address = nullptr;
    CHECK(hsa_amd_ipc_memory_attach(&handle, kOwnAllocationBytes, 1, &machine.gpu().agent, &address) !=
          HSA_STATUS_SUCCESS);
}

TEST_CASE("child: exports freed memory", "[.child]") {
    Machine machine;
    hsa_amd_ipc_memory_t handle;
    {
        const Memory memory{machine.gpu().coarse, kOwnAllocationBytes, {}};
        HSA_CHECK(hsa_amd_ipc_memory_create(memory.data(), kOwnAllocationBytes, &handle));
    }
    const auto child = run_child("child: attaches in vain", text(handle));
    INFO(child.output);
    CHECK(child.passed());
}

TEST_CASE("a handle of freed memory cannot be attached", "[device][memory][ipc]") {
    NEEDS_GPUS(1);
    // The other way's socket gives no answer about such memory, and its client waits for one.
    const auto child = run_child("child: exports freed memory", {}, kWays.front());
    INFO(child.output);
    CHECK(child.passed());
}

TEST_CASE("child: attaches a signal and completes it", "[.child]") {
    Machine machine;
    std::istringstream in{row()};
    const hsa_amd_ipc_signal_t handle = handle_from(in);
    hsa_signal_t signal;
    HSA_CHECK(hsa_amd_ipc_signal_attach(&handle, &signal));
    CHECK(hsa_signal_load_scacquire(signal) == 7);
    hsa_signal_store_screlease(signal, 0);
    HSA_CHECK(hsa_signal_destroy(signal));
}

TEST_CASE("child: exports a signal", "[.child]") {
    Machine machine;
    hsa_signal_t signal;
    HSA_CHECK(hsa_amd_signal_create(7, 0, nullptr, HSA_AMD_SIGNAL_IPC, &signal));
    hsa_amd_ipc_signal_t handle;
    HSA_CHECK(hsa_amd_ipc_signal_create(signal, &handle));
    const auto child = run_child("child: attaches a signal and completes it", text(handle));
    INFO(child.output);
    CHECK(child.passed());
    CHECK(hsa_signal_load_scacquire(signal) == 0);
    HSA_CHECK(hsa_signal_destroy(signal));
}

TEST_CASE("a signal of one process is completed by another", "[device][signal][ipc]") {
    NEEDS_GPUS(1);
    in_each_way("child: exports a signal");
}
