// Views of layouts: one line per NumPy operation, and refusals.
#include "devicearray/slice.hpp"

#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using test_support::Contains;

namespace {
const Layout image = Layout::contiguous({4, 6}, 4);
}

// Views are constant expressions, as layouts are.
constexpr Layout volume = Layout::contiguous({4, 6, 3}, 2);
static_assert(volume.transpose().is_f_contiguous() && volume.transpose({1, 0, 2}).shape() == Dims{6, 4, 3});
static_assert(volume.reshape({-1, 9}) == Layout::contiguous({8, 9}, 2) && volume.ravel().size() == 72);
static_assert(volume.expand_dims(0).squeeze({0}) == volume && volume.view(6).shape() == Dims{4, 6, 1});
static_assert(volume.offset_of({1, -1, 2}) == 70 && volume.broadcast_to({5, 4, 6, 3}).strides_bytes()[0] == 0);
static_assert(slice(volume, {Slice{1, 3}, Slice{{}, {}, -1}, 0}).layout.strides_bytes() == Dims{36, -6});
static_assert(slice(volume, {Slice{1, 3}, Slice{{}, {}, -1}, 0}).offset_bytes == 66);

static_assert(Layout::contiguous({2, 1, 3}, 4).squeeze() == Layout::contiguous({2, 3}, 4));
static_assert(Layout::strided({3, 4}, {-16, 4}, 4).extent() == ByteRange{-32, 16});
static_assert(Layout::contiguous({0, 4}, 4).extent().size_bytes() == 0);
static_assert(Layout::contiguous({2, 3}, 4, Order::A) == Layout::contiguous({2, 3}, 4));
static_assert(Layout::contiguous({2, 3}, 4, Order::F).resolved(Order::A) == Order::F);

TEST_CASE("rows, columns, windows, steps and reversals are slices", "[layout]") {
    const SubLayout row = slice(image, {1});
    CHECK(row.layout == Layout::contiguous({6}, 4));
    CHECK(row.offset_bytes == 24);
    const SubLayout column = slice(image, {Slice{}, -1});
    CHECK(column.layout == Layout::strided({4}, {24}, 4));
    CHECK(column.offset_bytes == 20);
    const SubLayout window = slice(image, {Slice{1, 3}, Slice{2, 5}});
    CHECK(window.layout == Layout::strided({2, 3}, {24, 4}, 4));
    CHECK(window.offset_bytes == 32);
    const SubLayout reversed = slice(image, {Slice{{}, {}, -1}, Slice{{}, {}, 4}});
    CHECK(reversed.layout == Layout::strided({4, 2}, {-24, 16}, 4));
    CHECK(reversed.offset_bytes == 72);
    CHECK(slice(image, {ellipsis, 0}).layout.shape() == Dims{4});
    CHECK(slice(image, {newaxis, ellipsis, newaxis}).layout.shape() == Dims{1, 4, 6, 1});
    CHECK(slice(image, {2, 3}).layout.rank() == 0);
    CHECK(slice(image, {Slice{3, 1}}).layout.size() == 0);
    CHECK(slice(image, {Slice{3, 1}}).offset_bytes == 0);
}

TEST_CASE("an index out of range is refused with axis and shape", "[layout]") {
    CHECK_THROWS_WITH(slice(image, {4}), Contains("index 4 of axis 0") && Contains("(4, 6)"));
    CHECK_THROWS_WITH(slice(image, {0, -7}), Contains("index -7 of axis 1"));
    CHECK_THROWS_WITH(slice(image, {0, 0, 0}), Contains("3 indices"));
    CHECK_THROWS_WITH(slice(image, {ellipsis, ellipsis}), Contains("2 ellipses"));
    CHECK_THROWS_WITH(slice(image, {Slice{{}, {}, 0}}), Contains("step of 0"));
    CHECK_THROWS_AS(Index(~std::uint64_t{0}), InvalidArgument);
    const std::vector<Index> too_many(65, newaxis);
    CHECK_THROWS_AS(slice(Layout(), too_many), InvalidArgument);
    CHECK_THROWS_WITH(image.offset_of({4, 0}), Contains("(4, 0)") && Contains("(4, 6)"));
    CHECK_THROWS_AS(image.offset_of({0}), InvalidArgument);
}

TEST_CASE("split as in numba: sections of equal size, the last one smaller", "[layout]") {
    const auto pieces = split(Layout::contiguous({10}, 8), 4);
    REQUIRE(pieces.size() == 3);
    CHECK(pieces[1].offset_bytes == 32);
    CHECK(pieces[2].layout.shape() == Dims{2});
    CHECK(split(Layout::contiguous({0}, 8), 4).empty());
    CHECK(split(image, 4, -1).size() == 2);
    CHECK_THROWS_WITH(split(image, 0), Contains("sections of 0"));
    CHECK_THROWS_WITH(split(image, 1, 2), Contains("axis 2"));
    CHECK_THROWS_AS(split(Layout(), 1), InvalidArgument);
}

TEST_CASE("views of another element size change the last axis", "[layout]") {
    CHECK(image.view(1) == Layout::contiguous({4, 24}, 1));
    CHECK(image.view(8) == Layout::contiguous({4, 3}, 8));
    CHECK(image.view(4) == image);
    CHECK(image.transpose().view(4) == image.transpose());
    CHECK_THROWS_WITH(image.view(16), Contains("whole elements"));
    CHECK_THROWS_WITH(image.transpose().view(2), Contains("contiguous"));
    CHECK_THROWS_WITH(Layout().view(2), Contains("scalar"));
    CHECK_THROWS_WITH(image.view(0), Contains("empty"));
    CHECK_THROWS_AS(Layout::contiguous({0, INT64_MAX / 8}, 8).view(1).view(16), InvalidArgument);
}

TEST_CASE("broadcast_to, squeeze and expand_dims refuse what NumPy refuses", "[layout]") {
    CHECK(image.broadcast_to({2, 4, 6}) == Layout::strided({2, 4, 6}, {0, 24, 4}, 4));
    CHECK_THROWS_WITH(image.broadcast_to({4}), Contains("(4, 6)") && Contains("(4,)"));
    CHECK_THROWS_AS(image.broadcast_to({4, 3}), InvalidArgument);
    CHECK_THROWS_AS(Layout::contiguous({1}, 4).broadcast_to({-1}), InvalidArgument);
    CHECK_THROWS_AS(image.broadcast_to({INT64_MAX, 4, 6}), InvalidArgument);
    CHECK_THROWS_WITH(image.squeeze({0}), Contains("axis 0"));
    CHECK_THROWS_AS(Layout::contiguous({1, 1}, 4).squeeze({0, -2}), InvalidArgument);
    CHECK_THROWS_AS(image.squeeze({2}), InvalidArgument);
    CHECK(image.expand_dims(-1).shape() == Dims{4, 6, 1});
    CHECK_THROWS_AS(image.expand_dims(3), InvalidArgument);
    CHECK_THROWS_AS(Layout::contiguous(Dims::filled(64, 1), 4).expand_dims(0), InvalidArgument);
}

TEST_CASE("reshape makes views of non-contiguous arrays if possible, and otherwise names the copy to make",
          "[layout]") {
    const Layout window = slice(image, {Slice{}, Slice{0, 4}}).layout;
    CHECK(window.reshape({2, 2, 2, 2}) == Layout::strided({2, 2, 2, 2}, {48, 24, 8, 4}, 4));
    CHECK_THROWS_WITH(window.ravel(), Contains("needs a copy") && Contains("device_array") && Contains("(16,)"));
    CHECK(Layout::strided({6}, {-4}, 4).reshape({2, 3}) == Layout::strided({2, 3}, {-12, -4}, 4));
    CHECK(image.transpose().reshape({24}, Order::F) == Layout::contiguous({24}, 4));
    CHECK(image.transpose().ravel(Order::A) == Layout::contiguous({24}, 4));
    CHECK(Layout::contiguous({1}, 4).broadcast_to({6}).reshape({2, 3}) == Layout::strided({2, 3}, {0, 0}, 4));
}
