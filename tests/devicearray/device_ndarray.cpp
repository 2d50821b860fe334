// Arrays on a device: contents survive the round trip, memory lives exactly as long as needed,
// and invalid operations are refused before anything is enqueued.
#include "devicearray/device_ndarray.hpp"

#include <array>
#include <complex>
#include <concepts>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

#include "devicearray/devicearray.hpp"
#include "tests/support/device.hpp"

using namespace hsadrv;
using test_support::Contains;
using test_support::Device;

static_assert(!std::is_assignable_v<DeviceNDArray, DeviceNDArray>, "a.slice(…) = b would do nothing");
static_assert(!std::is_assignable_v<DeviceNDArray, const DeviceNDArray&>);
static_assert(!std::is_assignable_v<HostNDArray, HostNDArray>);
static_assert(!std::is_assignable_v<HostNDArray, const HostNDArray&>);
static_assert(!std::is_assignable_v<MappedNDArray, MappedNDArray>);
static_assert(!std::is_assignable_v<MappedNDArray, const MappedNDArray&>);
static_assert(!std::is_assignable_v<DeviceRecord, DeviceRecord>);
static_assert(!std::is_assignable_v<DeviceRecord, const DeviceRecord&>);
static_assert(std::copyable<DeviceNDArray> && std::copyable<HostNDArray>);
static_assert(std::copyable<MappedNDArray> && std::copyable<DeviceRecord>);

namespace {

template <class T>
std::vector<T> small_numbers(std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 100);
    return values;
}

template <class T>
void round_trip(Device& device, std::size_t count) {
    const std::vector<T> host = small_numbers<T>(count);
    const DeviceNDArray array = to_device(host, device.stream);
    CHECK(array.dtype() == dtype_of<T>());
    CHECK(array.shape() == Dims{count});
    CHECK(array.size_bytes() == static_cast<std::int64_t>(count * sizeof(T)));
    CHECK(array.copy_to_host<T>(device.stream) == host);
}

/// A different value for every byte, gaps included.
void paint(const HostNDArray& array) {
    const ByteRange range = array.layout().extent();
    for (std::int64_t i = range.begin; i < range.end; ++i)
        static_cast<std::uint8_t*>(array.writable_data())[i] = static_cast<std::uint8_t>(i);
}

}  // namespace

TEST_CASE("arrays of every element type survive the round trip", "[device]") {
    NEEDS_DEVICE();
    Device device;
    round_trip<std::int8_t>(device, 1001);
    round_trip<std::uint8_t>(device, 1);
    round_trip<std::int16_t>(device, 77);
    round_trip<std::uint16_t>(device, 4096);
    round_trip<std::int32_t>(device, 4097);
    round_trip<std::uint32_t>(device, 100000);
    round_trip<std::int64_t>(device, 3);
    round_trip<std::uint64_t>(device, 1 << 18);
    round_trip<float>(device, 1 << 20);
    round_trip<double>(device, 12345);
    round_trip<std::complex<float>>(device, 500);
    round_trip<std::complex<double>>(device, 500);
}

TEST_CASE("any contiguous container can be sent and filled", "[device]") {
    NEEDS_DEVICE();
    Device device;
    std::array<int, 3> array{1, 2, 3};
    float plain[4] = {1, 2, 3, 4};
    bool flags[2] = {true, false};
    CHECK(to_device(array, device.stream).copy_to_host<int>(device.stream) == std::vector<int>{1, 2, 3});
    CHECK(to_device(plain, device.stream).copy_to_host<float>(device.stream).back() == 4);
    CHECK(to_device(std::span(plain).subspan(1, 2), device.stream).shape() == Dims{2});
    CHECK(to_device(std::vector<int>{7}, device.stream).copy_to_host<int>(device.stream).front() == 7);

    const DeviceNDArray d_flags = to_device(flags, device.stream);
    CHECK(d_flags.dtype() == dtypes::boolean);
    flags[0] = false;
    d_flags.copy_to_host(flags, device.stream);
    CHECK(flags[0]);
}

TEST_CASE("C and F order arrays keep their order on the device", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<float> host = small_numbers<float>(12);
    for (const Order order : {Order::C, Order::F}) {
        const DeviceNDArray array = to_device(host_view(host, {3, 4}, order), device.stream);
        CHECK(array.is_c_contiguous() == (order == Order::C));
        CHECK(array.is_f_contiguous() == (order == Order::F));
        CHECK(array.copy_to_host<float>(device.stream) == host);
        std::vector<float> back(12);
        array.copy_to_host(host_view(back, {3, 4}, order), device.stream);
        CHECK(back == host);
        CHECK(device_array_like(array, device.stream).layout() == array.layout());
    }
}

TEST_CASE("nested arrays have their own shape, and are copied by index", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const int table[3][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
    const std::vector<std::array<int, 4>> rows = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
    const auto array_of = [&](const Dims& shape, Order order) {
        DeviceNDArray array = device_array(shape, dtypes::int32, order, device.stream);
        array.fill(-1, device.stream);
        return array;
    };
    for (DeviceNDArray array :
         {array_of({3, 4}, Order::C), array_of({3, 4}, Order::F), array_of({4, 3}, Order::C).transpose(),
          array_of({4, 3}, Order::F).transpose(), array_of({3, 8}, Order::C).slice({Slice{}, Slice{0, {}, 2}})}) {
        CAPTURE(array.layout().to_string());
        int back[3][4] = {};
        array.copy_to_device(table, device.stream);
        CHECK(array.get<int>({2, 1}, device.stream) == 9);
        array.copy_to_host(back, device.stream);
        CHECK(std::equal(&back[0][0], &back[0][0] + 12, &table[0][0]));
        array.fill(-1, device.stream);
        to_device(rows, device.stream, true, &array);
        CHECK(array.get<int>({0, 3}, device.stream) == 3);
        CHECK(array.copy_to_host(std::vector<std::array<int, 4>>(3), device.stream) == rows);
    }
    for (DeviceNDArray array :
         {array_of({4, 3}, Order::C), array_of({4, 3}, Order::F), array_of({3, 4}, Order::C).transpose(),
          array_of({2, 6}, Order::C), array_of({12}, Order::C), array_of({3, 4, 1}, Order::C)}) {
        const std::string shape = array.shape().to_string();
        const auto refused = [&](const auto& call) {
            CHECK_THROWS_AS(call(), InvalidArgument);
            CHECK_THROWS_WITH(call(), Contains("shapes differ") && Contains("(3, 4)") && Contains(shape));
        };
        int back[3][4] = {};
        refused([&] { array.copy_to_device(table, device.stream); });
        refused([&] { array.copy_to_host(back, device.stream); });
        refused([&] { to_device(rows, device.stream, true, &array); });
        CHECK(array.copy_to_host<int>(device.stream) == std::vector<int>(12, -1));
        CHECK(back[2][3] == 0);
    }
}

TEST_CASE("flat ranges are copied in the array's order, to arrays of any rank", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<int> flat = small_numbers<int>(12);
    const auto array_of = [&](const Dims& shape, Order order) {
        return device_array(shape, dtypes::int32, order, device.stream);
    };
    struct Row {
        DeviceNDArray array;
        int second_row;  ///< the element at (1, 0)
    };
    for (Row row : {Row{array_of({3, 4}, Order::C), 4}, Row{array_of({3, 4}, Order::F), 1},
                    Row{array_of({4, 3}, Order::C).transpose(), 1},
                    Row{array_of({3, 8}, Order::C).slice({Slice{}, Slice{0, {}, 2}}), 4}}) {
        CAPTURE(row.array.layout().to_string());
        row.array.copy_to_device(flat, device.stream);
        CHECK(row.array.get<int>({1, 0}, device.stream) == row.second_row);
        std::vector<int> back(12);
        CHECK(&row.array.copy_to_host(back, device.stream) == &back);
        CHECK(back == flat);
        row.array.fill(-1, device.stream);
        CHECK(to_device(flat, device.stream, true, &row.array).get<int>({1, 0}, device.stream) == row.second_row);
        CHECK(to_device(back, device.stream, false, &row.array).data() == row.array.data());
        CHECK(row.array.copy_to_host<int>(device.stream) == flat);
        CHECK_THROWS_AS(row.array.copy_to_device(std::vector<int>(11), device.stream), InvalidArgument);
    }
    DeviceNDArray scalar = array_of({}, Order::C);
    scalar.copy_to_device(std::vector<int>{7}, device.stream);
    const auto back = scalar.copy_to_host(std::array<int, 1>{}, device.stream);  // a temporary is returned by value
    STATIC_REQUIRE(
        std::is_same_v<decltype(scalar.copy_to_host(std::array<int, 1>{}, device.stream)), std::array<int, 1>>);
    CHECK(back[0] == 7);
}

TEST_CASE("reshapes and transposes are views of the same memory", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<int> host = small_numbers<int>(1000);
    const DeviceNDArray line = to_device(host, device.stream);
    const DeviceNDArray image = line.reshape({20, 50}, Order::F);
    CHECK(image.data() == line.data());
    CHECK(image.strides_bytes() == Dims{4, 80});
    CHECK(image.ravel(Order::F).copy_to_host<int>(device.stream) == host);
    CHECK(image.transpose().is_c_contiguous());
    CHECK(image.transpose().ravel().copy_to_host<int>(device.stream) == host);
    CHECK(image.as<int>() == line.data());
}

TEST_CASE("an array may be destroyed before the work submitted with it is complete", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<float> host = small_numbers<float>(1 << 20);
    auto destination = device_array<float>(host.size(), device.stream);
    std::weak_ptr<const void> memory;
    {
        const DeviceNDArray source = to_device(host, device.stream);
        memory = source.keep_alive();
        destination.copy_to_device(source, device.stream);
    }
    CHECK(destination.copy_to_host<float>(device.stream) == host);
    device.stream.synchronize();
    CHECK(memory.expired());
}

TEST_CASE("a view keeps the memory after its array is destroyed", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<int> host = small_numbers<int>(64);
    std::optional<DeviceNDArray> array = to_device(host, device.stream);
    const DeviceNDArray view = array->reshape({8, 8});
    array.reset();
    CHECK(view.copy_to_host<int>(device.stream) == host);
}

TEST_CASE("empty arrays and scalars survive the round trip", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray empty = to_device(std::vector<float>(), device.stream);
    CHECK(empty.size() == 0);
    CHECK(empty.data() == nullptr);
    CHECK(empty.copy_to_host<float>(device.stream).empty());
    CHECK(device_array<float>({3, 0, 4}, device.stream).copy_to_host<float>(device.stream).empty());
    CHECK(device_array_like(empty, device.stream).shape() == Dims{0});

    const std::array<double, 1> pi{3.14};
    const DeviceNDArray scalar = to_device(host_view(pi, {}), device.stream);
    CHECK(scalar.rank() == 0);
    CHECK(scalar.copy_to_host<double>(device.stream) == std::vector<double>{3.14});
}

TEST_CASE("to_device can skip the copy, or fill an existing array", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<int> host = small_numbers<int>(16);
    const DeviceNDArray only_memory = to_device(host, device.stream, false);
    CHECK(only_memory.shape() == Dims{16});

    DeviceNDArray target = device_array<int>(16, device.stream);
    const DeviceNDArray filled = to_device(host, device.stream, true, &target);
    CHECK(filled.data() == target.data());
    CHECK(target.copy_to_host<int>(device.stream) == host);
    CHECK_THROWS_AS(to_device(std::vector<int>(15), device.stream, true, &target), InvalidArgument);
}

TEST_CASE("foreign memory becomes an array without a copy", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<int> host = small_numbers<int>(16);
    auto memory = std::make_shared<Allocation>(device.gpu.allocate(64));
    device.stream.copy_async(memory->data(), host.data(), 64);
    const DeviceNDArray array(memory, memory->data(), dtypes::int32, Layout::contiguous({4, 4}, 4), device.gpu);
    CHECK(array.copy_to_host<int>(device.stream) == host);
    CHECK_THROWS_AS(DeviceNDArray(memory, memory->data(), dtypes::int64, Layout::contiguous({4, 4}, 4), device.gpu),
                    InvalidArgument);
    CHECK_THROWS_AS(DeviceNDArray(device.gpu.allocate(63), dtypes::int32, Layout::contiguous({4, 4}, 4)),
                    InvalidArgument);
}

TEST_CASE("impossible shapes are refused with the reason", "[device]") {
    NEEDS_DEVICE();
    Device device;
    CHECK_THROWS_AS(device_array<float>(-1, device.stream), InvalidArgument);
    CHECK_THROWS_AS(device_array<double>({1ll << 32, 1ll << 32}, device.stream), InvalidArgument);
    CHECK_THROWS_AS(device_array<float>(1ll << 45, device.stream), OutOfMemory);
    CHECK(to_device(small_numbers<int>(8), device.stream).copy_to_host<int>(device.stream) == small_numbers<int>(8));
}

TEST_CASE("device arrays have the same forms as host arrays", "[device]") {
    NEEDS_DEVICE();
    Device device;
    Stream& stream = device.stream;
    const DType triple = DType::subarray(dtypes::float32, {3});
    struct Row {
        DeviceNDArray array;
        HostNDArray host;
    };
    const Row rows[] = {
        {device_array({2, 3}), host_array({2, 3})},
        {device_array({2, 3}, dtypes::int16), host_array({2, 3}, dtypes::int16)},
        {device_array({2, 3}, dtypes::int16, stream), host_array({2, 3}, dtypes::int16)},
        {device_array({2, 3}, dtypes::int16, OnStream(stream)), host_array({2, 3}, dtypes::int16)},
        {device_array({2, 3}, dtypes::int16, {}), host_array({2, 3}, dtypes::int16, {})},
        {device_array({2, 3}, dtypes::int16, Order::F, stream), host_array({2, 3}, dtypes::int16, Order::F)},
        {device_array({2, 3}, dtypes::int16, {-64, 4}, stream), host_array({2, 3}, dtypes::int16, {-64, 4})},
        {device_array({2}, dtypes::int16, {8}, stream), host_array({2}, dtypes::int16, {8})},
        {device_array<float>({2, 3}, stream, Order::F), host_array<float>({2, 3}, Order::F)},
        {device_array<float>({2, 3}, stream, {16, 4}), host_array<float>({2, 3}, {16, 4})},
        {device_array({2, 3}, dtypes::int16, Order::F, device.gpu), host_array({2, 3}, dtypes::int16, Order::F)},
        {device_array({2, 3}, dtypes::int16, {-64, 4}, device.gpu), host_array({2, 3}, dtypes::int16, {-64, 4})},
        {device_array({4}, triple, stream), host_array({4}, triple)},
        {device_array({4, 2}, triple, Order::F, stream), host_array({4, 2}, triple, Order::F)},
        {device_array({4}, triple, {-16}, stream), host_array({4}, triple, {-16})},
        {device_array({4}, triple, Order::C, device.gpu), host_array({4}, triple)},
        {device_array({0}, triple, stream), host_array({0}, triple)},
    };
    for (const Row& row : rows) {
        DeviceNDArray array = row.array;
        const HostNDArray host = row.host;
        CAPTURE(host.dtype().name(), host.layout().to_string());
        CHECK(array.dtype() == host.dtype());
        CHECK(array.layout() == host.layout());
        paint(host);
        array.copy_to_device(host, stream);
        const HostNDArray back = array.copy_to_host(stream);
        stream.synchronize();
        CHECK(back.equal(host));
    }
}

TEST_CASE("an array like another has its type, order and shape", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const int table[3][4] = {};
    CHECK(device_array_like(table, device.stream).layout() == Layout::contiguous({3, 4}, 4));
    CHECK(device_array_like(std::vector<double>(5), device.stream).dtype() == dtypes::float64);
    CHECK(device_array_like(std::vector<double>(5)).shape() == Dims{5});
    CHECK(device_array_like(host_array({3, 4}, dtypes::int8, Order::F), device.stream).is_f_contiguous());

    // A view may have elements that are arrays; these are kept.
    const std::vector<float> host = small_numbers<float>(12);
    const DType triple = DType::subarray(dtypes::float32, {3});
    const DeviceNDArray array = to_device(HostView{host.data(), triple, Layout::contiguous({4}, 12)}, device.stream);
    CHECK(array.dtype() == triple);
    device.stream.synchronize();  // the other stream is not ordered after it
    for (const HostNDArray& back : {array.copy_to_host(), array.copy_to_host(device.stream)}) {
        device.stream.synchronize();
        CHECK(back.dtype() == triple);
        CHECK(std::equal(host.begin(), host.end(), static_cast<const float*>(back.data())));
    }
}

TEST_CASE("a bool of the device is true for any byte but 0", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray flags =
        to_device(std::vector<std::uint8_t>{0, 1, 2, 0x80}, device.stream).view(dtypes::boolean);
    CHECK_FALSE(flags.get<bool>({0}, device.stream));
    for (const int i : {1, 2, 3}) CHECK(static_cast<int>(flags.get<bool>({i}, device.stream)) == 1);
}

TEST_CASE("the address of an element is typed and aligned", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    const DeviceNDArray bytes = device_array({9}, dtypes::uint8, device.stream);
    CHECK(static_cast<void*>(bytes.slice({Slice{4, 8}}).view(dtypes::int32).as<int>()) == bytes.as<std::uint8_t>() + 4);
    const DeviceNDArray odd = bytes.slice({Slice{1, 9}}).view(dtypes::int32);
    CHECK_THROWS_AS(odd.as<int>(), InvalidArgument);
    CHECK_THROWS_WITH(odd.as<int>(), Contains("DeviceNDArray::as") && Contains("multiple of 4 B") && Contains("int32"));
}

TEST_CASE("refusals name the call and the remedy", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    DeviceNDArray array = to_device(std::vector<float>(4, 1.0f), device.stream);
    HostNDArray host = host_array({4}, dtypes::float32);
    MappedNDArray mapped = mapped_array({4}, dtypes::float32);
    struct Row {
        std::function<void()> call;
        const char* begins;
        const char* remedy;
    };
    const Row rows[] = {
        {[&] { array.fill(1, device.stream); }, "DeviceNDArray::fill: the elements are float32, not int32",
         "0.0f is float32"},
        {[&] { array.set({0}, 1.0, device.stream); }, "DeviceNDArray::set: the elements are float32, not float64",
         "0.0f"},
        {[&] { array.get<int>({0}, device.stream); }, "DeviceNDArray::get: the elements are float32, not int32", ""},
        {[&] { host.fill(1); }, "HostNDArray::fill: the elements are float32, not int32", "0.0f is float32"},
        {[&] { host.set({0}, 1); }, "HostNDArray::set: the elements are float32, not int32", "0.0f is float32"},
        {[&] { mapped.fill(1); }, "fill: the elements are float32, not int32", "0.0f is float32"},
        {[&] { array.copy_to_host(host.read_only(), device.stream); },
         "DeviceNDArray::copy_to_host: the destination (float32 with shape (4,)", "is read-only; use a copy()"},
    };
    for (const Row& row : rows) {
        CHECK_THROWS_AS(row.call(), InvalidArgument);
        CHECK_THROWS_WITH(row.call(), Contains(row.begins) && Contains(row.remedy));
    }
    CHECK(array.copy_to_host<float>(device.stream) == std::vector<float>(4, 1.0f));
}
