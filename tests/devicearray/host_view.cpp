// Host containers as arrays: shape, type and writability.
#include "devicearray/host_view.hpp"

#include <array>
#include <span>
#include <vector>

#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;

TEST_CASE("nested arrays have one axis per level", "[host_view]") {
    int table[3][4] = {};
    const double box[2][1][5] = {};
    std::array<std::array<float, 4>, 3> nested{};
    std::vector<std::array<std::int16_t, 2>> points(7);
    std::array<int[2], 3> mixed{};

    CHECK(host_view(table).layout == Layout::contiguous({3, 4}, 4));
    CHECK(host_view(table).data == table);
    CHECK(host_view(table).dtype == dtypes::int32);
    CHECK(host_view(box).layout.shape() == Dims{2, 1, 5});
    CHECK(host_view(nested).layout.shape() == Dims{3, 4});
    CHECK(host_view(points).layout.shape() == Dims{7, 2});
    CHECK(host_view(points).dtype == dtypes::int16);
    CHECK(host_view(mixed).layout.shape() == Dims{3, 2});
    CHECK(host_view(std::span(points).subspan(2)).layout.shape() == Dims{5, 2});
    STATIC_REQUIRE(std::is_same_v<decltype(host_view(table)), MutableHostView>);
    STATIC_REQUIRE(std::is_same_v<decltype(host_view(box)), HostView>);
    STATIC_REQUIRE(std::is_same_v<decltype(host_view(std::as_const(nested))), HostView>);
    STATIC_REQUIRE_FALSE(HostRange<std::vector<std::vector<int>>>);
    STATIC_REQUIRE_FALSE(HostRange<char* [3]>);
}

TEST_CASE("an explicit shape counts the innermost elements", "[host_view]") {
    int table[3][4] = {};
    CHECK(host_view(table, {2, 6}).layout.shape() == Dims{2, 6});
    CHECK(host_view(table, {3, 4}, Order::F).layout.strides_bytes() == Dims{4, 12});
    CHECK_THROWS_WITH(host_view(table, {3, 5}), test_support::Contains("15 elements, the range has 12"));
    CHECK(host_view(std::vector<std::array<int, 3>>()).layout.shape() == Dims{0, 3});
}

TEST_CASE("host memory becomes an array view with a given shape", "[host_view]") {
    std::vector<float> image(12);
    const std::array<int, 3> constant{1, 2, 3};
    CHECK(host_view(image, {3, 4}).layout == Layout::contiguous({3, 4}, 4));
    CHECK(host_view(image, {3, 4}, Order::F).layout == Layout::contiguous({3, 4}, 4, Order::F));
    CHECK(host_view(image).layout.shape() == Dims{12});
    CHECK(host_view(constant).dtype == dtypes::int32);
    CHECK(host_view(constant).data == constant.data());
    CHECK_THROWS_WITH(host_view(image, {3, 5}),
                      test_support::Contains("(3, 5) has 15") && test_support::Contains("12"));
    STATIC_REQUIRE(std::is_same_v<decltype(host_view(image)), MutableHostView>);
    STATIC_REQUIRE(std::is_same_v<decltype(host_view(constant)), HostView>);
    STATIC_REQUIRE_FALSE(HostRange<std::vector<bool>>);
}
