// DLPack tensors of other libraries as arrays: the deleter is called once, after the last use of the tensor;
// malformed or false tensors are refused and stay with their owner.
#include <limits>
#include <optional>
#include <thread>

#include "tests/devicearray/dlpack_fixture.hpp"

#if defined(WITH_DLPACK)
using namespace dlpack_test;

TEMPLATE_TEST_CASE("the deleter is called once, with the end of the last view", "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    const Allocation memory = device.gpu.allocate(4000);
    Foreign<typename TestType::Tensor> foreign(memory.data(), rocm, 0, int32, {10, 100});
    {
        std::optional<DeviceNDArray> array = std::get<DeviceNDArray>(from_dlpack(foreign.raw()));
        CHECK(array->shape() == Dims{10, 100});
        CHECK(array->is_c_contiguous());
        std::vector<DeviceNDArray> views = array->split(3);
        views.push_back(array->transpose());
        array.reset();
        CHECK(foreign.deleted == 0);
        views.erase(views.begin());
        CHECK(foreign.deleted == 0);
    }
    CHECK(foreign.deleted == 1);
}

namespace {

/// Four threads and this one hold views of the array, and destroy them concurrently.
template <class Array>
void drop_at_once(Array array) {
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([view = array.slice({Slice{i * 10, {}}}), &ready] {
            std::optional<Array> mine = view.reshape({-1}).slice({Slice{1, {}}});
            for (++ready; ready < 5;) std::this_thread::yield();
            mine.reset();
        });
    }
    while (ready < 4) std::this_thread::yield();
    {
        const Array last = std::move(array);
        ++ready;
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEMPLATE_TEST_CASE("views destroyed concurrently delete the tensor once", "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    const Allocation memory = device.gpu.allocate(4096);
    for (int round = 0; round < 200; ++round) {
        Foreign<typename TestType::Tensor> foreign(memory.data(), rocm, 0, float32, {1024});
        drop_at_once(std::get<DeviceNDArray>(from_dlpack(foreign.raw())));
        REQUIRE(foreign.deleted == 1);
    }
}

TEMPLATE_TEST_CASE("the deleter is called once for host memory and for an exported tensor", "[dlpack]", DLPACK_FORMS) {
    std::vector<float> memory(1024);
    for (int round = 0; round < 200; ++round) {
        Foreign<typename TestType::Tensor> foreign(memory.data(), cpu, 0, float32, {1024});
        drop_at_once(std::get<HostNDArray>(from_dlpack(foreign.raw())));
        REQUIRE(foreign.deleted == 1);

        HostNDArray array = host_array<float>({1024});
        const std::weak_ptr<const void> exported = array.keep_alive();
        auto tensor = TestType::of(array);
        array = std::get<HostNDArray>(from_dlpack(std::move(tensor)));
        drop_at_once(std::move(array));
        REQUIRE(exported.expired());
    }
}

TEMPLATE_TEST_CASE("a tensor without a deleter is never deleted", "[dlpack]", DLPACK_FORMS) {
    float memory[6] = {1, 2, 3, 4, 5, 6};
    Foreign<typename TestType::Tensor> foreign(memory, cpu, 0, float32, {2, 3});
    foreign.managed.deleter = nullptr;
    {
        HostNDArray array = std::get<HostNDArray>(from_dlpack(foreign.raw()));
        CHECK(array.get<float>({1, 0}) == 4);
        array.set({1, 0}, 9.0f);
    }
    CHECK(memory[3] == 9);
}

TEMPLATE_TEST_CASE("layouts are imported as in the tensor", "[dlpack]", DLPACK_FORMS) {
    const std::vector<std::int32_t> memory = counting<std::int32_t>(100);
    using Tensor = typename TestType::Tensor;
    const auto array_of = [](Foreign<Tensor>& foreign) { return std::get<HostNDArray>(from_dlpack(foreign.raw())); };
    void* const data = const_cast<std::int32_t*>(memory.data());

    Foreign<Tensor> packed(data, cpu, 0, int32, {4, 5});
    CHECK(array_of(packed).layout() == Layout::contiguous({4, 5}, 4));
    Foreign<Tensor> strided(data, cpu, 0, int32, {4, 5}, {1, 4});
    CHECK(array_of(strided).is_f_contiguous());
    Foreign<Tensor> reversed(data, cpu, 0, int32, {10}, {-2});
    reversed.tensor().byte_offset = 200;
    CHECK(array_of(reversed).template get<std::int32_t>({9}) == 50 - 18);
    Foreign<Tensor> broadcast(data, cpu, 0, int32, {3, 5}, {0, 1});
    CHECK(array_of(broadcast).strides_bytes() == Dims{0, 4});
    Foreign<Tensor> scalar(data, cpu, 0, int32, {});
    scalar.tensor().shape = nullptr;
    scalar.tensor().byte_offset = 28;
    CHECK(array_of(scalar).template item<std::int32_t>() == 7);
    Foreign<Tensor> most(data, cpu, 0, int32, std::vector<std::int64_t>(64, 1));
    CHECK(array_of(most).rank() == 64);
    // Any value in an unused field.
    constexpr auto huge = std::numeric_limits<std::int64_t>::max();
    Foreign<Tensor> one(data, cpu, 0, int32, {1, 3}, {huge, 1});
    CHECK(array_of(one).is_c_contiguous());
    Foreign<Tensor> none(nullptr, cpu, 0, int32, {3, 0}, {huge, -huge});
    CHECK(array_of(none).size() == 0);
    // Lanes are a last axis.
    Foreign<Tensor> lanes(data, cpu, 0, {0, 32, 4}, {2, 3}, {1, 2});
    {
        const HostNDArray array = array_of(lanes);
        CHECK(array.shape() == Dims{2, 3, 4});
        CHECK(array.strides_bytes() == Dims{16, 32, 4});
        CHECK(array.dtype() == dtypes::int32);
    }
    for (const auto* each : {&packed, &strided, &reversed, &broadcast, &scalar, &most, &one, &none, &lanes})
        CHECK(each->deleted == 1);
}

TEMPLATE_TEST_CASE("pinned, registered and pageable memory become host arrays", "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    const Allocation pinned = device.gpu.allocate_host(4096);
    std::vector<float> pageable(1024, 1.0f), registered(1024, 1.0f);
    const Registration registration(registered.data(), 4096);
    pinned.as<float>()[1023] = 1.0f;
    const struct {
        void* data;
        int device_type;
    } rows[] = {{pinned.data(), rocm_host},
                {pinned.data(), cpu},
                {pageable.data(), cpu},
                {registered.data(), cpu},
                {registered.data(), rocm_host}};
    for (const auto& row : rows) {
        CAPTURE(row.data, row.device_type);
        Foreign<typename TestType::Tensor> foreign(row.data, row.device_type, 0, float32, {1024});
        {
            const HostNDArray array = std::get<HostNDArray>(from_dlpack(foreign.raw()));
            CHECK(array.data() == row.data);
            CHECK(array.get<float>({-1}) == 1.0f);
            CHECK(array.writable());
        }
        CHECK(foreign.deleted == 1);
    }
    // Partly registered memory is CPU memory.
    const Registration part(pageable.data() + 512, 1024);
    Foreign<typename TestType::Tensor> foreign(pageable.data() + 512, cpu, 0, float32, {512});
    const HostNDArray array = std::get<HostNDArray>(from_dlpack(foreign.raw()));
    CHECK(array.get<float>({511}) == 1.0f);
}

TEMPLATE_TEST_CASE("with two GPUs a tensor belongs to the GPU of its memory", "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    const auto& gpus = device.driver.gpus();
    if (gpus.size() < 2) SKIP_BECAUSE("there is one GPU");
    const Allocation memory[] = {Allocation::from_pool(device_pool(gpus[0]), 64),
                                 Allocation::from_pool(device_pool(gpus[1]), 64)};
    for (int of = 0; of < 2; ++of) {
        for (int says = 0; says < 2; ++says) {
            Foreign<typename TestType::Tensor> foreign(memory[of].data(), rocm, says, float32, {16});
            CAPTURE(of, says);
            if (of == says) {
                CHECK(std::get<DeviceNDArray>(from_dlpack(foreign.raw())).agent() ==
                      gpus[static_cast<std::size_t>(of)]);
                CHECK(foreign.deleted == 1);
            } else {
                CHECK_THROWS_WITH(from_dlpack(foreign.raw()), Contains("device " + std::to_string(says)) &&
                                                                  Contains("memory of gpu" + std::to_string(of)));
                CHECK(foreign.deleted == 0);
            }
        }
    }
}

TEST_CASE("a tensor of the CPU needs no GPU and no runtime", "[dlpack]") {
    float memory[4] = {1, 2, 3, 4};
    Foreign<DLManagedTensor> foreign(memory, cpu, 0, float32, {4});
    {
        const HostNDArray array = std::get<HostNDArray>(from_dlpack(foreign.raw()));
        CHECK(array.get<float>({3}) == 4);
        CHECK(static_cast<int>(to_dlpack(array)->dl_tensor.device.device_type) == cpu);
        CHECK(foreign.deleted == 0);
    }
    CHECK(foreign.deleted == 1);
}

TEMPLATE_TEST_CASE("a read-only array stays read-only", "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    const Allocation memory = device.gpu.allocate(64);
    Foreign<typename TestType::Tensor> foreign(memory.data(), rocm, 0, float32, {16});
    const DeviceNDArray array = std::get<DeviceNDArray>(from_dlpack(foreign.raw(), DlpackAccess::read_only));
    CHECK_THROWS_AS(to_dlpack(array.slice({Slice{1, 3}})), InvalidArgument);
    CHECK_THROWS_WITH(to_dlpack(array), Contains("read-only"));
#if defined(DLPACK_MAJOR_VERSION)
    CHECK(to_dlpack_versioned(array.reshape({4, 4}))->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
#endif
    std::vector<float> host(4);
    Foreign<typename TestType::Tensor> on_host(host.data(), cpu, 0, float32, {4});
    CHECK_FALSE(std::get<HostNDArray>(from_dlpack(on_host.raw(), DlpackAccess::read_only)).writable());
}

#if defined(DLPACK_MAJOR_VERSION)
TEST_CASE("a tensor of another major version is deleted and refused; one of another minor version is not", "[dlpack]") {
    float memory[4] = {};
    for (const std::uint32_t major : {0u, 2u, 3000000000u}) {
        CAPTURE(major);
        Foreign<DLManagedTensorVersioned> foreign(memory, cpu, 0, float32, {4});
        foreign.managed.version = {major, 5};
        // Fields after the deleter are at other offsets than in this version.
        foreign.tensor().ndim = -1;
        foreign.managed.flags = ~0ull;
        CHECK_THROWS_AS(from_dlpack(foreign.raw()), DlpackVersionMismatch);
        CHECK(foreign.deleted == 1);
        CHECK_THROWS_WITH(from_dlpack(DlpackTensorVersioned(foreign.raw())),
                          Contains(std::to_string(major) + ".5") && Contains("1.x"));
        CHECK(foreign.deleted == 2);  // once each time
    }
    Foreign<DLManagedTensorVersioned> newer(memory, cpu, 0, float32, {4});
    newer.managed.version = {1, 99};
    CHECK(std::get<HostNDArray>(from_dlpack(newer.raw())).size() == 4);
}

TEST_CASE("writes to a read-only tensor are refused", "[dlpack][device]") {
    NEEDS_DEVICE();
    Device device;
    float host[4] = {};
    const Allocation memory = device.gpu.allocate(64);
    Foreign<DLManagedTensorVersioned> on_host(host, cpu, 0, float32, {4}),
        on_gpu(memory.data(), rocm, 0, float32, {16});
    on_host.managed.flags = on_gpu.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;

    HostNDArray array = std::get<HostNDArray>(from_dlpack(on_host.raw()));
    CHECK_FALSE(array.writable());
    CHECK_THROWS_AS(array.fill(1.0f), InvalidArgument);

    CHECK_THROWS_WITH(from_dlpack(on_gpu.raw()), Contains("read-only") && Contains("DlpackAccess::read_only"));
    CHECK(on_gpu.deleted == 0);
    const DeviceNDArray read = std::get<DeviceNDArray>(from_dlpack(on_gpu.raw(), DlpackAccess::read_only));
    CHECK(to_dlpack_versioned(read)->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
}
#endif
#endif
