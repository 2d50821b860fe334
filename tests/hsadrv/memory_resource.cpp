// Memory resources: pools of their own, the standard library's, and pinned memory for its containers.
#include "hsadrv/memory_resource.hpp"

#include <array>
#include <list>
#include <vector>

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("a resource of its own pool reuses what was returned", "[resource]") {
    NEEDS_DEVICE();
    Device f;
    Stream stream(f.gpu);
    AllocatorResource pool(device_pool(f.gpu));
    void* const first = pool.allocate(1000, 256, stream);
    void* const second = pool.allocate(1000, 16, stream);
    CHECK(first != second);
    CHECK(pool.allocator().statistics().blocks == 2);
    pool.deallocate(first, 1000, 256);
    CHECK(pool.allocate(1000, 256, stream) == first);
    pool.deallocate(first, 1000, 256);
    pool.deallocate(second, 1000, 16);
    CHECK(pool.allocator().statistics().blocks == 0);
    CHECK_THROWS_WITH(pool.allocate(1000, 4096, stream), Contains("alignment of 4096 B"));
}

TEST_CASE("a pool of one GPU gives no memory to a stream of another", "[resource]") {
    NEEDS_DEVICE();
    Device f;
    if (f.driver.gpus().size() < 2) return;
    Stream other(f.driver.gpus()[1]);
    AllocatorResource device(device_pool(f.gpu)), host(host_pool());
    CHECK_THROWS_WITH(device.allocate(1000, 256, other), Contains("does not access the memory of gpu0"));
    CHECK(device.allocator().statistics().blocks == 0);
    void* const data = host.allocate(1000, 256, other);
    CHECK(pointer_info(data).accessible_by(other.agent()));
    host.deallocate(data, 1000, 256);
}

TEST_CASE("containers of the standard library live in pinned memory", "[resource]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    PinnedResource pinned;
    {
        std::pmr::unsynchronized_pool_resource pools(&pinned);
        std::pmr::vector<std::uint32_t> values(1000, 5u, &pools);
        CHECK(pointer_info(values.data()).accessible_by(f.gpu));
        f.scale_add.launch(stream, {.grid = 1000, .workgroup = 64}, values.data(), 3u, 1u, 1000u);
        stream.synchronize(patience);
        CHECK(values == std::pmr::vector<std::uint32_t>(1000, 16u));
        std::pmr::list<int> list({1, 2, 3}, &pools);
        CHECK(list.size() == 3);
    }
    void* const page = pinned.allocate(1, 4096);
    CHECK(reinterpret_cast<std::uintptr_t>(page) % 4096 == 0);
    pinned.deallocate(page, 1, 4096);
    CHECK_THROWS_WITH(pinned.allocate(1, 1 << 30), Contains("alignment"));
}

TEST_CASE("memory of a standard resource is refused unless the GPU accesses it", "[resource]") {
    NEEDS_DEVICE();
    Device f;
    Stream stream(f.gpu);
    PinnedResource pinned;
    std::pmr::synchronized_pool_resource pools(&pinned);
    PmrResource good(pools), bad(*std::pmr::new_delete_resource());
    void* const data = good.allocate(100, 64, stream);
    CHECK(pointer_info(data).accessible_by(f.gpu));
    good.deallocate(data, 100, 64);
    CHECK_THROWS_WITH(bad.allocate(100, 64, stream), Contains("PinnedResource"));
}
