// Faults: the message and fields that describe the address, and the objects that still work afterwards. And
// reports of leaks.
#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hsadrv/graph_builder.hpp"
#include "tests/hsadrv/stream_fixture.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

// Larger than the blocks that the runtime cuts small allocations from, so that the next page is not mapped.
constexpr std::size_t block_bytes = 4u << 20;

struct Faulting : Device {
    Executable code = Executable::load(gpu, test_support::test_file("stream.hsaco"));
    Kernel store_at = code.kernel("store_at"), scale_add = code.kernel("scale_add");

    Stream bad{gpu}, good{gpu};
    Allocation data = Allocation::from_pool(host_pool(), 4096);
    std::uint32_t* words = static_cast<std::uint32_t*>(data.data());

    /// Allocates everything that a launch needs beforehand, so that no allocation reuses memory that a test frees.
    Faulting() {
        for (Stream* stream : {&bad, &good}) {
            scale_add.launch(*stream, {.grid = 1, .workgroup = 1}, words, 0u, 2u, 1u);
            stream->synchronize(patience);
        }
    }

    /// The fault of a kernel that stores there. The GPU is lost afterwards: later submissions report that, and
    /// are not suspected.
    std::unique_ptr<MemoryFault> fault_at(std::uint64_t address) {
        std::unique_ptr<MemoryFault> fault;
        store_at.launch(bad, {.grid = 1, .workgroup = 1}, address, 1u);
        try {
            bad.synchronize(patience);
        } catch (const MemoryFault& thrown) {
            fault = std::make_unique<MemoryFault>(thrown);
        }
        CHECK_THROWS_AS(bad.query(), MemoryFault);
        CHECK_THROWS_AS(scale_add.launch(good, {.grid = 1, .workgroup = 1}, words, 3u, 1u, 1u), DeviceLost);
        CHECK_THROWS_AS(Stream(gpu), DeviceLost);
        CHECK_THROWS_AS(Queue::create(gpu), DeviceLost);
        CHECK(words[0] == 2);
        return fault;
    }
};

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// The process has lost the GPU afterwards: each runs in a child.
#define IN_A_CHILD(name)   \
    do {                   \
        NEEDS_DEVICE();    \
        check_child(name); \
    } while (false)

}  // namespace

TEST_CASE("child: a store past an allocation", "[.child][defect]") {
    Faulting f;
    const Allocation a = Allocation::from_pool(device_pool(f.gpu), block_bytes);
    const auto fault = f.fault_at(address_of(a.data()) + block_bytes + 8);
    REQUIRE(fault);
    REQUIRE(fault->nearest());
    CHECK(fault->nearest()->record.begin == address_of(a.data()));
    CHECK(fault->nearest()->record.size_bytes == block_bytes);
    CHECK_FALSE(fault->nearest()->record.freed);
    CHECK(fault->nearest()->distance_bytes > 0);
    CHECK(fault->nearest()->distance_bytes <= 4096);
    CHECK_THAT(fault->what(), Contains("past the end of " + std::to_string(block_bytes) + " B at 0x") &&
                                  Contains("memory_fault.cpp:") && Contains("kernel store_at") &&
                                  Contains(device_pool(f.gpu).label()));
}

TEST_CASE("child: a fault after a queue has stopped", "[.child][defect]") {
    Faulting f;
    Stream stopped(f.gpu, {.exclusive_queue = true});
    Packet unknown = barrier_and({});
    unknown.words[0] = (unknown.words[0] & ~0xffu) | 7;
    stopped.submit(unknown);
    CHECK_THROWS_AS(stopped.synchronize(patience), QueueError);
    const Allocation a = Allocation::from_pool(device_pool(f.gpu), block_bytes);
    const auto fault = f.fault_at(address_of(a.data()) + block_bytes + 8);
    REQUIRE(fault);
    CHECK_THAT(fault->what(), Contains("kernel store_at") && !Contains("queues may have caused it"));
}

TEST_CASE("a queue that stopped earlier is not suspected of a fault", "[memory][fault]") {
    IN_A_CHILD("child: a fault after a queue has stopped");
}

TEST_CASE("a store past an allocation is reported with the allocation and its maker", "[memory][fault]") {
    IN_A_CHILD("child: a store past an allocation");
}

TEST_CASE("child: a store into a freed allocation", "[.child][defect]") {
    Faulting f;
    std::uint64_t address = 0;
    {
        const Allocation a = Allocation::from_pool(device_pool(f.gpu), block_bytes);
        address = address_of(a.data()) + 8192;
    }
    const auto fault = f.fault_at(address);
    REQUIRE(fault);
    REQUIRE(fault->nearest());
    CHECK(fault->nearest()->record.freed);
    CHECK(fault->nearest()->distance_bytes == 0);
    CHECK_THAT(fault->what(), Contains("within " + std::to_string(block_bytes) + " B at 0x") &&
                                  Contains("which were freed") && Contains("kernel store_at"));
}

TEST_CASE("a store into a freed allocation is reported as such", "[memory][fault]") {
    NEEDS_EXACT_FREES();
    IN_A_CHILD("child: a store into a freed allocation");
}

TEST_CASE("child: a store to null", "[.child][defect]") {
    Faulting f;
    const auto fault = f.fault_at(0);
    REQUIRE(fault);
    CHECK(fault->address() == 0);
    CHECK_FALSE(fault->nearest());
    CHECK_THAT(fault->what(), Contains(", null;") && Contains("kernel store_at"));
}

TEST_CASE("a store to null is reported as such", "[memory][fault]") { IN_A_CHILD("child: a store to null"); }

// No missing page but an invalid address: an error of the queue, for which the runtime reports only the kind.
TEST_CASE("child: a store to a non-canonical address", "[.child][defect]") {
    Faulting f;
    f.store_at.launch(f.bad, {.grid = 1, .workgroup = 1}, std::uint64_t{0x0123'4567'89ab'c000}, 1u);
    try {
        f.bad.synchronize(patience);
        FAIL("no error");
    } catch (const Error& error) {
        CHECK_THAT(error.what(), (Contains("MEMORY_APERTURE_VIOLATION") || Contains("non-canonical address")) &&
                                     Contains("kernel store_at"));
    }
    CHECK(f.bad.failed());
}

TEST_CASE("a store to a non-canonical address is an error of that kind", "[memory][fault]") {
    IN_A_CHILD("child: a store to a non-canonical address");
}

TEST_CASE("child: a store to an address never mapped", "[.child][defect]") {
    Faulting f;
    const auto fault = f.fault_at(0x1234'5678'9000);
    REQUIRE(fault);
    CHECK_FALSE(fault->nearest());
    CHECK_THAT(fault->what(), Contains("never mapped"));
}

TEST_CASE("a store to an address never mapped is reported as such", "[memory][fault]") {
    IN_A_CHILD("child: a store to an address never mapped");
}

TEST_CASE("child: a store to read-only memory", "[.child][defect]") {
    Faulting f;
    auto* const pages = static_cast<std::uint32_t*>(
        ::mmap(nullptr, block_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(pages != MAP_FAILED);
    pages[16] = 7;
    hsa_amd_svm_attribute_pair_t attributes[] = {{HSA_AMD_SVM_ATTRIB_READ_ONLY, 1},
                                                 {HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, f.gpu.native().handle}};
    if (hsa_amd_svm_attributes_set(pages, block_bytes, attributes, std::size(attributes)) == HSA_STATUS_SUCCESS) {
        const auto fault = f.fault_at(address_of(pages + 16));
        REQUIRE(fault);
        CHECK(fault->address() / 4096 == address_of(pages + 16) / 4096);
        CHECK_THAT(fault->what(), Contains("read-only"));
    } else {
        std::printf("this GPU has no shared virtual memory\n");
    }
    CHECK(pages[16] == 7);
    CHECK(::munmap(pages, block_bytes) == 0);
}

TEST_CASE("a store to read-only memory is reported as such, and changes nothing", "[memory][fault]") {
    IN_A_CHILD("child: a store to read-only memory");
}

TEST_CASE("child: a store to memory of another GPU", "[.child]") {
    Faulting f;
    const Allocation a = Allocation::from_pool(device_pool(f.driver.gpus()[1]), block_bytes);
    const auto fault = f.fault_at(address_of(a.data()) + 64);
    REQUIRE(fault);
    REQUIRE(fault->nearest());
    CHECK(fault->nearest()->distance_bytes == 0);
    CHECK_FALSE(fault->nearest()->record.freed);
    CHECK_THAT(fault->what(), Contains("within") && Contains(f.driver.gpus()[1].label()));
    Stream other(f.driver.gpus()[1]);  // the other GPU is not lost
    const Executable there = Executable::load(f.driver.gpus()[1], test_support::test_file("stream.hsaco"));
    there.kernel("scale_add").launch(other, {.grid = 1, .workgroup = 1}, f.words, 3u, 1u, 1u);
    CHECK_NOTHROW(other.synchronize(patience));
    CHECK(f.words[0] == 7);
}

TEST_CASE("a store to memory that only another GPU may use names it", "[memory][fault]") {
    NEEDS_DEVICE();
    if (Driver().gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    IN_A_CHILD("child: a store to memory of another GPU");
}

TEST_CASE("child: queues of a lost GPU", "[.child]") {
    test_support::check_nothing();  // the fault is meant
    Faulting f;
    const Queue full = Queue::create(f.gpu, {.packets = f.gpu.queue_min_packets()});
    hsa_queue_t* native = nullptr;
    REQUIRE(hsa_queue_create(f.gpu.native(), 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX,
                             &native) == HSA_STATUS_SUCCESS);
    const Queue viewed = Queue::from_native(native, f.gpu);
    const Signal never = Signal::create(1);
    const hsa_signal_t dependency = never.native();
    const Executable services = Executable::load(f.gpu, test_support::test_file("services.hsaco"));
    GraphBuilder build(f.gpu);
    build.call({}, [] {});
    full.ref().submit(barrier_and({&dependency, 1}));
    while (full.ref().try_submit(barrier_and({}))) {
    }
    std::string thrown;
    std::thread waits([&] { thrown = thrown_by([&] { full.ref().submit(barrier_and({}), patience); }); });
    REQUIRE(f.fault_at(0xdead0000));
    waits.join();
    CHECK_THAT(thrown, Contains("memory fault"));
    CHECK_THROWS_AS(viewed.ref().wait(never, Condition::equal, 0, patience), MemoryFault);
    CHECK_THROWS_AS(Executable::load(f.gpu, test_support::test_file("stream.hsaco")), DeviceLost);
    CHECK_THROWS_AS(services.kernel("hello"), DeviceLost);
    CHECK_THROWS_AS(build.finish(), DeviceLost);
    CHECK(build.nodes() == 1);
}

TEST_CASE("what waits for a queue of a lost GPU ends", "[memory][fault][queue]") {
    IN_A_CHILD("child: queues of a lost GPU");
}

TEST_CASE("child: calls in progress as a GPU is lost", "[.child]") {
    test_support::check_nothing();  // the fault is meant
    Faulting f;
    const Allocation from = Allocation::from_pool(device_pool(f.gpu), block_bytes),
                     to = Allocation::from_pool(device_pool(f.gpu), block_bytes);
    std::atomic<int> begun{0};
    std::vector<std::string> thrown(5);
    std::vector<std::thread> threads;
    for (std::string& error : thrown)
        threads.emplace_back([&] {
            error = thrown_by([&] {
                if (&error == &thrown.front())
                    for (;;) Executable::load(f.gpu, test_support::test_file("stream.hsaco"));
                Stream copies(f.gpu, {.drain = std::chrono::milliseconds(0)});
                for (;; ++begun) copies.copy_async(to.data(), from.data(), block_bytes, patience);
            });
        });
    CHECK(eventually([&] { return begun > 1000; }));  // more than an engine takes
    CHECK(f.fault_at(0xdead0000));
    for (std::thread& thread : threads) thread.join();
    for (const std::string& error : thrown) CHECK_FALSE(error.empty());
}

TEST_CASE("calls that copy and load code as their GPU is lost end", "[memory][fault]") {
    IN_A_CHILD("child: calls in progress as a GPU is lost");
}

TEST_CASE("child: copies between a lost GPU and another", "[.child]") {
    Faulting f;
    const AgentRef second = f.driver.gpus()[1];
    const Allocation lost = Allocation::from_pool(device_pool(f.gpu), 16u << 20),
                     kept = Allocation::from_pool(device_pool(second), 16u << 20),
                     pinned = Allocation::from_pool(host_pool(), 4096);
    std::vector<char> pageable(4096);
    Stream before(second), after(second);
    const Signal go = Signal::create(1);
    before.wait(go, Condition::equal, 0);
    for (int i = 0; i < 4; ++i) before.copy_async(kept.data(), lost.data(), kept.size_bytes());
    Stream both(second), waits(second);
    both.wait(go, Condition::equal, 0);
    both.copy_async(kept.data(), pinned.data(), 4096);
    const Event earlier = both.record();
    waits.wait(earlier);
    both.copy_async(pinned.data(), lost.data(), 4096);
    REQUIRE(f.fault_at(0xdead0000));
    go.store(0);
    CHECK_THROWS_AS(before.synchronize(patience), DeviceLost);
    CHECK_NOTHROW(earlier.synchronize(patience));  // a copy of its own GPU's, before one of the lost GPU's
    CHECK_NOTHROW(waits.synchronize(patience));
    CHECK_THROWS_AS(both.synchronize(patience), DeviceLost);
    CHECK_THROWS_AS(after.copy_async(kept.data(), lost.data(), 4096, patience), DeviceLost);
    CHECK_THROWS_AS(after.copy_async(pinned.data(), lost.data(), 4096, patience), DeviceLost);
    CHECK_THROWS_AS(after.copy_async(pageable.data(), lost.data(), 4096, patience), DeviceLost);
    CHECK_THROWS_AS(after.copy_async(lost.data(), pageable.data(), 4096, patience), DeviceLost);
    CHECK_THROWS_AS(after.fill_async(static_cast<std::uint32_t*>(lost.data()), 1u, 1u << 20, patience), DeviceLost);
    after.copy_async(kept.data(), pinned.data(), 4096);
    CHECK_NOTHROW(after.synchronize(patience));
}

TEST_CASE("copies that a lost GPU's engines would make end, and are refused; other GPUs' go on", "[memory][fault]") {
    NEEDS_DEVICE();
    if (Driver().gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    IN_A_CHILD("child: copies between a lost GPU and another");
}

TEST_CASE("live allocations are known by their maker", "[memory][leak]") {
    NEEDS_DEVICE();
    const Device device;
    const Context gpu(device.gpu);
    const auto find = [](const void* data) {
        for (const AllocationRecord& record : live_allocations())
            if (record.begin == address_of(data)) return record;
        return AllocationRecord{};
    };
    const auto line = std::source_location::current().line() + 1;
    Allocation a = Allocation::from_pool(device_pool(device.gpu), 5000);
    const Allocation b = gpu.allocate_host(6000);
    CHECK(find(a.data()).where.line() == line);
    CHECK(find(a.data()).size_bytes == 5000);
    CHECK(find(a.data()).label == device_pool(device.gpu).label());
    CHECK(find(b.data()).where.line() == line + 1);
    const std::string report = leak_report();
    CHECK_THAT(report, Contains("memory_fault.cpp:" + std::to_string(line)) && Contains("5000 B in 1 ("));
    void* const native = a.release();
    CHECK(find(native).size_bytes == 0);
    const void* data = nullptr;
    {
        const Allocation adopted = Allocation::from_native(native, 5000, device.gpu);
        data = adopted.data();
        CHECK(find(data).label == device.gpu.label() + ", adopted");
        CHECK_THROWS_AS(Allocation::from_native(native, 5000, device.gpu),
                        InvalidArgument);  // owned
    }
    CHECK(find(data).size_bytes == 0);
}

TEST_CASE("child: leaks", "[.child][defect]") {
    const Device device;
    static auto* const kept = new std::vector<Allocation>;  // reachable at exit, so not itself a leak
    for (int i = 0; i < 3; ++i) kept->push_back(Allocation::from_pool(host_pool(), 7000));
    Allocation::from_pool(host_pool(), 123);
}

TEST_CASE("at exit, memory that was not freed is reported with its allocation site, on request", "[memory][leak]") {
    NEEDS_DEVICE();
    const ChildResult asked = run_test_in_child("child: leaks", "HSADRV_LEAK_REPORT", "1");
    INFO(asked.output);
    CHECK(asked.status == 0);
    CHECK_THAT(asked.output, Contains("3 allocations of 21000 B were not freed") && Contains("21000 B in 3 (cpu0") &&
                                 Contains("memory_fault.cpp:"));
    const ChildResult not_asked = run_test_in_child("child: leaks", "HSADRV_LEAK_REPORT", "0");
    CHECK_THAT(not_asked.output, !Contains("not freed"));
}
