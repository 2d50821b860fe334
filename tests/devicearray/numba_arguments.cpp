// What numba's pages pass to arrays: numbers, a device in place of a stream, an array to write back to; and arrays of
// more than eight axes.
#include <complex>
#include <vector>

#include "tests/devicearray/array_fixture.hpp"

using namespace hsadrv;
using array_test::counting;
using test_support::Contains;
using test_support::Device;

TEST_CASE("a number becomes an array without axes", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray number = to_device(2.5f, device.stream);
    CHECK(number.shape() == Dims());
    CHECK(number.dtype() == dtypes::float32);
    CHECK(number.get<float>({}, device.stream) == 2.5f);
    CHECK(to_device(true, device.stream).dtype() == dtypes::boolean);
    CHECK(to_device(std::complex<double>{1, 2}, device.stream).get<std::complex<double>>({}, device.stream) ==
          std::complex<double>{1, 2});
    DeviceNDArray other = number;
    to_device(7.0f, device.stream, true, &other);
    CHECK(number.get<float>({}, device.stream) == 7.0f);
    to_device(9.0f, device.stream, false, &other);
    CHECK(number.get<float>({}, device.stream) == 7.0f);
    CHECK_THROWS_WITH(to_device(1, device.stream, true, &other), Contains("int32"));
}

TEST_CASE("a device stands for the thread's stream on it", "[device]") {
    NEEDS_DEVICE();
    Driver driver;
    const std::vector<int> host = counting<int>(1000);
    const AgentRef last = driver.gpus().back();
    DeviceNDArray array = to_device(host, last);  // this thread has no Context
    CHECK(array.agent() == last);
    CHECK(array.copy_to_host<int>(last) == host);
    CHECK_THROWS_AS(array.copy_to_host<int>(), Error);
    const Context gpu{driver.gpus().front()};
    CHECK(to_device(host, gpu).agent() == gpu.agent());
    CHECK(to_device(3, gpu).get<int>({}, gpu) == 3);
    CHECK(device_array<float>({4}, gpu).agent() == gpu.agent());
    CHECK(device_array({4}, dtypes::int8, last).agent() == last);
    CHECK(device_array({4}, dtypes::int8, Order::C, gpu).agent() == gpu.agent());
    CHECK(device_array_like(host, last).agent() == last);
    CHECK(device_array_like(array, gpu).agent() == gpu.agent());
    array.fill(5, last);
    CHECK(array.get<int>({999}, last) == 5);
    if (last != gpu.agent()) CHECK_THROWS_WITH(array.fill(5, gpu), Contains(last.label()));
    CHECK_THROWS_AS(to_device(host, driver.agents().front()), Error);  // a CPU
}

TEST_CASE("an array writes back to the host array that it was given", "[device]") {
    NEEDS_DEVICE();
    Device device;
    HostNDArray host = host_array({3, 4}, dtypes::int32);
    host.fill(1);
    DeviceNDArray array = to_device(host, device.stream).with_writeback(host);
    array.fill(2, device.stream);
    CHECK(host.get<std::int32_t>({2, 3}) == 1);
    array.to_host(device.stream);
    device.stream.synchronize();
    CHECK(host.get<std::int32_t>({2, 3}) == 2);
    CHECK(array.writeback()->data() == host.data());
    const DeviceNDArray moved = std::move(array);
    CHECK(moved.writeback() != nullptr);
    CHECK(array.writeback() == nullptr);
    CHECK(moved.bind(device.stream).writeback() != nullptr);
    CHECK_THROWS_WITH(moved.ravel().to_host(device.stream), Contains("with_writeback()"));
    CHECK_THROWS_WITH(moved.with_writeback(host.read_only()), Contains("read-only"));
    CHECK_THROWS_WITH(moved.with_writeback(host.reshape({4, 3})), Contains("(4, 3)") && Contains("(3, 4)"));
    CHECK_THROWS_WITH(moved.with_writeback(host_array({3, 4}, dtypes::float32)), Contains("float32"));
}

TEST_CASE("arrays of many axes are rearranged on the device and on the way to it", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const Dims twos = Dims::filled(14, 2);  // 14 loops that cannot be merged
    std::vector<int> values = counting<int>(1 << 14);
    const HostNDArray host = as_host_array(values).reshape(twos);
    const HostNDArray turned = host.transpose().copy();
    CHECK(to_device(host).shape() == twos);
    DeviceNDArray there = device_array(twos, dtypes::int32);
    there.copy_to_device(host.transpose());
    CHECK(there.copy_to_host().equal(turned));
    DeviceNDArray within = device_array(twos, dtypes::int32);
    within.copy_to_device(to_device(host).transpose());
    CHECK(within.copy_to_host().equal(turned));
    Dims most = Dims::filled(64, 1);
    most[40] = 1 << 14;
    CHECK(within.reshape(most).transpose().copy_to_host().reshape(twos).equal(turned));
}
