// Memory: allocations from pools, and what an address is.
#include "hsadrv/memory.hpp"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "device.hpp"

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

    const PointerInfo info = pointer_info(static_cast<std::byte*>(a.data()) + 100);
    CHECK(info.kind == PointerInfo::Kind::pool);
    CHECK(info.owner == device.gpu);
    CHECK(info.device_memory());
    CHECK(info.agent_base == a.data());
    CHECK(info.bytes_after(static_cast<std::byte*>(a.data()) + 100) == info.size_bytes - 100);
}

TEST_CASE("zero bytes are an empty allocation", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    const Allocation a = Allocation::from_pool(device_pool(device.gpu), 0);
    CHECK_FALSE(a);
    CHECK(a.data() == nullptr);
    CHECK(a.size_bytes() == 0);
}

TEST_CASE("too much is OutOfMemory with the numbers, and changes nothing", "[memory]") {
    NEEDS_DEVICE();
    const Device device;
    for (const MemPool& pool : {device_pool(device.gpu), host_pool(HostMemory::fine_grained)}) {
        const std::size_t most = pool.alloc_max_bytes();
        for (const std::size_t size :
             {most + 1, most + pool.alloc_granule_bytes(), SIZE_MAX, SIZE_MAX - 4095}) {
            CAPTURE(size);
            CHECK_THROWS_AS(Allocation::from_pool(pool, size), OutOfMemory);
            CHECK_THROWS_WITH(Allocation::from_pool(pool, size),
                              Contains("hsa_amd_memory_pool_allocate(" + std::to_string(size)) &&
                                  Contains(pool.label()) &&
                                  Contains(std::to_string(pool.size_bytes()) + " B in pool"));
        }
    }
    CHECK(Allocation::from_pool(device_pool(device.gpu), 4096));
}

TEST_CASE("device memory runs out as an error, and comes back", "[memory]") {
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

TEST_CASE("moving hands the memory on; releasing gives it up", "[memory]") {
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
    for (const HostMemory kind :
         {HostMemory::fine_grained, HostMemory::coarse_grained, HostMemory::kernarg}) {
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
