// Arrays of any layout, to the device, on it and back: as if copied index by index, in the order of their stream,
// and no byte written outside the elements.
#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "tests/devicearray/array_fixture.hpp"

using namespace hsadrv;
using array_test::counting;
using test_support::Contains;
using test_support::Device;
using test_support::Gate;

TEST_CASE("elements of every layout are copied to every other layout", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<float> host = counting(64 * 48);
    const DeviceNDArray array = to_device(host_view(host, {64, 48}), device.stream);
    std::vector<float> out(48 * 64);
    const auto at = [&](std::size_t i, std::size_t j) { return host[i * 48 + j]; };

    array.transpose().copy_to_host(host_view(out, {48, 64}), device.stream);
    CHECK(out[5 * 64 + 7] == at(7, 5));
    CHECK(array.slice({Slice{{}, {}, -1}, Slice{1, {}, 2}}).copy_to_host<float>(device.stream)[25] == at(62, 3));
    CHECK(array.slice({ellipsis, 7}).copy_to_host<float>(device.stream).at(63) == at(63, 7));
    DeviceNDArray window = device_array<float>({64, 48}, device.stream);
    window.fill(-1.0f, device.stream);
    window.slice({Slice{8, 16}, Slice{4, 8}}).copy_to_device(array.slice({Slice{0, 8}, Slice{0, 4}}), device.stream);
    const std::vector<float> all = window.copy_to_host<float>(device.stream);
    CHECK(all[8 * 48 + 4] == at(0, 0));
    CHECK(all[15 * 48 + 7] == at(7, 3));
    CHECK(all[8 * 48 + 8] == -1);
    CHECK(array.slice({3}).broadcast_to({5, 48}).copy_to_host<float>(device.stream)[4 * 48 + 11] == at(3, 11));
}

TEST_CASE("a copy within one array acts as if through a temporary", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<float> host = counting(1000);
    DeviceNDArray line = to_device(host, device.stream);
    line.slice({Slice{100, 1000}}).copy_to_device(line.slice({Slice{0, 900}}), device.stream);
    CHECK(line.get<float>({999}, device.stream) == 899);
    line.copy_to_device(line.slice({Slice{{}, {}, -1}}), device.stream);
    CHECK(line.get<float>({0}, device.stream) == 899);
    CHECK(line.get<float>({-1}, device.stream) == 0);
    DeviceNDArray square = line.slice({Slice{0, 900}}).reshape({30, 30});
    const std::vector<float> before = square.copy_to_host<float>(device.stream);
    square.copy_to_device(square.transpose(), device.stream);
    CHECK(square.get<float>({3, 20}, device.stream) == before[20 * 30 + 3]);
    square.copy_to_device(square, device.stream);
    CHECK(square.get<float>({20, 3}, device.stream) == before[3 * 30 + 20]);
}

TEST_CASE("items are read and written one by one, and whole arrays filled", "[device]") {
    NEEDS_DEVICE();
    Device device;
    DeviceNDArray array = device_array<double>({3, 4}, device.stream);
    array.fill(2.5, device.stream);
    array.set({1, 2}, 7.0, device.stream);
    array.slice({Slice{}, Slice{0, {}, 3}}).fill(-1.0, device.stream);
    CHECK(array.copy_to_host<double>(device.stream) ==
          std::vector<double>{-1, 2.5, 2.5, -1, -1, 2.5, 7, -1, -1, 2.5, 2.5, -1});
    CHECK(array.get<double>({-2, 2}, device.stream) == 7);
    CHECK_THROWS_AS(array.get<float>({0, 0}, device.stream), InvalidArgument);
    CHECK_THROWS_WITH(array.get<double>({3, 0}, device.stream), Contains("(3, 0)") && Contains("(3, 4)"));
    CHECK_THROWS_AS(array.set({0}, 1.0, device.stream), InvalidArgument);
    CHECK_THROWS_AS(array.fill(1, device.stream), InvalidArgument);
    device_array<double>({0, 4}, device.stream).fill(1.0, device.stream);
}

TEST_CASE("invalid transfers are refused, and both sides stay unchanged", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<float> host = counting(12);
    std::vector<float> other(12, -1.0f);
    DeviceNDArray array = to_device(host_view(host, {3, 4}), device.stream);
    struct Row {
        std::function<void()> call;
        std::vector<const char*> words;
    };
    const Row rows[] = {
        {[&] { array.copy_to_host(host_view(other, {4, 3}), device.stream); },
         {"DeviceNDArray::copy_to_host", "shapes differ", "(3, 4)", "(4, 3)"}},
        {[&] { array.copy_to_host<int>(device.stream); }, {"float32", "int32"}},
        {[&] { array.copy_to_device(std::vector<int>(12), device.stream); },
         {"DeviceNDArray::copy_to_device", "types differ", "int32", "float32"}},
        {[&] { array.copy_to_device(std::vector<float>(11), device.stream); }, {"(11,)", "(3, 4)"}},
        {[&] { array.copy_to_device(array.transpose(), device.stream); }, {"(4, 3)", "(3, 4)"}},
        {[&] { array.slice({0}).broadcast_to({3, 4}).copy_to_device(array, device.stream); }, {"share memory"}},
        {[&] { array.transpose().reshape({12}); }, {"copy"}},
        {[&] { array.as<int>(); }, {"float32", "int32"}},
        {[&] { array.view(dtypes::complex128).copy_to_host<float>(device.stream); }, {"complex128"}},
        {[&] { array.slice({Slice{}, Slice{0, 3}}).view(dtypes::complex64); }, {"whole elements"}},
        {[&] { array.field("x"); }, {"float32"}},
        {[&] { array.slice({5}); }, {"5", "3"}},
        {[&] { array.split(0); }, {"0"}},
        {[&] {
             array.copy_to_host(MutableHostView{nullptr, dtypes::float32, array.layout().transpose().transpose()},
                                device.stream);
         },
         {"null"}},
        {[&] {
             array.transpose().copy_to_host(MutableHostView{nullptr, dtypes::float32, Layout::contiguous({4, 3}, 4)},
                                            device.stream);
         },
         {"null"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.words.front());
        CHECK_THROWS_AS(row.call(), InvalidArgument);
        for (const char* word : row.words) CHECK_THROWS_WITH(row.call(), Contains(word));
    }
    CHECK(other == std::vector<float>(12, -1.0f));
    CHECK(array.copy_to_host<float>(device.stream) == host);
}

TEST_CASE("an array that exceeds its memory is refused before any transfer", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    auto memory = std::make_shared<Allocation>(device.gpu.allocate(4096));
    const DeviceNDArray far(memory, memory->data(), dtypes::float32, Layout::strided({10}, {4096}, 4), device.gpu);
    CHECK_THROWS_WITH(far.copy_to_host<float>(device.stream), Contains("36868 B from there on") && Contains("4096 B"));
    const DeviceNDArray before(memory, memory->data(), dtypes::float32, Layout::strided({10}, {-4}, 4), device.gpu);
    CHECK_THROWS_WITH(before.slice({Slice{{}, {}, 2}}).copy_to_host<float>(device.stream),
                      Contains("32 B before its first element"));
}

TEST_CASE("without a stream an operation is done on return; a bound array uses its stream", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<float> host = counting(300);
    DeviceNDArray array = to_device(host);
    CHECK(array.copy_to_host<float>() == host);
    std::vector<float> out(300);
    CHECK(&array.copy_to_host(out) == &out);
    CHECK(out == host);
    CHECK(device.gpu.thread_stream().query());

    auto pinned = device.gpu.allocate_host(1200);
    const MutableHostView view{pinned.data(), dtypes::float32, Layout::contiguous({300}, 4)};
    std::optional<Stream> own(device.gpu.stream());
    DeviceNDArray bound = array.bind(*own);
    {
        Gate gate(*own);
        bound.set({0}, 5.0f);
        bound.reshape({30, 10}).transpose().copy_to_host(
            {pinned.data(), dtypes::float32, Layout::contiguous({10, 30}, 4)});
        CHECK_FALSE(own->query());
    }
    Stream moved = std::move(*own);
    bound.copy_to_host(view);
    moved.synchronize();
    CHECK(static_cast<float*>(pinned.data())[0] == 5);
    CHECK(static_cast<float*>(pinned.data())[299] == 299);
    own.reset();
    CHECK(bound.get<float>({1}) == 1);
    moved.close();
    CHECK_THROWS_WITH(bound.get<float>({1}), Contains("bound to was destroyed"));
    CHECK(bound.get<float>({1}, device.stream) == 1);
}

TEST_CASE("without a context arrays need a stream", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    DeviceNDArray array = to_device(counting(4), device.stream);
    device.stream.synchronize();
    std::thread([&] {
        CHECK_THROWS_WITH(array.copy_to_host<float>(), Contains("no stream") && Contains("Context"));
        CHECK_THROWS_AS(device_array<float>(4), Error);
        CHECK(array.copy_to_host<float>(device.stream) == counting(4));
    }).join();
}

TEST_CASE("arrays of one device are not used on another's stream; their contents may be copied to it",
          "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    if (device.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    Context second{device.driver.gpus()[1]};
    Stream there = second.stream();
    const std::vector<float> host = counting(24 * 36);
    DeviceNDArray here = to_device(host_view(host, {24, 36}), device.stream);
    CHECK_THROWS_WITH(here.copy_to_host<float>(there), Contains("gpu0") && Contains("gpu1"));
    CHECK(here.copy_to_host<float>() == host);
    CHECK_THROWS_AS(here.bind(there), InvalidArgument);
    CHECK_THROWS_AS(to_device(host_view(host, {24, 36}), there, true, &here), InvalidArgument);
    device.stream.synchronize();
    DeviceNDArray other = device_array_like(here, there);
    other.copy_to_device(here, there);
    CHECK(other.copy_to_host<float>(there) == host);
    DeviceNDArray turned = device_array<float>({36, 24}, there);
    turned.copy_to_device(here.transpose(), there);
    CHECK(turned.get<float>({5, 7}, there) == host[7 * 36 + 5]);
    turned.slice({Slice{{}, {}, -1}}).copy_to_device(here.transpose(), there);
    CHECK(turned.get<float>({0, 1}, there) == host[36 + 35]);
}

TEST_CASE("memory lives until the transfers that use it are complete", "[device]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<float> host = counting(5000);
    std::weak_ptr<const void> memory;
    DeviceNDArray result = device_array<float>({50, 100}, device.stream);
    {
        const DeviceNDArray source = to_device(host_view(host, {100, 50}), device.stream);
        device.stream.synchronize();
        memory = source.keep_alive();
        Gate gate(device.stream);
        result.copy_to_device(source.transpose(), device.stream);
    }
    CHECK(result.copy_to_host<float>(device.stream)[51] == host[51 * 50]);
    device.stream.synchronize();
    CHECK(memory.expired());
}

TEST_CASE("an array's memory is reused, and released on request", "[device]") {
    NEEDS_DEVICE();
    std::optional<Device> device{std::in_place};
    const AgentRef gpu = device->gpu;
    const void* address = nullptr;
    {
        const auto array = device_array<float>(1 << 20, device->stream);
        address = array.data();
        CHECK(array_memory(gpu).used_bytes >= 4u << 20);
    }
    CHECK(device_array<float>(1 << 20, device->stream).data() == address);
    CHECK(array_memory(gpu).used_bytes == 0);
    CHECK(array_memory(gpu).held_bytes >= 4u << 20);
    CHECK(release_cached(gpu) >= 4u << 20);
    std::optional<DeviceNDArray> last = device_array<float>(10, device->stream);
    const Driver driver = device->driver;
    device.reset();
    CHECK(array_memory(gpu).used_bytes > 0);
    last.reset();
    CHECK(array_memory(gpu).held_bytes == 0);
}

TEST_CASE("fields of records are arrays", "[device][record]") {
    NEEDS_DEVICE();
    Device device;
    const DType type =
        DType::record({{"id", dtypes::int32},
                       {"at", DType::subarray(dtypes::float32, {3})},
                       {"inner", DType::record({{"flag", dtypes::uint8}, {"weight", dtypes::float64}})}});
    DeviceNDArray records = device_array({6, 5}, type, Order::C, device.stream);
    for (const DeviceNDArray& part : {records.field("id").view(dtypes::uint32)}) CHECK(part.shape() == Dims{6, 5});
    records.view(dtypes::uint8).fill(std::uint8_t{0}, device.stream);
    records.field("id").copy_to_device(host_view(std::vector<int>(30, 9), {6, 5}), device.stream);
    records.field("at").slice({ellipsis, 1}).fill(1.5f, device.stream);
    records.field("inner").field("weight").set({5, 4}, 0.25, device.stream);
    CHECK(records.field("at").shape() == Dims{6, 5, 3});
    CHECK(records.field("at").get<float>({2, 2, 1}, device.stream) == 1.5f);
    CHECK(records.field("at").get<float>({2, 2, 2}, device.stream) == 0);
    CHECK(records.field("inner").field("weight").copy_to_host<double>(device.stream).back() == 0.25);
    CHECK(records.field("id").copy_to_host<int>(device.stream) == std::vector<int>(30, 9));
    CHECK_THROWS_WITH(records.field("mass"), Contains("id") && Contains("inner"));
}

TEST_CASE("arrays of any strides can be made", "[device]") {
    NEEDS_DEVICE();
    Device device;
    DeviceNDArray padded = device_array({3, 4}, dtypes::float32, {64, 4}, device.stream);
    padded.copy_to_device(counting(12), device.stream);
    CHECK(padded.get<float>({2, 1}, device.stream) == 9);
    DeviceNDArray back = device_array({3, 4}, dtypes::float32, {-16, -4}, device.stream);
    back.copy_to_device(counting(12), device.stream);
    CHECK(back.slice({Slice{{}, {}, -1}, Slice{{}, {}, -1}}).is_c_contiguous());
    CHECK(back.copy_to_host<float>(device.stream) == counting(12));
    CHECK(device_array({0, 4}, dtypes::float32, {16, 4}, device.stream).data() == nullptr);
    CHECK_THROWS_AS(device_array({3, 4}, dtypes::float32, {4}, device.stream), InvalidArgument);
    CHECK_THROWS_AS(device_array({1ll << 40, 1ll << 40}, dtypes::float32, Order::C, device.stream), InvalidArgument);
    CHECK_THROWS_AS(device_array({-3}, dtypes::float32, Order::C, device.stream), InvalidArgument);
}

TEST_CASE("a transfer that times out throws Timeout, and the arrays stay usable", "[device][error]") {
    NEEDS_DEVICE();
    Device device;
    DeviceNDArray array = to_device(counting(100), device.stream);
    std::vector<float> out(100);
    {
        Gate gate(device.stream);
        CHECK_THROWS_AS(array.copy_to_host(out, device.stream, std::chrono::milliseconds(20)), Timeout);
        CHECK_THROWS_AS(
            array.slice({Slice{{}, {}, -1}}).copy_to_host(out, device.stream, std::chrono::milliseconds(20)), Timeout);
    }
    CHECK(array.copy_to_host<float>(device.stream) == counting(100));
}

TEST_CASE("threads share a device's arrays, each on its own stream", "[device][threads]") {
    NEEDS_DEVICE();
    Device device;
    const std::vector<float> host = counting(40 * 30);
    const DeviceNDArray shared = to_device(host_view(host, {40, 30}), device.stream);
    device.stream.synchronize();
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) {
        threads.emplace_back([&, n] {
            Context gpu{device.gpu.agent()};
            Stream stream = gpu.stream();
            for (int i = 0; i < 100; ++i) {
                DeviceNDArray mine = device_array<float>({30, 40}, i % 2 ? OnStream() : OnStream(stream));
                mine.copy_to_device(shared.transpose(), stream);
                stream.synchronize();
                const std::int64_t row = (i * 7 + n) % 30, column = (i * 11) % 40;
                wrong += mine.get<float>({row, column}) != host[static_cast<std::size_t>(column * 30 + row)];
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("large arrays are rearranged in pieces, with little additional memory", "[device]") {
    NEEDS_DEVICE();
    Device device;
    constexpr std::int64_t rows = 3000, columns = 4111;  // 47 MiB
    std::vector<float> host(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 8'000'009);
    const auto view = host_view(host, {rows, columns});
    const auto at = [&](std::int64_t i, std::int64_t j) { return host[static_cast<std::size_t>(i * columns + j)]; };
    const HostView turned{view.data, view.dtype, view.layout.transpose()};
    DeviceNDArray array = device_array<float>({columns, rows}, device.stream);
    array.copy_to_device(turned, device.stream);  // a kernel arranges
    CHECK(array_memory(device.gpu).held_bytes < 100u << 20);
    std::vector<float> back(host.size());
    array.transpose().copy_to_host(host_view(back, {rows, columns}), device.stream);  // a kernel packs
    CHECK(back == host);

    const SubLayout part = slice(turned.layout, {Slice{1, {}, 2}, Slice{0, {}, 2}});  // the CPU packs, on both ways
    DeviceNDArray half = device_array<float>(part.layout.shape(), device.stream);
    half.copy_to_device(HostView{host.data() + part.offset_bytes / 4, dtypes::float32, part.layout}, device.stream);
    CHECK(half.get<float>({7, 1499}, device.stream) == at(2998, 15));
    half.copy_to_host(MutableHostView{back.data() + part.offset_bytes / 4, dtypes::float32, part.layout},
                      device.stream);
    CHECK(back == host);

    array.copy_to_device(array.slice({Slice{{}, {}, -1}}), device.stream);  // all at once: it overlaps
    CHECK(array.get<float>({0, 5}, device.stream) == at(5, columns - 1));
}
