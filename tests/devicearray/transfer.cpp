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
    struct Row {
        DType to_dtype;
        Layout to, from;
        std::vector<const char*> words;
    };
    const Row rows[] = {
        {dtypes::int32, c, c, {"element types differ", "source is float32", "destination is int32"}},
        {dtypes::float32, c.ravel(), c, {"shapes differ", "(12,)", "(3, 4)"}},
        {dtypes::float32,
         f,
         c,
         {"order", "source is float32 with shape (3, 4), strides (16, 4), C order", "F order"}},
        {dtypes::float32, c, Layout::strided({3, 4}, {32, 4}, 4), {"order", "not contiguous", "(32, 4)"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.to.to_string(), row.from.to_string());
        const auto transfer = [&] {
            transfer_bytes("some_call", row.to_dtype, row.to, dtypes::float32, row.from);
        };
        CHECK_THROWS_AS(transfer(), InvalidArgument);
        CHECK_THROWS_WITH(transfer(), test_support::Contains("some_call"));
        for (const char* word : row.words) CHECK_THROWS_WITH(transfer(), test_support::Contains(word));
    }
}

TEST_CASE("host memory becomes an array view by naming its shape", "[transfer]") {
    std::vector<float> image(12);
    const std::array<int, 3> constant{1, 2, 3};
    CHECK(host_view(image, {3, 4}).layout == c);
    CHECK(host_view(image, {3, 4}, Order::F).layout == f);
    CHECK(host_view(image).layout.shape() == Dims{12});
    CHECK(host_view(constant).dtype == dtypes::int32);
    CHECK(host_view(constant).data == constant.data());
    CHECK_THROWS_WITH(host_view(image, {3, 5}),
                      test_support::Contains("(3, 5) has 15") && test_support::Contains("12"));
    STATIC_REQUIRE(std::is_same_v<decltype(host_view(image)), MutableHostView>);
    STATIC_REQUIRE(std::is_same_v<decltype(host_view(constant)), HostView>);
    STATIC_REQUIRE_FALSE(HostRange<std::vector<bool>>);
}
