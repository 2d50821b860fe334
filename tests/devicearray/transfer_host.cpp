// The host side of a transfer: copy_to_host returns every form, and host and mapped arrays stay alive until the
// transfer is complete.
#include <vector>

#include "tests/devicearray/array_fixture.hpp"

using namespace hsadrv;
using array_test::counting;
using test_support::Contains;
using test_support::Device;
using test_support::Gate;

TEST_CASE("copy_to_host returns the host array, in each of its forms", "[device][host]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<float> host = counting(60);
    const DeviceNDArray array = to_device(host_view(host, {6, 10}, Order::F), device.stream);
    device.stream.synchronize();
    const HostNDArray fresh = array.copy_to_host();
    CHECK(fresh.is_f_contiguous());
    CHECK(pointer_info(fresh.data()).kind == PointerInfo::Kind::pageable);
    CHECK(fresh.get<float>({5, 9}) == 59);

    HostNDArray later = host_array({6, 10}, dtypes::float32);
    std::weak_ptr<const void> memory;
    {
        Gate gate(device.stream);
        const HostNDArray pinned = array.transpose().copy_to_host(device.stream);  // returns at once
        memory = pinned.keep_alive();
        CHECK(pointer_info(pinned.data()).kind == PointerInfo::Kind::pool);
        later = pinned.transpose();
    }
    CHECK(later.equal(fresh));

    HostNDArray mine = pinned_array({6, 10}, dtypes::float32);
    CHECK(array.copy_to_host(mine, device.stream).data() == mine.data());
    device.stream.synchronize();
    CHECK(mine.equal(fresh));
    CHECK_THROWS_WITH(array.copy_to_host(mine.read_only(), device.stream), Contains("read-only"));
    CHECK_THROWS_AS(array.copy_to_host(mine.transpose(), device.stream), InvalidArgument);
    CHECK(device_array({0, 3}, dtypes::int8, Order::C, device.stream).copy_to_host(device.stream).size() == 0);
}

TEST_CASE("host arrays stay alive until their transfers are complete", "[device][host]") {
    NEEDS_DEVICE();
    Device device;
    std::weak_ptr<const void> read, written;
    DeviceNDArray array = device_array({64, 64}, dtypes::int32, Order::C, device.stream);
    {
        Gate gate(device.stream);
        HostNDArray source = pinned_array({64, 64}, dtypes::int32), target = pinned_array({64, 64}, dtypes::int32);
        source.fill(3);
        read = source.keep_alive();
        written = target.keep_alive();
        array.copy_to_device(source.transpose(), device.stream);
        array.copy_to_host(target, device.stream);
        to_device(source, device.stream, true, &array);
    }
    CHECK(array.get<int>({63, 63}, device.stream) == 3);
    device.stream.synchronize();
    CHECK(read.expired());
    CHECK(written.expired());
}

TEST_CASE("mapped arrays stay alive until their transfers are complete", "[device][host]") {
    NEEDS_DEVICE();
    Device device;
    std::vector<std::weak_ptr<const void>> used;
    DeviceNDArray array = device_array({64, 64}, dtypes::int32, Order::C, device.stream);
    DeviceNDArray other = device_array_like(array, device.stream);
    DeviceRecord record = device_record(DType::record({{"id", dtypes::int32}}), device.stream);
    {
        Gate gate(device.stream);
        const auto mapped = [&](const Dims& shape, const DType& dtype) {
            MappedNDArray fresh = mapped_array(shape, dtype);
            fresh.view(dtypes::int32).fill(3);
            used.push_back(fresh.keep_alive());
            return fresh;
        };
        array.copy_to_device(mapped({64, 64}, dtypes::int32).transpose(), device.stream);
        array.copy_to_host(mapped({64, 64}, dtypes::int32), device.stream);
        to_device(mapped({64, 64}, dtypes::int32), device.stream, true, &other);
        mapped({64, 64}, dtypes::int32).copy_to_device(mapped({64, 64}, dtypes::int32), device.stream);
        mapped({64, 64}, dtypes::int32).copy_to_host(mapped({64, 64}, dtypes::int32).transpose(), device.stream);
        record.copy_to_device(mapped({1}, record.dtype()).reshape({}), device.stream);
        record.copy_to_host(mapped({1}, record.dtype()).reshape({}), device.stream);
        record.copy_to_device(mapped({1}, record.dtype()).host().reshape({}), device.stream);
        record.copy_to_host(mapped({1}, record.dtype()).host().reshape({}), device.stream);
        for (const auto& memory : used) CHECK_FALSE(memory.expired());
    }
    CHECK(array.get<int>({63, 63}, device.stream) == 3);
    CHECK(other.get<int>({0, 1}, device.stream) == 3);
    CHECK(record.get<std::int32_t>("id", device.stream) == 3);
    device.stream.synchronize();
    for (const auto& memory : used) CHECK(memory.expired());
}

TEST_CASE("mapped arrays are source and destination of transfers", "[device][host]") {
    NEEDS_DEVICE();
    Device device;
    MappedNDArray mapped = mapped_array({8, 4}, dtypes::float32);
    mapped.copy_to_device(counting(32), device.stream);
    device.stream.synchronize();
    CHECK(mapped.get<float>({7, 3}) == 31);
    const DeviceNDArray array = to_device(mapped, device.stream);
    mapped.copy_to_device(array, device.stream);
    CHECK(mapped.slice({Slice{{}, {}, 2}}).copy_to_host(device.stream).shape() == Dims{4, 4});
    CHECK(array.transpose().copy_to_host(device.stream).is_f_contiguous());
    std::vector<float> out(32);
    device.stream.synchronize();
    CHECK(&mapped.copy_to_host(out) == &out);
    CHECK(out == counting(32));
}
