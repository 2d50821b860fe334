// Arrays in host memory: contents, ownership, and refusals, which change nothing.
#include "devicearray/host_ndarray.hpp"

#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "devicearray/dtype_bytes.hpp"
#include "devicearray/nd_view.hpp"
#include "devicearray/npy.hpp"
#include "devicearray/record.hpp"
#include "hsadrv/error.hpp"
#include "tests/devicearray/naive_array.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizer.hpp"

namespace {
struct Padded {
    std::int8_t flag;
    double value;
};
}  // namespace
HSADRV_RECORD(Padded, flag, value);

using namespace hsadrv;
using test_support::Contains;

namespace {

HostNDArray counting(const Dims& shape, Order order = Order::C) {
    HostNDArray array = host_array<std::int32_t>(shape, order);
    const HostNDArray in_order = order == Order::C ? array : array.transpose();
    std::int32_t n = 0;
    for (std::int32_t& value : in_order.elements<std::int32_t>()) value = n++;
    return array;
}

bool is_aligned(const void* address, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

}  // namespace

TEST_CASE("a new host array has the requested shape, type, order and strides", "[host_ndarray]") {
    const HostNDArray c = host_array({3, 4}, dtypes::float32);
    CHECK(c.strides_bytes() == Dims{16, 4});
    CHECK(c.dtype() == dtypes::float32);
    CHECK(c.writable());
    CHECK(is_aligned(c.data(), 64));
    CHECK(host_array({3, 4}, dtypes::float32, Order::F).strides_bytes() == Dims{4, 12});
    CHECK(host_array(5).dtype() == dtypes::float64);
    CHECK(host_array<std::int16_t>({2, 2}).dtype() == dtypes::int16);
    CHECK(host_array({}, dtypes::float64).size() == 1);

    HostNDArray spread = host_array({3, 4}, dtypes::int32, {64, 8});
    CHECK(spread.strides_bytes() == Dims{64, 8});
    spread.fill(7);
    CHECK(spread.get<int>({2, 3}) == 7);

    HostNDArray backwards = host_array({3, 4}, dtypes::int32, {-16, -4});
    backwards.fill(1);
    CHECK(backwards.get<int>({0, 0}) + backwards.get<int>({-1, -1}) == 2);
}

TEST_CASE("a subarray type appends its axes", "[host_ndarray]") {
    const DType vec3 = DType::subarray(dtypes::float32, {3});
    const HostNDArray array = host_array(5, vec3);
    CHECK(array.shape() == Dims{5, 3});
    CHECK(array.dtype() == dtypes::float32);
    CHECK(host_array(5, vec3, Order::F).strides_bytes() == Dims{4, 20});
    CHECK(host_array(5, vec3, {32}).strides_bytes() == Dims{32, 4});
}

TEST_CASE("an array like another has its type, shape and order", "[host_ndarray]") {
    const HostNDArray f = counting({3, 4}, Order::F);
    CHECK(host_array_like(f).layout() == f.layout());
    CHECK(host_array_like(f.slice({Slice{0, 2}})).is_c_contiguous());
    CHECK(host_array_like(f).data() != f.data());
    CHECK(host_array_like(host_array({2, 0}, dtypes::float16)).dtype() == dtypes::float16);
}

TEST_CASE("elements are read and written at their index, in any layout", "[host_ndarray]") {
    HostNDArray array = counting({3, 4});
    CHECK(array.get<std::int32_t>({1, 2}) == 6);
    CHECK(array.get<std::int32_t>({-1, -1}) == 11);
    HostNDArray part = array.transpose().slice({Slice{{}, {}, -1}, 1});
    CHECK(part.get<std::int32_t>({0}) == 7);
    part.set({0}, 70);
    CHECK(array.get<std::int32_t>({1, 3}) == 70);
    CHECK(array.slice({0, 1}).item<std::int32_t>() == 1);
    CHECK(array.elements<const std::int32_t>()[7] == 70);
    CHECK(*array.as<const std::int32_t>() == 0);
    CHECK_THROWS_WITH(array.get<std::int32_t>({3, 0}), Contains("(3, 0)") && Contains("(3, 4)"));
    CHECK_THROWS_AS(array.get<std::int32_t>({0}), InvalidArgument);
    CHECK_THROWS_WITH(array.item<std::int32_t>(), Contains("12 elements"));
}

TEST_CASE("a bool is true for any byte but 0", "[host_ndarray]") {
    std::array<unsigned char, 3> bytes{0, 1, 2};
    const HostNDArray flags(nullptr, bytes.data(), dtypes::boolean, Layout::contiguous(3, 1));
    CHECK_FALSE(flags.get<bool>(0));
    CHECK(flags.get<bool>(1));
    CHECK(flags.get<bool>(2));
}

TEST_CASE("another element type is refused, with both named", "[host_ndarray]") {
    HostNDArray array = counting({3, 4});
    const auto both = Contains("the elements are int32, not float32");
    CHECK_THROWS_WITH(array.get<float>({0, 0}), both);
    CHECK_THROWS_WITH(array.set({0, 0}, 1.0f), both);
    CHECK_THROWS_WITH(array.item<float>(), both);
    CHECK_THROWS_WITH(array.as<float>(), both);
    CHECK_THROWS_WITH(array.elements<const float>(), both);
    CHECK_THROWS_WITH(array.fill(1.0f), both);
    CHECK_THROWS_WITH(array.copy_from(host_array<float>({3, 4})), Contains("int32") && Contains("float32"));
    CHECK(array.equal(counting({3, 4})));
}

TEST_CASE("refusals of non-contiguous or misaligned arrays name the remedy", "[host_ndarray]") {
    HostNDArray array = counting({3, 4});
    CHECK_THROWS_WITH(array.transpose().elements<std::int32_t>(), Contains("copy()") && Contains("(4, 3)"));
    std::array<char, 20> bytes{};
    const HostNDArray odd(nullptr, bytes.data() + (is_aligned(bytes.data(), 4) ? 1 : 0), dtypes::int32,
                          Layout::contiguous(4, 4));
    if (!is_aligned(odd.data(), 4)) {
        CHECK_THROWS_WITH(odd.as<std::int32_t>(), Contains("copy()") && Contains("multiple of 4 B"));
        CHECK(odd.copy().elements<std::int32_t>().size() == 4);
    }
    CHECK(odd.get<std::int32_t>({3}) == 0);
}

TEST_CASE("a read-only array and its views are refused as a destination", "[host_ndarray]") {
    const std::vector<int> values{1, 2, 3, 4};
    HostNDArray array = as_host_array(host_view(values, {2, 2}));
    CHECK_FALSE(array.writable());
    CHECK(array.data() == values.data());
    HostNDArray view = array.transpose().slice({0});
    const auto refused = Contains("is read-only; use a copy()");
    CHECK_THROWS_WITH(view.set({0}, 5), refused);
    CHECK_THROWS_WITH(view.fill(5), refused);
    CHECK_THROWS_WITH(view.as<int>(), refused);
    CHECK_THROWS_WITH(array.elements<int>(), refused);
    CHECK_THROWS_WITH(view.writable_data(), refused);
    CHECK_THROWS_WITH(MutableHostView(view), refused);
    CHECK_THROWS_WITH(view.copy_from(host_array<int>(2)), refused);
    CHECK(values == std::vector<int>{1, 2, 3, 4});
    CHECK(view.get<int>({1}) == 3);
    CHECK(view.copy().writable());
    CHECK(*array.as<const int>() == 1);

    HostNDArray mine = counting({2});
    CHECK_FALSE(mine.read_only().writable());
    CHECK(MutableHostView(mine).data == mine.data());
    CHECK(HostView(mine.read_only()).layout == mine.layout());
}

TEST_CASE("views keep the memory after the array is destroyed; the last one frees it", "[host_ndarray]") {
    std::optional<HostNDArray> array = counting({4, 5});
    const std::weak_ptr<const void> memory = array->keep_alive();
    std::optional<HostNDArray> view = array->slice({Slice{1, 3}}).transpose();
    array.reset();
    CHECK_FALSE(memory.expired());
    CHECK(view->get<std::int32_t>({0, 1}) == 10);
    view.reset();
    CHECK(memory.expired());
}

TEST_CASE("vectors and files become arrays without a copy", "[host_ndarray]") {
    std::vector<float> values(12, 1.5f);
    const float* const where = values.data();
    CHECK_THROWS_AS(as_host_array(std::move(values), {3, 5}), InvalidArgument);
    REQUIRE(values.size() == 12);  // refused: not moved
    HostNDArray array = as_host_array(std::move(values), {3, 4}, Order::F);
    CHECK(array.data() == where);
    CHECK(array.is_f_contiguous());
    CHECK(array.writable());
    CHECK(as_host_array(std::vector<int>{1, 2}).shape() == Dims{2});

    std::vector<int> lent{1, 2, 3};
    as_host_array(host_view(lent)).set({1}, 20);
    CHECK(lent[1] == 20);

    const HostNDArray source = counting({3, 4}, Order::F);
    const HostNDArray read = as_host_array(NpyArray(write_npy(source)));
    CHECK(read.is_f_contiguous());
    CHECK(read.slice({Slice{1, 3}}).equal(source.slice({Slice{1, 3}})));
}

TEST_CASE("views, ranges and arrays convert to arrays", "[host_ndarray]") {
    int table[3][4] = {};
    const HostNDArray array = as_host_array(table);
    CHECK(array.shape() == Dims{3, 4});
    CHECK(array.data() == table);
    CHECK(array.writable());
    CHECK_FALSE(as_host_array(std::as_const(table)).writable());
    CHECK(as_host_array(array).data() == table);
    CHECK(as_host_array(std::span(table[1])).data() == table[1]);
    CHECK(as_host_array(NDView({.data = table, .shape = 2, .typestr = "<i4"})).writable());
    CHECK_FALSE(as_host_array(NDView({.data = table, .read_only = true, .shape = 2, .typestr = "<i4"})).writable());
    STATIC_REQUIRE_FALSE(HostArrayLike<std::array<int, 3>>);  // a temporary without an owner
    STATIC_REQUIRE(HostArrayLike<std::array<int, 3>&>);
    STATIC_REQUIRE_FALSE(HostArrayLike<int*>);
}

TEST_CASE("copies between layouts agree with the naive model", "[host_ndarray]") {
    naive::Random random(55);
    for (int i = 0; i < 500; ++i) {
        const naive::Shape shape = random.shape(300);
        const Layout layout = random.layout(shape, 4, false);
        HostNDArray array = host_array(layout.shape(), dtypes::int32, layout.strides_bytes());
        for (std::int64_t n = 0; n < array.size(); ++n)
            array.set(naive::dims(naive::index_at(n, shape)), static_cast<std::int32_t>(n));
        for (const Order order : {Order::C, Order::F}) {
            const HostNDArray copy = array.copy(order);
            bool right = order == Order::C ? copy.is_c_contiguous() : copy.is_f_contiguous();
            for (std::int64_t n = 0; n < copy.size(); ++n)
                right = right && copy.get<std::int32_t>(naive::dims(naive::index_at(n, shape))) == n;
            if (!right) FAIL(layout.to_string());
            if (!copy.equal(array)) FAIL(layout.to_string());
        }
    }
}

TEST_CASE("filling writes every element of a view and no other byte", "[host_ndarray]") {
    HostNDArray array = counting({4, 6});
    array.slice({Slice{0, {}, 2}, Slice{5, 0, -2}}).fill(-1);
    for (std::int64_t i = 0; i < 4; ++i) {
        for (std::int64_t j = 0; j < 6; ++j)
            CHECK(array.get<std::int32_t>({i, j}) == (i % 2 == 0 && j % 2 == 1 ? -1 : i * 6 + j));
    }
    host_array({0, 3}, dtypes::int32).fill(1);
}

TEST_CASE("elements that share memory are refused as a destination, as in NumPy", "[host_ndarray]") {
    HostNDArray row = host_array<int>({4});
    row.fill(1);
    HostNDArray rows = row.broadcast_to({3, 4});
    const std::string says = ": assignment destination is read-only";
    CHECK_THROWS_WITH(rows.set({0, 1}, 9), Contains("HostNDArray::set" + says));
    CHECK_THROWS_WITH(rows.fill(9), Contains("HostNDArray::fill" + says));
    CHECK_THROWS_WITH(rows.fill(9), Contains("share memory") && Contains("(3, 4)"));
    CHECK_THROWS_WITH(rows.copy_from(rows), Contains("HostNDArray::copy_from" + says));
    CHECK_THROWS_AS(rows.set({0, 1}, 9), InvalidArgument);
    CHECK(row.get<int>({1}) == 1);
    HostNDArray windows = row.at(row.data(), dtypes::int32, Layout::strided({3, 2}, {4, 4}, 4));
    CHECK_THROWS_AS(windows.set({0, 0}, 9), InvalidArgument);
    row.broadcast_to({1, 4}).set({0, 2}, 9);  // no repetition
    CHECK(row.get<int>({2}) == 9);
}

TEST_CASE("a moved-from array is empty and has no address", "[host_ndarray]") {
    HostNDArray a = host_array<int>({2, 3});
    a.fill(7);
    const HostNDArray b = std::move(a);
    CHECK(a.data() == nullptr);
    CHECK(a.keep_alive() == nullptr);
    CHECK(a.shape() == Dims{0});
    CHECK(a.copy().size() == 0);
    CHECK_THROWS_AS(a.get<int>({0, 0}), InvalidArgument);
    HostNDArray c = b;
    a = std::move(c);
    CHECK(c.size() == 0);
    CHECK(a.get<int>({1, 2}) == 7);
    HostNDArray& same = a;
    a = std::move(same);
    CHECK(a.get<int>({1, 2}) == 7);
    c = b;  // usable again
    CHECK(c.size() == 6);
    NpyArray file(write_npy(HostView(b)));
    const NpyArray taken = std::move(file);
    CHECK(std::as_const(file).view().layout.size() == 0);
    CHECK(as_host_array(taken.view()).get<int>({0, 1}) == 7);
}

TEST_CASE("assignment copies another array's elements, or parts of the same array", "[host_ndarray]") {
    HostNDArray array = counting({3, 4});
    array.copy_from(counting({3, 4}, Order::F));
    CHECK(array.get<std::int32_t>({1, 0}) == 1);
    array.copy_from(counting({4}).broadcast_to({3, 4}));
    CHECK(array.get<std::int32_t>({2, 3}) == 3);

    HostNDArray line = counting(10);
    line.slice({Slice{2, 10}}).copy_from(line.slice({Slice{0, 8}}));
    CHECK(line.get<std::int32_t>(9) == 7);
    CHECK(line.get<std::int32_t>(2) == 0);
    line.copy_from(line.slice({Slice{{}, {}, -1}}));
    CHECK(line.get<std::int32_t>(0) == 7);
    CHECK(line.get<std::int32_t>(9) == 0);

    const HostNDArray before = array.copy();
    CHECK_THROWS_WITH(array.copy_from(counting({4, 3})), Contains("(4, 3)") && Contains("(3, 4)"));
    CHECK_THROWS_WITH(array.slice({0}).broadcast_to({3, 4}).copy_from(array), Contains("share memory"));
    CHECK(array.equal(before));
}

TEST_CASE("arrays are equal if their elements are, in any layout", "[host_ndarray]") {
    const HostNDArray c = counting({3, 4});
    CHECK(c.equal(c.copy(Order::F)));
    CHECK(c.equal(host_view(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4})));
    CHECK_FALSE(c.equal(c.reshape({4, 3})));
    CHECK_FALSE(c.equal(c.view(dtypes::uint32)));
    HostNDArray other = c.copy(Order::F);
    other.set({2, 1}, -1);
    CHECK_FALSE(c.equal(other));
    CHECK(c.slice({Slice{0, 2}}).equal(other.slice({Slice{0, 2}})));
    CHECK(host_array({0}, dtypes::int8).equal(host_array({0}, dtypes::int8)));

    HostNDArray nan = host_array<float>(2);
    nan.fill(std::numeric_limits<float>::quiet_NaN());
    CHECK(nan.equal(nan.copy()));
    HostNDArray zero = host_array<float>(1), minus = host_array<float>(1);
    zero.fill(0.0f);
    minus.fill(-0.0f);
    CHECK_FALSE(zero.equal(minus));
}

TEST_CASE("padding bytes of records are not compared", "[host_ndarray]") {
    static_assert(sizeof(Padded) == 16);
    HostNDArray a = host_array<Padded>(3), b = host_array<Padded>(3);
    std::memset(a.writable_data(), 0x11, 48);
    std::memset(b.writable_data(), 0x22, 48);
    for (HostNDArray* array : {&a, &b}) {
        array->field("flag").fill(std::int8_t{1});
        array->field("value").fill(2.5);
    }
    CHECK(a.equal(b));
    b.field("value").set({2}, 3.0);
    CHECK_FALSE(a.equal(b));

    const DType nested = DType::record({{"p", DType::subarray(dtype_of<Padded>(), {2})}, {"n", dtypes::int32}});
    const DTypeBytes used(nested);
    CHECK_FALSE(used.all());
    std::array<std::byte, 36> x{}, y{};
    y[1] = y[17] = std::byte{1};  // after both flags
    CHECK(used.equal(x.data(), y.data()));
    y[35] = std::byte{1};
    CHECK_FALSE(used.equal(x.data(), y.data()));
    CHECK(DTypeBytes(dtypes::complex128).all());
    CHECK(DTypeBytes(DType::subarray(dtypes::int16, {3})).all());
}

TEST_CASE("impossible shapes and strides are refused with the reason", "[host_ndarray]") {
    CHECK_THROWS_AS(host_array(-1), InvalidArgument);
    CHECK_THROWS_AS(host_array({1ll << 32, 1ll << 32}), InvalidArgument);
    CHECK_THROWS_AS(host_array({2, 2}, dtypes::int8, {INT64_MAX, 1}), InvalidArgument);
    CHECK_THROWS_AS(host_array({2, 2}, dtypes::int8, {1}), InvalidArgument);
    CHECK_THROWS_AS(host_array(Dims::filled(64, 1), DType::subarray(dtypes::int8, {2})), InvalidArgument);
    CHECK_THROWS_AS(HostNDArray(nullptr, static_cast<void*>(nullptr), dtypes::int8, Layout::contiguous(1, 1)),
                    InvalidArgument);
    char byte = 0;
    CHECK_THROWS_WITH(HostNDArray(nullptr, &byte, dtypes::int32, Layout::contiguous(1, 1)),
                      Contains("int32") && Contains("4 B") && Contains("1 B"));
}

TEST_CASE("a size beyond the available memory throws OutOfMemory", "[host_ndarray]") {
    if (test_support::sanitizer) SKIP_BECAUSE("the sanitizer aborts when an allocation fails");
    CHECK_THROWS_AS(host_array(1ll << 60, dtypes::float32), OutOfMemory);
    CHECK_THROWS_WITH(host_array(1ll << 60, dtypes::float32), Contains(std::to_string(1ll << 62)));
}

TEST_CASE("an empty array has no memory and supports all operations", "[host_ndarray]") {
    HostNDArray empty = host_array({3, 0}, dtypes::float32);
    CHECK(empty.data() == nullptr);
    CHECK(empty.elements<float>().empty());
    CHECK(empty.copy().equal(empty));
    CHECK(empty.transpose().ravel().shape() == Dims{0});
    empty.copy_from(host_array({3, 0}, dtypes::float32));
    CHECK_THROWS_AS(empty.item<float>(), InvalidArgument);
}
