// Foreign arrays, described by NumPy's array interface and by Python's buffer protocol.
#include "devicearray/nd_view.hpp"

#include <array>
#include <numeric>
#include <vector>

#include "devicearray/host_ndarray.hpp"
#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using test_support::Contains;

namespace {

std::vector<float> counting(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
}

/// The members of CPython's Py_buffer, in their order.
struct Buffer {
    void* buf;
    void* obj;
    std::ptrdiff_t len, itemsize;
    int readonly, ndim;
    char* format;
    std::ptrdiff_t *shape, *strides, *suboffsets;
    void* internal;
};

}  // namespace

TEST_CASE("an array interface becomes a view of the same elements", "[nd_view]") {
    std::vector<float> values = counting(12);
    const NDView plain({.data = values.data(), .shape = {3, 4}, .typestr = "<f4"});
    CHECK(plain.dtype() == dtypes::float32);
    CHECK(plain.layout() == Layout::contiguous({3, 4}, 4));
    CHECK(plain.data() == values.data());
    CHECK(as_host_array(HostView(plain)).get<float>({1, 2}) == 6);
    as_host_array(MutableHostView(plain)).set({1, 2}, 60.0f);
    CHECK(values[6] == 60);

    const NDView turned(
        {.data = values.data(), .shape = {4, 3}, .typestr = "<f4", .strides = Dims{-4, 16}, .offset = 12});
    CHECK(as_host_array(HostView(turned)).get<float>({3, 2}) == 8);
    CHECK(NDView({.data = values.data(), .typestr = "<c8"}).layout().size() == 1);
    CHECK(NDView({.shape = {3, 0}, .typestr = "<f4"}).layout().size() == 0);
    CHECK(NDView({.data = values.data(), .shape = 2, .typestr = "|b1", .version = 4}).dtype() == dtypes::boolean);
}

TEST_CASE("descr completes typestr", "[nd_view]") {
    std::array<std::byte, 24> bytes{};
    const auto type_of = [&](std::string_view typestr, std::string_view descr) {
        return NDView({.data = bytes.data(), .shape = 2, .typestr = typestr, .descr = descr}).dtype();
    };
    const DType record = type_of("|V6", "[('x', '<f4'), ('n', '<i2')]");
    CHECK(record.field("n").offset == 4);
    CHECK(type_of("", "[('x', '<f4'), ('n', '<i2')]") == record);
    CHECK(type_of("|V6", "[('', '|V6')]") == DType::raw(6));
    CHECK(type_of("<f4", "[('', '<f4')]") == dtypes::float32);
    CHECK_THROWS_WITH(type_of("|V8", "[('x', '<f4')]"), Contains("8 B") && Contains("4 B"));
}

TEST_CASE("read-only memory is refused as a destination", "[nd_view]") {
    std::vector<float> values = counting(2);
    const NDView view({.data = values.data(), .read_only = true, .shape = 2, .typestr = "<f4"});
    CHECK_FALSE(view.writable());
    CHECK(HostView(view).data == values.data());
    CHECK_THROWS_WITH(MutableHostView(view), Contains("read-only"));
}

TEST_CASE("invalid fields are refused", "[nd_view]") {
    std::array<std::byte, 64> bytes{};
    struct Row {
        ArrayInterface interface;
        const char* words;
    };
    const Row rows[] = {
        {{.data = bytes.data(), .shape = 2}, "neither typestr nor descr"},
        {{.data = bytes.data(), .shape = 2, .typestr = ">f4"}, "order"},
        {{.data = bytes.data(), .shape = 2, .typestr = "|O8"}, "bject"},
        {{.data = bytes.data(), .shape = 2, .typestr = "nonsense"}, "nonsense"},
        {{.data = nullptr, .shape = 2, .typestr = "<f4"}, "null"},
        {{.data = bytes.data(), .shape = -2, .typestr = "<f4"}, "(-2,)"},
        {{.data = bytes.data(), .shape = {1ll << 40, 1ll << 40}, .typestr = "<f4"}, "1099511627776"},
        {{.data = bytes.data(), .shape = 2, .typestr = "<f4", .strides = Dims{4, 4}}, "(4, 4)"},
        {{.data = bytes.data(), .shape = 2, .typestr = "<f4", .strides = Dims{-(1ll << 62)}}, "address space"},
        {{.data = bytes.data(), .shape = 2, .typestr = "<f4", .version = 2}, "version 2"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.words);
        CHECK_THROWS_AS(NDView(row.interface), InvalidArgument);
        CHECK_THROWS_WITH(NDView(row.interface), Contains(row.words));
    }
}

TEST_CASE("a Py_buffer becomes a view of the same elements", "[nd_view]") {
    std::vector<float> values = counting(12);
    std::array<std::ptrdiff_t, 2> shape{3, 2}, strides{16, 8}, suboffsets{-1, -1};
    char format[] = "<f";
    Buffer buffer{values.data(),  nullptr,           24,     4, 0, 2, format, shape.data(),
                  strides.data(), suboffsets.data(), nullptr};
    const NDView view(buffer);
    CHECK(view.writable());
    CHECK(as_host_array(HostView(view)).get<float>({2, 1}) == 10);

    buffer.strides = buffer.suboffsets = nullptr;  // C order
    CHECK(as_host_array(HostView(NDView(buffer))).get<float>({2, 1}) == 5);
    buffer.readonly = 1;
    CHECK_THROWS_AS(MutableHostView(NDView(buffer)), InvalidArgument);
    buffer.format = nullptr;  // no type
    CHECK(NDView(buffer).dtype() == DType::raw(4));
    buffer.shape = nullptr;  // no shape: bytes
    buffer.ndim = 1;
    CHECK(NDView(buffer).dtype() == dtypes::uint8);
    CHECK(NDView(buffer).layout().shape() == Dims{24});
    buffer.format = format;
    CHECK(NDView(buffer).layout().shape() == Dims{6});

    char record[] = "T{f:x:(2)h:v:}";
    std::array<std::ptrdiff_t, 1> three{3};
    const Buffer records{values.data(), nullptr, 24, 8, 1, 1, record, three.data(), nullptr, nullptr, nullptr};
    CHECK(NDView(records).dtype().field("v").offset == 4);
    Buffer scalar{values.data(), nullptr, 4, 4, 0, 0, format, nullptr, nullptr, nullptr, nullptr};
    CHECK(NDView(scalar).layout().rank() == 0);
}

TEST_CASE("unsupported buffers are refused", "[nd_view]") {
    std::vector<float> values = counting(12);
    std::vector<std::ptrdiff_t> shape(65, 1), suboffsets{-1, 0};
    shape[0] = 3;
    shape[1] = 4;
    char format[] = "<f", big[] = ">f";
    const Buffer good{values.data(), nullptr, 48, 4, 0, 2, format, shape.data(), nullptr, nullptr, nullptr};
    REQUIRE(NDView(good).layout().size() == 12);
    const auto refused = [&](auto change, const char* words) {
        Buffer bad = good;
        change(bad);
        CAPTURE(words);
        CHECK_THROWS_AS(NDView(bad), InvalidArgument);
        CHECK_THROWS_WITH(NDView(bad), Contains(words));
    };
    refused([&](Buffer& b) { b.len = 44; }, "44 B");
    refused([&](Buffer& b) { b.itemsize = 8; }, "8");
    refused([&](Buffer& b) { b.itemsize = 0; }, "itemsize is 0");
    refused([&](Buffer& b) { b.format = big; }, "order");
    refused([&](Buffer& b) { b.ndim = 65; }, "65 dimensions");
    refused([&](Buffer& b) { b.ndim = -1; }, "-1 dimensions");
    refused([&](Buffer& b) { b.suboffsets = suboffsets.data(); }, "suboffsets");
    refused([&](Buffer& b) { b.buf = nullptr; }, "null");
}
