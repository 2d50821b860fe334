// Arrays as DLPack tensors: their fields, the objects that they keep alive, and refusals.
#include <optional>
#include <thread>

#include "tests/devicearray/dlpack_fixture.hpp"
#include "tests/devicearray/naive_array.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;

TEST_CASE("without dlpack.h, or its versioned struct, the functions refuse with the reason", "[dlpack]") {
    const auto refused = [](auto&& call) {
        CHECK_THROWS_AS(call(), NotOffered);
        CHECK_THROWS_WITH(call(), test_support::Contains("libdlpack-dev"));
    };
    const HostNDArray array = host_array<float>({2});
#if defined(WITH_DLPACK)
    CHECK(dlpack_offered());
#if defined(DLPACK_MAJOR_VERSION)
    CHECK(dlpack_versioned_offered());
#endif
#else
    CHECK_FALSE(dlpack_offered());
    refused([&] { (void)to_dlpack(array); });
    refused([&] { (void)from_dlpack(static_cast<DLManagedTensor*>(nullptr)); });
#endif
    if (!dlpack_versioned_offered()) {
        refused([&] { (void)to_dlpack_versioned(array); });
        refused([&] { (void)from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)); });
        // The common beginning of all versions, so that unknown versions can be deleted.
        struct Beginning {
            std::uint32_t major = 7, minor = 0;
            int* deleted = nullptr;
            void (*deleter)(DLManagedTensorVersioned*) = [](DLManagedTensorVersioned* self) {
                ++*reinterpret_cast<Beginning*>(self)->deleted;
            };
        } beginning;
        int deleted = 0;
        beginning.deleted = &deleted;
        CHECK_THROWS_AS(from_dlpack(DlpackTensorVersioned(reinterpret_cast<DLManagedTensorVersioned*>(&beginning))),
                        NotOffered);
        CHECK(deleted == 1);
    }
}

TEST_CASE("versioned tensors are exported and imported", "[dlpack]") {
    if (!dlpack_versioned_offered()) SKIP_BECAUSE("this dlpack.h has no versioned tensors: 1.0 or later is needed");
    const HostNDArray array = host_array<float>({2});
    CHECK(std::get<HostNDArray>(from_dlpack(to_dlpack_versioned(array))).data() == array.data());
}

#if defined(WITH_DLPACK)
using namespace dlpack_test;

TEMPLATE_TEST_CASE("every element type is exported and imported unchanged, in place", "[dlpack][device]",
                   DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    for (const DType& type : dtypes::all) {
        CAPTURE(type.name());
        const DeviceNDArray array = device_array({3, 4}, type, Order::F, device.stream);
        auto tensor = TestType::of(array);
        const DLTensor& says = tensor->dl_tensor;
        CHECK(says.data == array.data());
        CHECK(says.byte_offset == 0);
        CHECK(static_cast<int>(says.device.device_type) == rocm);
        CHECK(says.device.device_id == 0);
        CHECK(says.dtype.bits == 8 * type.itemsize());
        CHECK(says.dtype.lanes == 1);
        CHECK(shape_of(tensor) == std::vector<std::int64_t>{3, 4});
        CHECK(strides_of(tensor) == std::vector<std::int64_t>{1, 3});

        const DeviceNDArray back = std::get<DeviceNDArray>(from_dlpack(std::move(tensor)));
        CHECK(back.dtype() == type);
        CHECK(back.layout() == array.layout());
        CHECK(back.data() == array.data());
        CHECK(back.agent() == array.agent());

        const HostNDArray host = std::get<HostNDArray>(from_dlpack(TestType::of(host_array({2, 5}, type))));
        CHECK(host.dtype() == type);
        CHECK(host.writable());
    }
}

TEMPLATE_TEST_CASE("random layouts are exported and imported, of device and of host memory", "[dlpack][device]",
                   DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    naive::Random random(77 + test_support::test_seed());
    const DeviceNDArray memory = device_array<std::uint8_t>(1 << 16, device.stream);
    const HostNDArray pageable = host_array<std::uint8_t>(1 << 16);
    int compared = 0, refused = 0;
    for (int round = 0; round < 4000; ++round) {
        const DType& type = dtypes::all[random.between(0, std::ssize(dtypes::all) - 1)];
        const Layout layout = random.layout(random.shape(60), static_cast<std::int64_t>(type.itemsize()), false);
        if (layout.extent().size_bytes() > 1 << 15) continue;
        const auto around = [&](const auto& whole) -> DlpackArray {
            const auto middle = static_cast<const char*>(static_cast<const void*>(whole.data())) + (1 << 15);
            return whole.at(const_cast<char*>(middle), type, layout);
        };
        CAPTURE(type.name(), layout.to_string());
        for (const DlpackArray& array : {around(memory), around(pageable)}) {
            if (!element_strides(layout)) {
                CHECK_THROWS_AS(TestType::of(array), InvalidArgument);
                ++refused;
                continue;
            }
            const DlpackArray back = from_dlpack(TestType::of(array));
            REQUIRE(back.index() == array.index());
            std::visit(
                [&](const auto& a) {
                    const auto& b = std::get<std::decay_t<decltype(a)>>(back);
                    REQUIRE(a.dtype() == b.dtype());
                    REQUIRE(naive::array(a.layout()) == naive::array(b.layout()));
                    if (a.size() != 0) REQUIRE(a.data() == b.data());
                },
                array);
            ++compared;
        }
    }
    CHECK(compared > 4000);
    CHECK(refused > 100);
}

TEST_CASE("the kind of memory is exported: pageable, pinned, registered, on which GPU", "[dlpack][device]") {
    NEEDS_DEVICE();
    Device device;
    const auto device_of = [](const DlpackArray& array) {
        const auto tensor = to_dlpack(array);
        return std::pair(static_cast<int>(tensor->dl_tensor.device.device_type), tensor->dl_tensor.device.device_id);
    };
    using Said = std::pair<int, int>;
    const Layout layout = Layout::contiguous({64}, 4);
    CHECK(device_of(host_array<float>({64})) == Said(cpu, 0));

    const auto pinned = std::make_shared<const Allocation>(device.gpu.allocate_host(256));
    CHECK(device_of(HostNDArray(pinned, pinned->data(), dtypes::float32, layout)) == Said(rocm_host, 0));
    CHECK(device_of(pinned_array({64}, dtypes::float32)) == Said(rocm_host, 0));
    CHECK(device_of(mapped_array({64}, dtypes::float32).host()) == Said(rocm_host, 0));
    // A device array over host memory is exported as host memory, too.
    CHECK(device_of(mapped_array({64}, dtypes::float32).device()) == Said(rocm_host, 0));
    CHECK(device_of(DeviceNDArray(pinned, pinned->data(), dtypes::float32, layout, device.gpu)) == Said(rocm_host, 0));

    std::vector<float> vector(64);
    const Registration registered(vector.data(), 256);
    CHECK(device_of(HostNDArray(nullptr, vector.data(), dtypes::float32, layout)) == Said(rocm_host, 0));
    const auto tensor =
        to_dlpack(DeviceNDArray(nullptr, registered.device_address(), dtypes::float32, layout, device.gpu));
    CHECK(tensor->dl_tensor.data == vector.data());

    int ordinal = 0;
    for (const AgentRef gpu : device.driver.gpus()) {
        CHECK(device_of(device_array({3}, dtypes::int8, Order::C, gpu)) == Said(rocm, ordinal));
        CHECK(device_of(device_array({0}, dtypes::int8, Order::C, gpu)) == Said(rocm, ordinal));
        ++ordinal;
    }
}

TEST_CASE("a host array of which only a part is registered is pageable to other libraries", "[dlpack][device]") {
    NEEDS_DEVICE();
    Device device;
    std::vector<float> vector(1 << 16);
    const auto said = [](const HostNDArray& array) {
        return static_cast<int>(to_dlpack(array)->dl_tensor.device.device_type);
    };
    const HostNDArray all = as_host_array(vector);
    const std::size_t half = vector.size() / 2 * sizeof(float);
    for (const std::size_t begin : {std::size_t{0}, half}) {
        const Registration registered(reinterpret_cast<std::byte*>(vector.data()) + begin, half);
        CHECK(said(all) == cpu);
        CHECK(said(all.slice({Slice{{}, {}, -1}})) == cpu);
        CHECK(to_dlpack(all)->dl_tensor.data == vector.data());
        const std::int64_t first = begin == 0 ? 0 : 1 << 15;
        CHECK(said(all.slice({Slice{first, first + (1 << 15)}})) == rocm_host);
        CHECK(said(all.slice({Slice{first + 100, first + 50, -1}})) == rocm_host);
    }
}

TEMPLATE_TEST_CASE("empty arrays and scalars", "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    auto empty = TestType::of(device_array<float>({2, 0, 3}, device.stream));
    CHECK(empty->dl_tensor.data == nullptr);
    CHECK(shape_of(empty) == std::vector<std::int64_t>{2, 0, 3});
    const DeviceNDArray none = std::get<DeviceNDArray>(from_dlpack(std::move(empty)));
    CHECK(none.shape() == Dims{2, 0, 3});
    CHECK(TestType::of(host_array<float>({0}))->dl_tensor.data == nullptr);

    auto scalar = TestType::of(to_device(host_view(std::vector<double>{3.5}, {}), device.stream));
    CHECK(scalar->dl_tensor.ndim == 0);
    const DeviceNDArray back = std::get<DeviceNDArray>(from_dlpack(std::move(scalar)));
    CHECK(back.rank() == 0);
    CHECK(back.copy_to_host<double>(device.stream) == std::vector<double>{3.5});
}

TEST_CASE("an array is not refused for strides that have no effect", "[dlpack]") {
    std::int32_t memory[8] = {};
    const HostNDArray odd(nullptr, memory, dtypes::int32, Layout::strided({1, 4}, {7, 8}, 4));
    CHECK(strides_of(to_dlpack(odd)) == std::vector<std::int64_t>{4, 2});
}

TEMPLATE_TEST_CASE("a tensor keeps the memory after array, stream and driver are destroyed", "[dlpack][device]",
                   DLPACK_FORMS) {
    NEEDS_DEVICE();
    std::weak_ptr<const void> memory;
    auto tensor = [&] {
        Device device;
        const DeviceNDArray array = to_device(counting<int>(1000), device.stream);
        memory = array.keep_alive();
        return TestType::of(array.slice({Slice{100, 200}}));
    }();
    CHECK_FALSE(memory.expired());
    {
        Device device;
        const DeviceNDArray back = std::get<DeviceNDArray>(from_dlpack(std::move(tensor)));
        CHECK(back.copy_to_host<int>(device.stream).front() == 100);
        CHECK(back.copy_to_host<int>(device.stream).back() == 199);
        device.stream.synchronize(patience);
    }
    CHECK(memory.expired());

    // With a raw pointer: the consumer calls the deleter itself, on another thread.
    Device device;
    std::optional<DeviceNDArray> array = to_device(counting<int>(10), device.stream);
    device.stream.synchronize(patience);
    memory = array->keep_alive();
    typename TestType::Tensor* const raw = TestType::of(*array).release();
    array.reset();
    CHECK_FALSE(memory.expired());
    std::thread([&] { raw->deleter(raw); }).join();
    CHECK(memory.expired());
}

TEST_CASE("arrays that DLPack cannot represent are refused with the remedy", "[dlpack][device]") {
    NEEDS_DEVICE();
    Device device;
    alignas(8) static char memory[4096] = {};
    const auto host = [](const DType& type, const Layout& layout) {
        return HostNDArray(nullptr, memory, type, layout);
    };
    const DType record = DType::record({{"x", dtypes::float32}, {"n", dtypes::int64}});
    const DeviceNDArray image = device_array<float>({4, 1}, device.stream);
    const struct {
        const char* name;
        DlpackArray array;
        std::vector<const char*> says;
    } rows[] = {
        {"records", host(record, Layout::contiguous({3}, 12)), {"dlpack_type", "'n'", "field"}},
        {"raw bytes", host(DType::raw(3), Layout::contiguous({3}, 3)), {"|V3"}},
        {"a field whose stride is no multiple",
         host(dtypes::int64, Layout::strided({3}, {12}, 8)),
         {"to_dlpack", "int64", "multiples of 8", "(12,)", "copy"}},
        {"a broadcast array",
         image.broadcast_to({4, 5}),
         {"to_dlpack", "float32", "(4, 5)", "(4, 0)", "versioned", "copy"}},
        {"overlapping elements", host(dtypes::int8, Layout::strided({5, 3}, {2, 1}, 1)), {"versioned", "copy"}},
        {"a read-only array", host(dtypes::int8, Layout::contiguous({5}, 1)).read_only(), {"read-only", "versioned"}},
        {"another GPU's memory, unknown to the driver",
         DeviceNDArray(nullptr, nullptr, dtypes::int8, Layout::contiguous({0}, 1), device.driver.cpus().front()),
         {"cpu0", "not one of the driver's"}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.name);
        CHECK_THROWS_AS(to_dlpack(row.array), InvalidArgument);
        for (const char* part : row.says) CHECK_THROWS_WITH(to_dlpack(row.array), Contains(part));
    }
}

#if defined(DLPACK_MAJOR_VERSION)
TEST_CASE("a versioned tensor has its version and the read-only flag", "[dlpack][device]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray image = to_device(host_view(counting<float>(4), {4, 1}), device.stream);
    const HostNDArray host = host_array<float>({4});
    const auto flags = [](const DlpackArray& array, DlpackAccess access = DlpackAccess::read_write) {
        const auto tensor = to_dlpack_versioned(array, access);
        CHECK(tensor->version.major == DLPACK_MAJOR_VERSION);
        CHECK(tensor->version.minor == DLPACK_MINOR_VERSION);
        return tensor->flags;
    };
    CHECK(flags(image) == 0);
    CHECK(flags(image, DlpackAccess::read_only) == DLPACK_FLAG_BITMASK_READ_ONLY);
    CHECK(flags(image.broadcast_to({4, 3})) == DLPACK_FLAG_BITMASK_READ_ONLY);
    CHECK(flags(host) == 0);
    CHECK(flags(host.read_only()) == DLPACK_FLAG_BITMASK_READ_ONLY);
    CHECK(strides_of(to_dlpack_versioned(image.broadcast_to({4, 3}))) == std::vector<std::int64_t>{1, 0});

    const DeviceNDArray back =
        std::get<DeviceNDArray>(from_dlpack(to_dlpack_versioned(image.broadcast_to({4, 3})), DlpackAccess::read_only));
    CHECK(back.strides_bytes() == Dims{4, 0});
}
#endif
#endif
