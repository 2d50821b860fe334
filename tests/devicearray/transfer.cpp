#include "devicearray/transfer.hpp"

#include <array>
#include <vector>

#include "devicearray/host_view.hpp"
#include "hsadrv/error.hpp"
#include "support/catch.hpp"

using namespace hsadrv;

namespace {
const Layout c = Layout::contiguous({3, 4}, 4), f = Layout::contiguous({3, 4}, 4, Order::F);
}

TEST_CASE("arrays of equal type, shape and order are one copy of all bytes", "[transfer]") {
    CHECK(transfer_bytes("test", dtypes::float32, c, dtypes::float32, c) == 48);
    CHECK(transfer_bytes("test", dtypes::float32, f, dtypes::float32, f) == 48);
    CHECK(transfer_bytes("test", dtypes::float32, c.transpose(), dtypes::float32, c.transpose()) == 48);
    const Layout empty = Layout::contiguous({0, 4}, 4);
    CHECK(transfer_bytes("test", dtypes::float32, empty, dtypes::float32, empty) == 0);
}

TEST_CASE("other transfers are refused with the call and both sides named", "[transfer]") {
    const auto names_both = [](const char* why) {
        return Catch::Contains("some_call") && Catch::Contains(why) && Catch::Contains("source is float32") &&
               Catch::Contains("destination is");
    };
    CHECK_THROWS_AS(transfer_bytes("some_call", dtypes::int32, c, dtypes::float32, c), InvalidArgument);
    CHECK_THROWS_WITH(transfer_bytes("some_call", dtypes::int32, c, dtypes::float32, c),
                      names_both("element types differ"));
    CHECK_THROWS_WITH(transfer_bytes("some_call", dtypes::float32, c.ravel(), dtypes::float32, c),
                      names_both("shapes differ") && Catch::Contains("(12,)") && Catch::Contains("(3, 4)"));
    CHECK_THROWS_WITH(transfer_bytes("some_call", dtypes::float32, f, dtypes::float32, c),
                      names_both("order") && Catch::Contains("F order") && Catch::Contains("C order"));
    const Layout pitched = Layout::strided({3, 4}, {32, 4}, 4);
    CHECK_THROWS_WITH(transfer_bytes("some_call", dtypes::float32, c, dtypes::float32, pitched),
                      names_both("order") && Catch::Contains("not contiguous") && Catch::Contains("(32, 4)"));
}

TEST_CASE("host memory becomes an array view by naming its shape", "[transfer]") {
    std::vector<float> image(12);
    const std::array<int, 3> constant{1, 2, 3};
    CHECK(host_view(image, {3, 4}).layout == c);
    CHECK(host_view(image, {3, 4}, Order::F).layout == f);
    CHECK(host_view(image).layout.shape() == Dims{12});
    CHECK(host_view(constant).dtype == dtypes::int32);
    CHECK(host_view(constant).data == constant.data());
    CHECK_THROWS_WITH(host_view(image, {3, 5}), Catch::Contains("(3, 5) has 15") && Catch::Contains("12"));
    STATIC_REQUIRE(std::is_same_v<decltype(host_view(image)), MutableHostView>);
    STATIC_REQUIRE(std::is_same_v<decltype(host_view(constant)), HostView>);
    STATIC_REQUIRE_FALSE(HostRange<std::vector<bool>>);
}
