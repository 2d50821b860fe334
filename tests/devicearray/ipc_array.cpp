// Arrays that two processes share.
#include "devicearray/ipc_array.hpp"

#include <cstdlib>
#include <random>

#include "tests/devicearray/array_fixture.hpp"
#include "tests/support/child.hpp"

using namespace hsadrv;
using namespace std::chrono_literals;
using array_test::counting;
using test_support::Contains;
using test_support::Device;

namespace {

void run_other(const char* test_case, const std::string& handle) {
    const auto child = test_support::run_test_in_child(test_case, "HSADRV_TEST_HANDLE", handle.c_str());
    INFO(child.output);
    CHECK(child.status == 0);
    CHECK(child.output.find("No test cases matched") == std::string::npos);
}

DeviceNDArray received(Device& device) { return from_ipc(std::getenv("HSADRV_TEST_HANDLE"), device.gpu); }

struct Sample {
    float first;
    std::int16_t second;
};

}  // namespace
HSADRV_RECORD(Sample, first, second);

TEST_CASE("child: doubles an array", "[.child]") {
    Device device;
    DeviceNDArray array = received(device);
    CHECK(array.shape() == Dims{4, 25});
    CHECK(array.agent() == device.gpu.agent());
    std::vector<float> values = array.copy_to_host<float>(device.stream);
    CHECK(values == counting(100));
    for (float& value : values) value *= 2;
    array.copy_to_device(values, device.stream);
    device.stream.synchronize(60s);
}

TEST_CASE("another process doubles an array in place", "[device][ipc]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray before = device_array<float>(100, device.stream);  // not at the start of the pool's chunk
    DeviceNDArray array = to_device(counting(100), device.stream).reshape({4, 25});
    device.stream.synchronize(60s);
    run_other("child: doubles an array", to_ipc(array));
    std::vector<float> doubled = counting(100);
    for (float& value : doubled) value *= 2;
    CHECK(array.copy_to_host<float>(device.stream) == doubled);
}

TEST_CASE("child: clears every other element", "[.child]") {
    Device device;
    DeviceNDArray view = received(device);
    CHECK(view.strides_bytes() == Dims{-8});
    CHECK(view.get<float>({0}, device.stream) == 99);
    view.fill(0.0f, device.stream);
    device.stream.synchronize(60s);
}

TEST_CASE("a strided view is shared as it is", "[device][ipc]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray array = to_device(counting(100), device.stream);
    device.stream.synchronize(60s);
    const DeviceNDArray view = array.slice({Slice{std::nullopt, std::nullopt, -2}});
    run_other("child: clears every other element", to_ipc(view));
    const std::vector<float> left = array.copy_to_host<float>(device.stream);
    for (std::size_t i = 0; i < left.size(); ++i) CHECK(left[i] == (i % 2 == 1 ? 0 : float(i)));
}

TEST_CASE("child: drops a received array while a stream uses it", "[.child]") {
    Device device;
    const HostNDArray host = pinned_array({100}, dtypes::float32);
    {
        const test_support::Gate gate(device.stream);
        received(device).copy_to_host(host, device.stream);
    }
    device.stream.synchronize(60s);
    CHECK(host.as<float>()[99] == 99);
}

TEST_CASE("received memory stays attached for work in flight", "[device][ipc]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray array = to_device(counting(100), device.stream);
    device.stream.synchronize(60s);
    run_other("child: drops a received array while a stream uses it", to_ipc(array));
}

TEST_CASE("child: finds its dtype", "[.child]") {
    Device device;
    const DeviceNDArray array = received(device);
    CHECK(array.dtype() == DTypeOf<Sample>::value);
    CHECK(array.get<Sample>({1}, device.stream).second == 4);
}

TEST_CASE("records, small floats and empty arrays are described", "[device][ipc]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<Sample> pairs{{1, 2}, {3, 4}};
    const DeviceNDArray records = to_device(pairs, device.stream);
    device.stream.synchronize(60s);
    run_other("child: finds its dtype", to_ipc(records));
    for (const DType& dtype : {dtypes::bfloat16, dtypes::float16, dtypes::boolean, dtypes::complex64}) {
        const DeviceNDArray empty = device_array({0, 3}, dtype, device.stream);
        const DeviceNDArray again = from_ipc(to_ipc(empty), device.gpu);
        CHECK(again.dtype() == dtype);
        CHECK(again.shape() == Dims{0, 3});
        CHECK(again.data() == nullptr);
    }
}

TEST_CASE("memory that cannot be shared is refused", "[device][ipc]") {
    NEEDS_DEVICE();
    Device device;
    std::vector<float> host(100);
    const DeviceNDArray array(nullptr, host.data(), dtypes::float32, Layout::contiguous({100}, 4), device.gpu);
    CHECK_THROWS_WITH(to_ipc(array), Contains("not device memory"));
}

TEST_CASE("a text that is no handle is refused, whatever is wrong with it", "[device][ipc]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray array = to_device(counting(100), device.stream);
    const std::string good = to_ipc(array);
    for (const char* text :
         {"", "7", "{}", "{'dtype': '<f4'}", "{'dtype': '<f4', 'shape': 3, 'strides': (4,), 'memory': ''}",
          "{'dtype': '<f4', 'shape': (3,), 'strides': (4,), 'memory': 'zz'}"})
        CHECK_THROWS_WITH(from_ipc(text, device.gpu), Contains("from_ipc"));
    std::minstd_rand random(1);
    int refused = 0;
    for (int i = 0; i < 500; ++i) {
        std::string bad = good;
        bad[random() % bad.size()] = char(random() % 256);
        CHECK_THROWS_AS(from_ipc(std::string_view(bad).substr(0, random() % bad.size()), device.gpu), InvalidArgument);
        // Another dtype of the size is still a handle; its elements are those of the memory.
        try {
            const DeviceNDArray found = from_ipc(bad, device.gpu);
            CHECK(found.layout().extent() == array.layout().extent());
        } catch (const InvalidArgument&) {
            ++refused;
        }
    }
    CHECK(refused > 400);
}
