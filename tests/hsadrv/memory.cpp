// Memory: allocations from pools, and queries about addresses.
#include "hsadrv/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/hsadrv/control.hpp"
#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("an allocation is aligned, owned and known to the runtime", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    const Allocation a = Allocation::from_pool(device_pool(device.gpu), 1000);
    REQUIRE(a);
    CHECK(a.size_bytes() == 1000);
    CHECK(a.owner() == device.gpu);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 4096 == 0);
    CHECK(a.as<float>() == a.data());
    CHECK(detail::launchable(a) == a.data());

    const PointerInfo info = pointer_info(static_cast<std::byte*>(a.data()) + 100);
    CHECK(info.kind == PointerInfo::Kind::pool);
    CHECK(info.owner == device.gpu);
    CHECK(info.device_memory());
    CHECK(info.agent_base == a.data());
    CHECK(info.bytes_after(static_cast<std::byte*>(a.data()) + 100) == info.size_bytes - 100);
}

TEST_CASE("an address is queried for its other address, its owner's kind and the agents with access", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    const Allocation on_gpu = Allocation::from_pool(device_pool(device.gpu), 8192),
                     pinned = Allocation::from_pool(host_pool(), 8192);
    std::vector<std::byte> host(8192);
    const Registration registered(host.data(), host.size(), {device.gpu});

    const PointerInfo gpu_info = pointer_info(on_gpu.data()), pinned_info = pointer_info(pinned.as<char>() + 1),
                      host_info = pointer_info(host.data() + 100), nothing = pointer_info(&device);
    CHECK(gpu_info.accessible_by(device.gpu));
    CHECK(pinned_info.accessible_by(device.gpu));
    CHECK_FALSE(nothing.accessible_by(device.gpu));
    CHECK_FALSE(gpu_info.host_memory());
    REQUIRE(gpu_info.pool());
    CHECK(gpu_info.pool()->native().handle == device_pool(device.gpu).native().handle);
    CHECK_FALSE(nothing.pool());
    for (const PointerInfo& info : {pinned_info, host_info, nothing}) CHECK(info.host_memory());

    CHECK(host_info.kind == PointerInfo::Kind::registered);
    const auto* at_gpu = static_cast<const std::byte*>(registered.device_address()) + 100;
    CHECK(host_info.agent_address(host.data() + 100) == at_gpu);
    CHECK(host_info.host_address(at_gpu) == host.data() + 100);
    CHECK(host_info.host_address(host.data() + 100) == host.data() + 100);
    CHECK(pinned_info.host_address(pinned.as<char>() + 7) == pinned.as<char>() + 7);
}

TEST_CASE("zero bytes are an empty allocation", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    const Allocation a = Allocation::from_pool(device_pool(device.gpu), 0);
    CHECK_FALSE(a);
    CHECK(a.data() == nullptr);
    CHECK(a.size_bytes() == 0);
}

TEST_CASE("too large a size throws OutOfMemory with the numbers, and changes nothing", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    for (const MemPool& pool : {device_pool(device.gpu), host_pool(HostMemory::fine_grained)}) {
        const std::size_t most = pool.alloc_max_bytes();
        for (const std::size_t size : {most + 1, most + pool.alloc_granule_bytes(), SIZE_MAX, SIZE_MAX - 4095}) {
            CAPTURE(size);
            CHECK_THROWS_AS(Allocation::from_pool(pool, size), OutOfMemory);
            CHECK_THROWS_WITH(Allocation::from_pool(pool, size),
                              Contains("hsa_amd_memory_pool_allocate(" + std::to_string(size)) &&
                                  Contains(pool.label()) && Contains(std::to_string(pool.size_bytes()) + " B in pool"));
        }
    }
    CHECK(Allocation::from_pool(device_pool(device.gpu), 4096));
}

TEST_CASE("exhausted device memory is an error, and freed memory is available again", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    const MemPool pool = device_pool(device.gpu);
    const std::size_t part = pool.size_bytes() / 8;
    std::vector<Allocation> all;
    bool ran_out = false;
    for (int i = 0; i < 10 && !ran_out; ++i) try {
            all.push_back(Allocation::from_pool(pool, part));
        } catch (const OutOfMemory& error) {
            ran_out = true;
            CHECK_THAT(error.what(), Contains("HSA_STATUS_ERROR_OUT_OF_RESOURCES"));
        }
    CHECK(ran_out);
    CHECK(all.size() >= 4);
    all.clear();
    CHECK(Allocation::from_pool(pool, part));
}

TEST_CASE("moving transfers the memory; releasing gives up ownership", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    const MemPool pool = device_pool(device.gpu);
    Allocation a = Allocation::from_pool(pool, 4096);
    void* const data = a.data();
    Allocation b = std::move(a);
    CHECK(b.data() == data);
    CHECK(a.data() == nullptr);  // NOLINT: moved-from is empty
    b = Allocation::from_pool(pool, 8192);
    CHECK(b.data() != nullptr);
    CHECK(b.size_bytes() == 8192);

    void* const native = b.release();
    CHECK_FALSE(b);
    const Allocation adopted = Allocation::from_native(native, 8192, device.gpu);
    CHECK(adopted.data() == native);
}

TEST_CASE("pinned host memory is written by the host and mapped for every GPU", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    for (const HostMemory kind : {HostMemory::fine_grained, HostMemory::coarse_grained, HostMemory::kernarg}) {
        const Allocation a = Allocation::from_pool(host_pool(kind), 10000);
        std::memset(a.data(), 0x5a, a.size_bytes());
        const PointerInfo info = pointer_info(a.data());
        CHECK(info.kind == PointerInfo::Kind::pool);
        CHECK(info.owner.is_cpu());
        CHECK_FALSE(info.device_memory());
        for (const AgentRef gpu : device.driver.gpus())
            CHECK(std::count(info.accessible.begin(), info.accessible.end(), gpu) == 1);
    }
}

TEST_CASE("ordinary host memory is pageable", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    std::vector<int> host(100);
    const PointerInfo info = pointer_info(host.data());
    CHECK(info.kind == PointerInfo::Kind::pageable);
    CHECK_FALSE(info.device_memory());
    CHECK(info.agent_address(host.data()) == host.data());
}

TEST_CASE("sizes at every limit are allocated, or refused with the right error", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    for (const MemPool& pool : {device_pool(device.gpu), host_pool(HostMemory::fine_grained),
                                host_pool(HostMemory::coarse_grained), host_pool(HostMemory::kernarg)}) {
        CAPTURE(pool.label());
        const std::size_t granule = pool.alloc_granule_bytes(), most = pool.alloc_max_bytes();
        for (const std::size_t size : {std::size_t{1}, granule - 1, granule, granule + 1, 513 * granule}) {
            CAPTURE(size);
            const Allocation a = Allocation::from_pool(pool, size);
            CHECK(a.size_bytes() == size);
            CHECK(pointer_info(a.data()).bytes_after(a.data()) >= size);
        }
        for (const std::size_t size :
             {most + 1, most + granule, SIZE_MAX / 2 + 1, SIZE_MAX - granule, SIZE_MAX - 1, SIZE_MAX}) {
            CAPTURE(size);
            CHECK_THROWS_AS(Allocation::from_pool(pool, size), OutOfMemory);
        }
    }
}

// A second free cannot be written: an Allocation frees once and moves. But memory can be adopted that is not allocated.
TEST_CASE("freed, foreign and interior addresses are not adopted", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    const MemPool pool = device_pool(device.gpu);
    // Larger than the blocks that the runtime cuts small allocations from.
    constexpr std::size_t size = 4 << 20;
    void* freed = nullptr;
    {
        const Allocation a = Allocation::from_pool(pool, size);
        freed = a.data();
        auto* const within = static_cast<std::byte*>(a.data()) + 4096;
        CHECK_THROWS_WITH(Allocation::from_native(within, 4096, device.gpu), Contains("is inside an allocation"));
        CHECK_THROWS_WITH(Allocation::from_native(a.data(), size + 1, device.gpu), Contains(" B"));
        CHECK_THROWS_WITH(Allocation::from_native(a.data(), size, device.driver.cpus().front()),
                          Contains("belongs to " + device.gpu.label()));
    }
    int own = 0;
    std::vector<std::byte> host(8192);
    const Registration pinned(host.data(), host.size(), {device.gpu});
    CHECK_THROWS_AS(Allocation::from_native(freed, size, device.gpu), InvalidArgument);
    CHECK_THROWS_WITH(Allocation::from_native(&own, 4, device.gpu), Contains("no memory of a pool"));
    CHECK_THROWS_AS(Allocation::from_native(host.data(), 100, device.gpu), InvalidArgument);
    CHECK_THROWS_AS(Allocation::from_native(nullptr, 100, device.gpu), InvalidArgument);
    CHECK_FALSE(Allocation::from_native(nullptr, 0, device.gpu));
}

TEST_CASE("a queue's own ring is not adopted, and cannot be freed that way", "[memory][queue]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue queue = Queue::create(device.gpu, {.packets = 64});
    void* const ring = queue.ref().native()->base_address;
    for (const AgentRef owner : device.driver.agents())
        CHECK_THROWS_AS(Allocation::from_native(ring, 64 * 64, owner), InvalidArgument);
    CHECK_THROWS_WITH(Allocation::from_native(ring, 64 * 64, pointer_info(ring).owner), Contains("ring of a queue"));
    CHECK_THROWS_AS(deregister_memory(ring), InvalidArgument);
    const Signal done = Signal::create(1);
    queue.ref().submit(barrier_and({}, done.native()));
    CHECK(queue.ref().wait(done, Condition::less, 1, patience) == 0);
}

TEST_CASE("an allocation whose N-th kernel request fails is an error, without leaks", "[memory][failures]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL(control);
    const Device device;
    for (const MemPool& pool : {device_pool(device.gpu), host_pool()}) {
        CAPTURE(pool.label());
        // The runtime asserts that freeing succeeds, so only allocating requests fail here.
        Allocation made;
        const auto use = [&] { made = Allocation::from_pool(pool, 4 << 20); };
        use();
        for (const Failure& failure : control.kinds()) {
            CAPTURE(failure.what);
            made = Allocation();
            const std::uint64_t calls = control.calls(failure, use);
            for (std::uint64_t nth = 1; nth <= calls; ++nth) {
                CAPTURE(nth);
                made = Allocation();
                const auto held = control.held();
                control.fail(failure, nth);
                try {
                    use();
                } catch (const Error& error) {
                    CHECK_THAT(error.what(), Contains("(4194304 B, ") || Contains("allow_access"));
                }
                control.reset();
                made = Allocation();
                CHECK(control.held() == held);
                CHECK_NOTHROW(use());
            }
        }
    }
}
