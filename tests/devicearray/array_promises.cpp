// Guarantees of arrays about memory that is released or shared.
#include <thread>

#include "hsadrv/registration.hpp"
#include "tests/devicearray/array_fixture.hpp"

using namespace hsadrv;
using array_test::counting;
using test_support::Contains;
using test_support::Device;
using test_support::Gate;

namespace {

/// Other programs, and the runtime, may use memory of the device as well.
std::int64_t free_bytes(const Context& gpu) {
    const MemPool pool = device_pool(gpu);
    // ROCR before 5.6 does not tell.
    return static_cast<std::int64_t>(pool.available_bytes().value_or(pool.size_bytes() - array_memory(gpu).held_bytes));
}

}  // namespace

TEST_CASE("a new array never gets memory that a transfer in flight still writes, on any stream", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    Stream other = device.gpu.stream({.exclusive_queue = true});
    DeviceNDArray source = to_device(counting(65536), device.stream).reshape({256, 256});
    DeviceNDArray target = source.slice({Slice{{}, {}, -1}});
    device.stream.synchronize();
    std::vector<float> seen;
    {
        const Gate gate(device.stream);
        target.copy_to_device(source.transpose(), device.stream);  // through scratch memory of 65536 floats
        DeviceNDArray fresh = device_array<float>({65536}, device.stream);
        fresh.fill(7.0f, other);
        other.synchronize();
        gate.open();
        device.stream.synchronize();
        seen = fresh.copy_to_host<float>(other);
    }
    CHECK(std::count(seen.begin(), seen.end(), 7.0f) == 65536);
}

TEST_CASE("scratch memory of transfers is counted, released, and makes room for arrays", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    constexpr std::int64_t part = 8 << 20;
    {
        DeviceNDArray array = device_array<std::uint8_t>({part}, device.stream);
        array.slice({Slice{1, {}}}).copy_to_device(array.slice({Slice{0, -1}}), device.stream);
        CHECK(array_memory(device.gpu).held_bytes >= 2 * part - 1);
    }
    device.stream.synchronize();
    CHECK(array_memory(device.gpu).held_bytes >= 2 * part - 1);
    CHECK(array_memory(device.gpu).used_bytes == 0);
    const std::int64_t nearly_all =
        free_bytes(device.gpu) + static_cast<std::int64_t>(array_memory(device.gpu).held_bytes) - part / 2;
    CHECK(device_array({nearly_all}, dtypes::uint8, Order::C, device.gpu).size() == nearly_all);
    CHECK(array_memory(device.gpu).held_bytes == 0);
}

TEST_CASE("an array waits for scratch memory in flight if no other memory is left", "[device][memory]") {
    NEEDS_DEVICE();
    Device device;
    constexpr std::int64_t part = 8 << 20;
    DeviceNDArray array = device_array<std::uint8_t>({part}, device.stream);
    const std::int64_t all_else = free_bytes(device.gpu) - part / 2;
    std::thread opens;
    {
        const Gate gate(device.stream);
        array.slice({Slice{1, {}}}).copy_to_device(array.slice({Slice{0, -1}}), device.stream);
        opens = std::thread([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            gate.open();
        });
        CHECK(device_array({all_else}, dtypes::uint8, Order::C, device.gpu).size() == all_else);
        opens.join();
    }
}

TEST_CASE("interleaved views of different pitches are assigned to each other", "[device][overlap]") {
    NEEDS_DEVICE();
    Device device;
    const auto check = [&](const Dims& shape, std::initializer_list<Index> to, std::initializer_list<Index> from) {
        std::int64_t size = 1;
        for (const std::int64_t extent : shape) size *= extent;
        HostNDArray expected = as_host_array(counting(static_cast<std::size_t>(size)), shape);
        HostNDArray pinned = pinned_array(shape, dtypes::float32);
        pinned.copy_from(expected);
        DeviceNDArray array = to_device(expected, device.stream);
        const HostNDArray moved = expected.slice(from).copy();
        expected.slice(to).copy_from(moved);

        array.slice(to).copy_to_device(array.slice(from), device.stream);
        CHECK(array.copy_to_host<float>(device.stream) ==
              std::vector<float>(expected.as<float>(), expected.as<float>() + size));
        DeviceNDArray(pinned.keep_alive(), pinned.writable_data(), pinned.dtype(), pinned.layout(), device.gpu)
            .slice(to)
            .copy_to_device(pinned.slice(from), device.stream);
        device.stream.synchronize();
        CHECK(pinned.equal(expected));
    };
    check({41}, {Slice{0, 20, 2}}, {Slice{1, 41, 4}});
    check({10, 6}, {Slice{0, 5}, Slice{0, 2}}, {Slice{0, 10, 2}, Slice{2, 4}});
    check({6, 8, 9}, {Slice{0, 3}, Slice{1, 4}, Slice{0, 4}}, {Slice{0, 6, 2}, Slice{2, 8, 2}, Slice{5, 9}});
}

TEST_CASE("a moved-from device array is empty, and accesses no memory", "[device][move]") {
    NEEDS_DEVICE();
    Device device;
    DeviceNDArray a = to_device(counting(1000), device.stream).reshape({10, 100});
    const DeviceNDArray b = std::move(a);
    const auto is_empty = [&](DeviceNDArray& left) {
        CHECK(left.data() == nullptr);
        CHECK(left.keep_alive() == nullptr);
        CHECK(left.shape() == Dims{0});
        CHECK(left.dtype() == dtypes::float32);
        CHECK(left.copy_to_host<float>(device.stream).empty());
        CHECK_THROWS_AS(left.set({0}, 1.0f, device.stream), InvalidArgument);
        left.fill(9.0f, device.stream);
    };
    is_empty(a);
    DeviceNDArray c = b, d = b.slice({0});
    c = std::move(d);
    is_empty(d);
    CHECK(c.shape() == Dims{100});
    CHECK(b.copy_to_host<float>(device.stream) == counting(1000));
    DeviceNDArray& same = c;
    c = std::move(same);
    CHECK(c.size() == 100);

    MappedNDArray mapped = mapped_array({4}, dtypes::int32);
    mapped.fill(5);
    const MappedNDArray taken = std::move(mapped);
    CHECK(mapped.size() == 0);
    CHECK(mapped.data() == nullptr);
    CHECK(mapped.device().data() == nullptr);
    CHECK(taken.get<int>({3}) == 5);
}

TEST_CASE("elements that share memory are refused as a destination on the device, as in NumPy", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    DeviceNDArray row = to_device(counting(4), device.stream);
    DeviceNDArray rows = row.broadcast_to({3, 4});
    const std::string says = "destination is read-only";
    CHECK_THROWS_WITH(rows.set({0, 1}, 9.0f, device.stream), Contains("DeviceNDArray::set: assignment " + says));
    CHECK_THROWS_WITH(rows.fill(9.0f, device.stream), Contains("DeviceNDArray::fill: assignment " + says));
    CHECK_THROWS_WITH(rows.fill(9.0f, device.stream), Contains("share memory") && Contains("(3, 4)"));
    CHECK_THROWS_WITH(rows.copy_to_device(row.broadcast_to({3, 4}), device.stream), Contains(says));
    CHECK_THROWS_AS(rows.set({0, 1}, 9.0f, device.stream), InvalidArgument);
    CHECK(row.copy_to_host<float>(device.stream) == counting(4));
    row.slice({Slice{{}, {}, -1}}).set({0}, 9.0f, device.stream);
    CHECK(row.get<float>({3}, device.stream) == 9.0f);
}
