// Array views by value: their elements on the host and in kernels.
#include "devicearray/nd_span.hpp"

#include <atomic>
#include <numeric>
#include <vector>

#include "hsadrv/executable.hpp"
#include "tests/devicearray/array_fixture.hpp"
#include "tests/devicearray/naive_array.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using array_test::counting;
using test_support::Contains;
using test_support::patience;

namespace {

/// An array of host memory, without ownership.
struct HostArray {
    void* address;
    DType type;
    Layout how;
    void* data() const { return address; }
    const DType& dtype() const { return type; }
    const Layout& layout() const { return how; }
};

struct SpanDevice : test_support::Device {
    Executable code = Executable::load(gpu, test_support::test_file("nd_span.hsaco"));
};

struct Row {
    std::int32_t id;
    std::int32_t unused;
    double mass;
};

}  // namespace

HSADRV_RECORD(Row, id, mass);

TEST_CASE("byte strides convert to element strides, or the span is refused", "[nd_span]") {
    CHECK(element_strides(Layout::contiguous({2, 3}, 4)) == Dims{3, 1});
    CHECK(element_strides(Layout::contiguous({2, 3}, 4, Order::F)) == Dims{1, 2});
    CHECK(element_strides(Layout::strided({2, 3}, {-24, 0}, 8)) == Dims{-3, 0});
    CHECK(element_strides(Layout()) == Dims{});
    CHECK_FALSE(element_strides(Layout::strided({2, 3}, {10, 4}, 4)));
    CHECK_FALSE(element_strides(Layout::strided({2}, {-7}, 2)));
    // Strides without effect.
    CHECK(element_strides(Layout::strided({1, 3}, {7, 4}, 4)) == Dims{3, 1});
    CHECK(element_strides(Layout::strided({2, 0, 5}, {7, 1, 9}, 4)) == Dims{5, 5, 1});
}

TEST_CASE("a span accesses its elements as the layout does", "[nd_span]") {
    naive::Random random(5 + test_support::test_seed());
    std::vector<std::int32_t> memory(200000);
    std::iota(memory.begin(), memory.end(), 0);
    std::int32_t* const middle = memory.data() + memory.size() / 2;
    int compared = 0;
    for (int round = 0; round < 2000; ++round) {
        const Dims shape{random.between(0, 5), random.between(1, 6), random.between(1, 4)};
        const Layout layout = random.layout(naive::list(shape), 4);
        const HostArray array{middle, dtypes::int32, layout};
        if (!element_strides(layout)) {
            CHECK_THROWS_AS((nd_span<std::int32_t, 3>(array)), InvalidArgument);
            continue;
        }
        const NDSpan<std::int32_t, 3> span = nd_span<std::int32_t, 3>(array);
        REQUIRE(span.size() == layout.size());
        REQUIRE(span.empty() == (layout.size() == 0));
        std::vector<bool> seen(memory.size());
        std::int64_t different = 0, lowest = 1 << 30, highest = -1;
        for (int i = 0; i < span.extent(0); ++i)
            for (int j = 0; j < span.extent(1); ++j)
                for (int k = 0; k < span.extent(2); ++k) {
                    const std::int64_t place = middle - memory.data() + layout.offset_of({i, j, k}) / 4;
                    REQUIRE(span(i, j, k) == place);
                    different += !seen[static_cast<std::size_t>(place)];
                    seen[static_cast<std::size_t>(place)] = true;
                    lowest = std::min(lowest, place);
                    highest = std::max(highest, place);
                }
        const bool exhaustive = span.empty() || (different == span.size() && highest - lowest + 1 == span.size());
        REQUIRE(span.is_exhaustive() == exhaustive);
        ++compared;
    }
    CHECK(compared > 1000);
}

TEST_CASE("a span is usable in constant expressions", "[nd_span]") {
    static constexpr int elements[6] = {0, 1, 2, 3, 4, 5};
    static constexpr std::int64_t extents[2] = {3, 2}, strides[2] = {1, 3};
    constexpr NDSpan<const int, 2> span(elements, extents, strides);
    STATIC_REQUIRE(span(2, 1) == 5);
    STATIC_REQUIRE(span.size() == 6);
    STATIC_REQUIRE(span.is_exhaustive());
    STATIC_REQUIRE(span.rank() == 2);
    STATIC_REQUIRE(span.stride(1) == 3);
    STATIC_REQUIRE(NDSpan<int, 1>().data_handle() == nullptr);
    STATIC_REQUIRE(NDSpan<int, 1>().empty());
    STATIC_REQUIRE(std::is_trivially_copyable_v<NDSpan<int, 2>>);
    STATIC_REQUIRE(std::is_convertible_v<NDSpan<int, 2>, NDSpan<const int, 2>>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<NDSpan<const int, 2>, NDSpan<int, 2>>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<NDSpan<float, 2>, NDSpan<const int, 2>>);
    // One argument of a kernel, like a struct.
    STATIC_REQUIRE(argument_shape<NDSpan<float, 2>>.what == ArgumentClass::object);
    STATIC_REQUIRE(argument_shape<NDSpan<float, 2>>.size_bytes == 40);
    STATIC_REQUIRE(argument_shape<HeldSpan<float, 2>>.what == ArgumentClass::object);
    STATIC_REQUIRE(argument_shape<HeldSpan<float, 2>>.size_bytes == 40);
}

TEST_CASE("arrays that a span cannot represent are refused with both types", "[nd_span]") {
    alignas(8) char memory[256] = {};
    const auto array = [&](const DType& type, const Layout& layout, int offset = 0) {
        return HostArray{memory + offset, type, layout};
    };
    const Layout lines = Layout::contiguous({4, 4}, 4);
    const auto refused = [](auto&& make, std::initializer_list<const char*> says) {
        CHECK_THROWS_AS(make(), InvalidArgument);
        for (const char* part : says) CHECK_THROWS_WITH(make(), Contains(part));
    };
    refused([&] { (void)nd_span<int, 2>(array(dtypes::float32, lines)); }, {"nd_span<int32, 2>", "float32", "(4, 4)"});
    refused([&] { (void)nd_span<float, 3>(array(dtypes::float32, lines)); },
            {"nd_span<float32, 3>", "ranks", "(4, 4)"});
    refused([&] { (void)nd_span<float, 1>(array(dtypes::float32, Layout::strided({5}, {6}, 4))); },
            {"multiples", "(6,)", "copy"});
    refused([&] { (void)nd_span<float, 2>(array(dtypes::float32, lines, 2)); }, {"address", "multiple of 4"});
    // Without elements no address is checked.
    CHECK(nd_span<float, 2>(array(dtypes::float32, Layout::contiguous({0, 4}, 4), 2)).empty());
}

TEST_CASE("a moved-from span keeps its share of the memory", "[nd_span]") {
    HostNDArray array = host_array<int>({3});
    auto span = nd_span<int, 1>(array);
    const auto other = std::move(span);
    CHECK(span.keep_alive() == array.keep_alive());
    CHECK(other.keep_alive() == array.keep_alive());
}

TEST_CASE("spans of records, and of their fields if the strides allow it", "[nd_span]") {
    std::vector<Row> rows{{1, 0, 1.5}, {2, 0, 2.5}};
    const HostArray array{rows.data(), dtype_of<Row>(), Layout::contiguous({2}, sizeof(Row))};
    CHECK(nd_span<const Row, 1>(array)[1].mass == 2.5);
    const HostArray masses{&rows[0].mass, dtypes::float64, Layout::strided({2}, {sizeof(Row)}, 8)};
    CHECK(nd_span<double, 1>(masses)[1] == 2.5);
    CHECK(nd_span<double, 1>(masses).stride(0) == 2);
    CHECK_FALSE(nd_span<double, 1>(masses).is_exhaustive());
}

TEST_CASE("a host array's elements are written through a span, unless it is read-only", "[nd_span]") {
    HostNDArray array = host_array<float>({2, 3});
    array.fill(1.0f);
    const HeldSpan<float, 2> span = nd_span<float, 2>(array.transpose());
    span(2, 1) = 5;
    CHECK(array.get<float>({1, 2}) == 5);
    CHECK(span.keep_alive() == array.keep_alive());
    CHECK(nd_span<const float, 2>(array.read_only())(1, 2) == 5);
    CHECK_THROWS_AS((nd_span<float, 2>(array.read_only())), InvalidArgument);
}

TEST_CASE("kernels see the same elements of a span as the host", "[nd_span][device]") {
    NEEDS_DEVICE();
    SpanDevice device;
    const DeviceNDArray whole = device_array<double>({2, 3, 4}, device.stream);
    const auto told = [&](const char* kernel, const auto& span) {
        std::vector<std::int64_t> zeros(20);
        const DeviceNDArray out = to_device(zeros, device.stream);
        device.code.kernel(kernel).launch(device.stream, {.grid = 1, .workgroup = 1}, out, span);
        return out.copy_to_host<std::int64_t>(device.stream);
    };
    const auto expected = [](const auto& span) {
        std::vector<std::int64_t> facts{reinterpret_cast<std::int64_t>(span.data_handle()), span.size(),
                                        span.is_exhaustive()};
        for (int i = 0; i < span.rank(); ++i) facts.insert(facts.end(), {span.extent(i), span.stride(i)});
        facts.resize(20);
        return facts;
    };
    const auto compare = [&](const char* kernel, const auto& span) { CHECK(told(kernel, span) == expected(span)); };
    compare("describe_0", nd_span<const double, 0>(whole.slice({1, 2, 3})));
    compare("describe_1", nd_span<const double, 1>(whole.slice({1, 2, Slice{{}, {}, -3}})));
    compare("describe_3", nd_span<const double, 3>(whole));
    compare("describe_3", nd_span<const double, 3>(whole.transpose({2, 0, 1})));
    compare("describe_3", nd_span<const double, 3>(whole.slice({Slice{}, Slice{{}, {}, 2}, Slice{{}, {}, -1}})));
    compare("describe_8", nd_span<const double, 8>(whole.reshape({1, 2, 1, 3, 1, 2, 2, 1})));
}

TEST_CASE("a kernel writes through a view's strides, and to no other byte", "[nd_span][device]") {
    NEEDS_DEVICE();
    SpanDevice device;
    const std::vector<float> host = counting(20 * 30);
    const Kernel mark = device.code.kernel("mark_places");
    const struct {
        const char* name;
        DeviceNDArray (*view)(const DeviceNDArray&);
        Layout (*same)(const Layout&, std::int64_t&);
    } rows[] = {
        {"itself", [](const DeviceNDArray& a) { return a; }, [](const Layout& l, std::int64_t&) { return l; }},
        {"transposed", [](const DeviceNDArray& a) { return a.transpose(); },
         [](const Layout& l, std::int64_t&) { return l.transpose(); }},
        {"every third of the columns 2 to 20, rows backwards",
         [](const DeviceNDArray& a) { return a.slice({Slice{{}, {}, -1}, Slice{2, 20, 3}}); },
         [](const Layout& l, std::int64_t& offset) {
             const SubLayout part = slice(l, {Slice{{}, {}, -1}, Slice{2, 20, 3}});
             offset = part.offset_bytes;
             return part.layout;
         }},
        {"a sliced transpose",
         [](const DeviceNDArray& a) { return a.transpose().slice({Slice{5, 9}, Slice{{}, {}, 2}}); },
         [](const Layout& l, std::int64_t& offset) {
             const SubLayout part = slice(l.transpose(), {Slice{5, 9}, Slice{{}, {}, 2}});
             offset = part.offset_bytes;
             return part.layout;
         }},
    };
    for (const auto& row : rows) {
        CAPTURE(row.name);
        const DeviceNDArray array = to_device(host_view(host, {20, 30}), device.stream);
        const DeviceNDArray view = row.view(array);
        mark.launch(device.stream, {.grid = {32, 32}, .workgroup = {8, 8}}, nd_span<float, 2>(view));

        std::int64_t offset = 0;
        const Layout layout = row.same(Layout::contiguous({20, 30}, 4), offset);
        const naive::Array places = naive::array(layout, offset);
        std::vector<float> expected = host;
        for (std::int64_t n = 0; n < naive::count(places.shape); ++n) {
            const naive::Shape index = naive::index_at(n, places.shape);
            float& element = expected[static_cast<std::size_t>(places.at(index) / 4)];
            element = 2 * element + static_cast<float>(100 * index[0] + index[1]);
        }
        CHECK(array.copy_to_host<float>(device.stream) == expected);
    }
}

TEST_CASE("a kernel reads any layout through a span, as the naive model does", "[nd_span][device]") {
    NEEDS_DEVICE();
    SpanDevice device;
    constexpr std::int64_t words = 1 << 14, middle = words / 2;
    std::vector<std::uint32_t> memory(words);
    std::iota(memory.begin(), memory.end(), 0u);
    const DeviceNDArray whole = to_device(memory, device.stream);
    const Kernel gather = device.code.kernel("gather");
    naive::Random random(99 + test_support::test_seed());
    int compared = 0;
    for (int round = 0; round < 400; ++round) {
        const Dims shape{random.between(1, 6), random.between(1, 7), random.between(1, 9)};
        const Layout layout = random.layout(naive::list(shape), 4);
        const ByteRange range = layout.extent();
        if (!element_strides(layout) || range.begin < -4 * middle || range.end > 4 * middle) continue;
        const DeviceNDArray view = whole.at(static_cast<std::uint32_t*>(whole.data()) + middle, dtypes::uint32, layout);
        const DeviceNDArray out = device_array<std::uint32_t>(layout.size(), device.stream);
        gather.launch(device.stream, {.grid = static_cast<std::uint32_t>(layout.size()), .workgroup = 64},
                      nd_span<const std::uint32_t, 3>(view), out);
        std::vector<std::uint32_t> expected;
        for (const std::int64_t offset : naive::array(layout, 4 * middle).offsets)
            expected.push_back(static_cast<std::uint32_t>(offset / 4));
        CAPTURE(layout.to_string());
        REQUIRE(out.copy_to_host<std::uint32_t>(device.stream) == expected);
        ++compared;
    }
    CHECK(compared > 200);
}

TEST_CASE("one launch takes several spans", "[nd_span][device]") {
    NEEDS_DEVICE();
    SpanDevice device;
    const DeviceNDArray to = to_device(host_view(counting(12), {3, 4}), device.stream);
    const DeviceNDArray from = to_device(host_view(counting(12), {4, 3}), device.stream);
    const Kernel add = device.code.kernel("add_scaled");
    add.launch(device.stream, {.grid = {4, 3}, .workgroup = {4, 3}}, 10, nd_span<float, 2>(to),
               nd_span<const float, 2>(from.transpose()));
    add.launch(device.stream, {.grid = {4, 3}, .workgroup = {4, 3}}, 100, nd_span<float, 2>(to),
               nd_span<const float, 2>(to.broadcast_to({3, 4})));
    std::vector<float> expected(12);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j)
            expected[static_cast<std::size_t>(4 * i + j)] = 101 * static_cast<float>(4 * i + j + 10 * (3 * j + i));
    CHECK(to.copy_to_host<float>(device.stream) == expected);
    CHECK_THROWS_AS(add.launch(device.stream, {.grid = 1, .workgroup = 1}, 1, nd_span<float, 2>(to), to),
                    InvalidArgument);
}

TEST_CASE("a kernel writes host memory through a span of a mapped array's device address", "[nd_span][device]") {
    NEEDS_DEVICE();
    SpanDevice device;
    MappedNDArray mapped = mapped_array({3, 5}, dtypes::float32);
    mapped.fill(1.0f);
    device.code.kernel("mark_places")
        .launch(device.stream, {.grid = {8, 8}, .workgroup = {8, 8}}, nd_span<float, 2>(mapped.device().transpose()));
    device.stream.synchronize(patience);
    const auto host = nd_span<const float, 2>(mapped.host());
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 5; ++j) CHECK(host(i, j) == static_cast<float>(2 + 100 * j + i));
}

TEST_CASE("the memory of a span outlives its launch", "[nd_span][device]") {
    NEEDS_DEVICE();
    SpanDevice device;
    const Allocation flag_memory = Allocation::from_pool(host_pool(), 4);
    std::uint32_t& flag = *flag_memory.as<std::uint32_t>();
    flag = 0;
    std::weak_ptr<const void> memory;
    const Kernel write = device.code.kernel("write_when_told");
    {
        const DeviceNDArray array = device_array<std::int32_t>(64, device.stream);
        memory = array.keep_alive();
        write.launch(device.stream, {.grid = 64, .workgroup = 64}, flag_memory, nd_span<std::int32_t, 1>(array), 7);
    }
    CHECK_FALSE(device.stream.query());
    CHECK_FALSE(memory.expired());
    std::atomic_ref(flag).store(1);
    device.stream.synchronize(patience);
    CHECK(memory.expired());
}
