// Arrays in memory of the caller's allocators.
#include "hsadrv/memory_resource.hpp"

#include <atomic>

#include "tests/devicearray/array_fixture.hpp"

using namespace hsadrv;
using namespace std::chrono_literals;
using array_test::counting;
using test_support::Contains;
using test_support::Device;
using test_support::Gate;

namespace {

/// Counts, and answers as told.
struct Counting final : MemoryResource {
    explicit Counting(AgentRef gpu) : pool(device_pool(gpu)) {}
    AllocatorResource pool;
    std::atomic<int> live{0};
    std::size_t last_bytes = 0;
    std::ptrdiff_t misplaced = 0;
    bool fails = false;

    void* allocate(std::size_t size_bytes, std::size_t alignment, Stream& stream) override {
        if (fails) return nullptr;
        ++live;
        last_bytes = size_bytes;
        return static_cast<std::byte*>(pool.allocate(size_bytes + 256, alignment, stream)) + misplaced;
    }
    void deallocate(void* data, std::size_t size_bytes, std::size_t alignment) noexcept override {
        --live;
        pool.deallocate(static_cast<std::byte*>(data) - misplaced, size_bytes + 256, alignment);
    }
};

}  // namespace

TEST_CASE("an array lives in the given resource until its work is complete", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    auto counting_resource = std::make_shared<Counting>(device.gpu);
    const HostNDArray host = pinned_array({100}, dtypes::float32);
    {
        const Gate gate(device.stream);
        DeviceNDArray array = device_array({100}, dtypes::float32, {}, device.stream, counting_resource);
        CHECK(counting_resource->last_bytes == 400);
        array.fill(3.0f, device.stream);
        array.copy_to_host(host, device.stream);
        array = device_array({0}, dtypes::float32, {}, device.stream, counting_resource);
        CHECK(counting_resource->live == 1);  // the stream holds it, and an empty array has none
    }
    device.stream.synchronize(60s);
    CHECK(host.as<float>()[99] == 3);
    device.stream.synchronize(60s);
    CHECK(counting_resource->live == 0);
    CHECK(counting_resource->pool.allocator().statistics().blocks == 0);
}

TEST_CASE("an array keeps its resource, and has any layout", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    std::weak_ptr<MemoryResource> resource;
    {
        auto given = std::make_shared<AllocatorResource>(device_pool(device.gpu));
        resource = given;
        DeviceNDArray array = device_array({2, 3}, dtypes::float32, Order::F, device.stream, std::move(given));
        CHECK(array.strides_bytes() == Dims{4, 8});
        CHECK_FALSE(resource.expired());
        array.copy_to_device(counting(6), device.stream);
        CHECK(array.get<float>({1, 2}, device.stream) == 5);
    }
    device.stream.synchronize(60s);
    CHECK(resource.expired());
}

TEST_CASE("arrays live in memory of the standard library's resources", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    PinnedResource pinned;
    std::pmr::synchronized_pool_resource pools(&pinned);
    {
        const auto resource = std::make_shared<PmrResource>(pools);
        DeviceNDArray array = device_array({1000}, dtypes::float32, {}, device.stream, resource);
        array.copy_to_device(counting(1000), device.stream);
        CHECK(array.copy_to_host<float>(device.stream) == counting(1000));
        device.stream.synchronize(60s);
    }
    const auto heap = std::make_shared<PmrResource>(*std::pmr::new_delete_resource());
    CHECK_THROWS_WITH(device_array({1000}, dtypes::float32, {}, device.stream, heap), Contains("PinnedResource"));
}

TEST_CASE("without a stream the current device is used", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    const auto resource = std::make_shared<Counting>(device.gpu);
    DeviceNDArray array = device_array({10}, dtypes::float32, {}, {}, resource);
    array.fill(2.0f);
    CHECK(array.copy_to_host<float>() == std::vector<float>(10, 2.0f));
    CHECK(resource->live == 1);
}

TEST_CASE("a resource that returns what it must not is refused", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    const auto resource = std::make_shared<Counting>(device.gpu);
    const auto make = [&] { return device_array({100}, dtypes::float32, {}, device.stream, resource); };
    resource->fails = true;
    CHECK_THROWS_AS(make(), OutOfMemory);
    resource->fails = false;
    resource->misplaced = 4;
    CHECK_THROWS_WITH(make(), Contains("not aligned"));
    CHECK(resource->live == 0);
    CHECK_THROWS_AS(device_array({100}, dtypes::float32, {}, device.stream, std::shared_ptr<MemoryResource>()),
                    InvalidArgument);
}
