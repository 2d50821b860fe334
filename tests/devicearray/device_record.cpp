// Records on a device: one at a time, by field, and as elements of arrays.
#include "devicearray/device_record.hpp"

#include "devicearray/devicearray.hpp"
#include "tests/support/device.hpp"

struct Particle {
    float position[3];
    double mass;
    std::int32_t id;
};
HSADRV_RECORD(Particle, position, mass, id);
struct Pair {
    Particle first, second;
};
HSADRV_RECORD(Pair, first, second);

using namespace hsadrv;
using test_support::Contains;
using test_support::Device;

TEST_CASE("a struct is copied to the device as a record, and back", "[device][record]") {
    NEEDS_DEVICE();
    Device device;
    DeviceRecord record = to_device(Particle{{1, 2, 3}, 0.5, 7}, device.stream);
    CHECK(record.dtype() == dtype_of<Particle>());
    CHECK(record.agent() == device.gpu.agent());
    const Particle back = record.copy_to_host<Particle>(device.stream);
    CHECK(back.position[2] == 3);
    CHECK(back.mass == 0.5);
    CHECK(back.id == 7);
    CHECK(record.copy_to_host().get<Particle>({}).id == 7);

    record.copy_to_device(Particle{{4, 5, 6}, 1.5, 8});
    Particle into{};
    record.copy_to_host({&into, dtype_of<Particle>(), Layout::contiguous({}, sizeof into)});
    CHECK(into.mass == 1.5);
    DeviceRecord other = device_record(dtype_of<Particle>(), device.stream);
    other.copy_to_device(record, device.stream);
    CHECK(other.get<std::int32_t>("id", device.stream) == 8);
    const Particle last{{}, 9, 9};
    to_device(last, device.stream, true, &other);
    CHECK(other.bind(device.stream).get<double>("mass") == 9);
    other.copy_to_device(HostView{&into, dtype_of<Particle>(), Layout::contiguous({}, sizeof into)}, device.stream);
    CHECK(other.get<double>("mass", device.stream) == 1.5);
}

TEST_CASE("fields are read and written in place, subarrays and inner records included", "[device][record]") {
    NEEDS_DEVICE();
    Device device;
    DeviceRecord pair = to_device(Pair{{{1, 2, 3}, 0.5, 7}, {{4, 5, 6}, 1.5, 8}}, device.stream);
    CHECK(pair.record("second").field("position").copy_to_host<float>(device.stream) == std::vector<float>{4, 5, 6});
    pair.record("first").set("mass", 2.0, device.stream);
    pair.record("second").field("position").set({1}, -5.0f, device.stream);
    const Pair back = pair.copy_to_host<Pair>(device.stream);
    CHECK(back.first.mass == 2);
    CHECK(back.second.position[1] == -5);
    CHECK(back.second.position[0] == 4);
    CHECK(pair.field("first").rank() == 0);
    CHECK(pair.keep_alive() == pair.record("first").keep_alive());
    CHECK(static_cast<std::byte*>(pair.record("second").data()) ==
          static_cast<std::byte*>(pair.data()) + sizeof(Particle));
}

TEST_CASE("elements of an array of records are records", "[device][record]") {
    NEEDS_DEVICE();
    Device device;
    std::vector<Particle> host(10);
    for (int i = 0; i < 10; ++i) host[static_cast<std::size_t>(i)] = {{}, i / 2.0, i};
    const DeviceNDArray array = to_device(host, device.stream);
    DeviceRecord last(array, {-1});
    CHECK(last.get<std::int32_t>("id", device.stream) == 9);
    last.set("id", 90, device.stream);
    CHECK(array.copy_to_host<Particle>(device.stream)[9].id == 90);
    CHECK(array.field("mass").copy_to_host<double>(device.stream)[3] == 1.5);
    CHECK(DeviceRecord(array.slice({Slice{2, 4}}), {1}).array().get<Particle>({}, device.stream).id == 3);
}

TEST_CASE("anything but a record is refused, naming what it is", "[device][record][error]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray floats = to_device(std::vector<float>(3), device.stream);
    const DeviceNDArray particles = to_device(std::vector<Particle>(3), device.stream);
    CHECK_THROWS_WITH(DeviceRecord(floats, {0}), Contains("float32"));
    CHECK_THROWS_WITH(DeviceRecord(particles), Contains("(3,)") && Contains("give its index"));
    CHECK_THROWS_WITH(DeviceRecord(particles, {3}), Contains("(3,)"));
    CHECK_THROWS_AS(device_record(dtypes::float32, device.stream), InvalidArgument);
    DeviceRecord one(particles, {0});
    CHECK_THROWS_WITH(one.field("speed"), Contains("mass"));
    CHECK_THROWS_AS(one.record("mass"), InvalidArgument);
    CHECK_THROWS_AS(one.get<float>("mass", device.stream), InvalidArgument);
    CHECK_THROWS_AS(one.copy_to_host<Pair>(device.stream), InvalidArgument);
    CHECK_THROWS_AS(one.copy_to_device(Pair{}, device.stream), InvalidArgument);
}
