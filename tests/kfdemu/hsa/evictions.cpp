// After a memory fault the kernel driver evicts all of the process's queues on that GPU, compute and SDMA, and a queue
// made there later starts evicted, until the process ends (amdkfd: kfd_dqm_evict_pasid, before 5.18
// kfd_process_vm_fault; "q->properties.is_evicted = !!qpd->evicted" in kfd_device_queue_manager.c). A fault damages its
// process, so every row runs in a separate one.
#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/fault_event.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

// Long enough for running work to complete.
constexpr Duration kWorkTime = 100ms;

/// A machine on which every row may use the first GPU before and after it faults.
struct EvictionScene {
    Fault reported;
    Machine machine;
    const Gpu& gpu = machine.gpu();
    Executable faults{gpu, "faults"}, work{gpu, "work"};
    Memory host{machine.cpu().fine, 4096, machine.agents()}, device{gpu.coarse, 4096, {}};
    Memory words{machine.cpu().fine, 4096, machine.agents()};
    Queue faulty{gpu};
    Signal never;
    Memory given = arguments(machine, faults.kernel("store_at"), kNowhere, 1u);

    EvictionScene() {
        std::memset(words.data(), 0, words.size_bytes());
        HSA_CHECK(hsa_amd_register_system_event_handler(on_event, &reported));
    }
    volatile std::uint32_t* word(int index) const { return words.as<volatile std::uint32_t>() + index; }
    void* at(int index) const { return words.as<std::uint32_t>() + index; }

    void fault() {
        faulty.submit(kernel_packet(faults.kernel("store_at"), {}, given, never));
        REQUIRE(eventually([&] { return reported.events == 1; }));
    }
    void copy_up(const void* from, const Signal& done) const {
        HSA_CHECK(
            hsa_amd_memory_async_copy(device.data(), gpu.agent, from, machine.cpu().agent, 4096, 0, nullptr, done));
    }
    void copy_down(const Signal& done) const {
        HSA_CHECK(hsa_amd_memory_async_copy(host.data(), machine.cpu().agent, device.data(), gpu.agent, 4096, 0,
                                            nullptr, done));
    }
};

}  // namespace

TEST_CASE("child: an innocent queue", "[.child]") {
    EvictionScene scene;
    Queue innocent{scene.gpu};
    REQUIRE(innocent.drains());
    scene.fault();
    CHECK_FALSE(innocent.drains(kWorkTime));
    CHECK(innocent.errors().all().empty());
}

TEST_CASE("child: a kernel that runs", "[.child]") {
    EvictionScene scene;
    Queue innocent{scene.gpu};
    Launch running = launch(scene.machine, innocent, scene.work.kernel("spin"), line(1, 1), scene.at(0), scene.at(1));
    REQUIRE_FALSE(running.completed(kWorkTime));
    scene.fault();
    *scene.word(0) = 1;
    CHECK_FALSE(running.completed(kWorkTime));
    CHECK(*scene.word(1) == 0);
}

TEST_CASE("child: copies", "[.child]") {
    EvictionScene scene;
    const Signal up_before, down_before, up, down;
    scene.copy_up(scene.host.data(), up_before);
    REQUIRE(up_before.completed());
    scene.copy_down(down_before);
    REQUIRE(down_before.completed());
    scene.fault();
    scene.copy_up(scene.host.data(), up);
    CHECK_FALSE(up.completed(kWorkTime));
    scene.copy_down(down);
    CHECK_FALSE(down.completed(kWorkTime));
}

TEST_CASE("child: a fault of a copy", "[.child]") {
    EvictionScene scene;
    Queue innocent{scene.gpu};
    REQUIRE(innocent.drains());
    const Signal never, down;
    scene.copy_up(reinterpret_cast<void*>(kNowhere), never);
    REQUIRE(eventually([&] { return scene.reported.events == 1; }));
    CHECK_FALSE(innocent.drains(kWorkTime));
    scene.copy_down(down);
    CHECK_FALSE(down.completed(kWorkTime));
}

TEST_CASE("child: a queue made later", "[.child]") {
    EvictionScene scene;
    scene.fault();
    Queue later{scene.gpu};
    CHECK_FALSE(later.drains(kWorkTime));
    CHECK(later.errors().all().empty());
    CHECK(later.read_index() == 0);
    later.destroy();
}

TEST_CASE("child: the runtime started again", "[.child]") {
    {
        EvictionScene{}.fault();
    }
    Machine machine;
    Queue later{machine.gpu()};
    CHECK_FALSE(later.drains(kWorkTime));
}

TEST_CASE("child: another GPU", "[.child]") {
    EvictionScene scene;
    Queue there{scene.machine.gpu(1)};
    scene.fault();
    CHECK(there.drains());
    Queue later{scene.machine.gpu(1)};
    CHECK(later.drains());
}

TEST_CASE("a memory fault takes the GPU from its process", "[device][faults]") {
    NEEDS_GPUS(1);
    for (const char* name : {"an innocent queue", "a kernel that runs", "copies", "a fault of a copy",
                             "a queue made later", "the runtime started again"}) {
        DYNAMIC_SECTION(name) {
            const ChildResult child = run_child(std::string{"child: "} + name);
            INFO(child.output);
            CHECK(child.passed());
        }
    }
}

TEST_CASE("a memory fault does not affect the process's other GPUs", "[device][faults]") {
    NEEDS_GPUS(2);
    const ChildResult child = run_child("child: another GPU");
    INFO(child.output);
    CHECK(child.passed());
}
