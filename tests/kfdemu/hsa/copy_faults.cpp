// Copies of memory that the GPU cannot reach: a memory fault, reported as a kernel's (memory_faults.cpp), one per
// process.
#include <atomic>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/fault_event.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

TEST_CASE("child: a copy that faults", "[.child]") {
    Fault fault;
    Machine machine;
    HSA_CHECK(hsa_amd_register_system_event_handler(on_event, &fault));
    Queue queue{machine.gpu()};
    const Gpu& gpu = machine.gpu();
    const Memory device{gpu.coarse, 4 << 20, {}}, host{machine.cpu().fine, 4 << 20, machine.agents()};
    const Memory hidden{machine.cpu().fine, 4 << 20, {}};
    auto* nowhere = reinterpret_cast<void*>(kNowhere);
    const Signal done;
    const auto copy = [&](void* to, const void* from, std::size_t size) {
        const bool up = row().find("up") != std::string::npos;
        HSA_CHECK(hsa_amd_memory_async_copy(to, up ? gpu.agent : machine.cpu().agent, from,
                                            up ? machine.cpu().agent : gpu.agent, size, 0, nullptr, done));
    };
    std::uint64_t expected = kNowhere;
    if (row() == "up, from nowhere") {
        copy(device.data(), nowhere, 4096);
    } else if (row() == "down, to nowhere") {
        copy(nowhere, device.data(), 4096);
    } else if (row() == "up, from memory without access") {
        copy(device.data(), hidden.data(), 4096);
        expected = hidden.address();
    } else if (row() == "down, past the end") {
        expected = device.address() + device.size_bytes();
        copy(host.data(), device.as<std::byte>() + device.size_bytes() - 8192, 3 * 4096);
    }
    REQUIRE(eventually([&] { return fault.events != 0; }));
    CHECK((fault.address & ~std::uint64_t{4095}) == expected);
    CHECK((fault.reason & HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT) != 0);
    CHECK(done.load() == 1);
}

TEST_CASE("a copy from or to unmapped memory is a memory fault at that address", "[device][faults]") {
    NEEDS_GPUS(1);
    for (const char* name :
         {"up, from nowhere", "down, to nowhere", "up, from memory without access", "down, past the end"}) {
        const ChildResult child = run_child("child: a copy that faults", name);
        CAPTURE(name, child.output);
        CHECK(child.passed());
    }
}
