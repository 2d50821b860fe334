#include "devicearray/layout.hpp"

#include "devicearray/slice.hpp"
#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;

static_assert(Layout::contiguous({480, 640}, 4).strides_bytes() == Dims{2560, 4});
static_assert(Layout::contiguous({480, 640}, 4, Order::F).strides_bytes() == Dims{4, 1920});
static_assert(Layout().size() == 1 && Layout().rank() == 0 && Layout().is_c_contiguous());

TEST_CASE("shapes are given as integers of any type and printed as tuples", "[layout]") {
    const std::size_t rows = 3;
    CHECK(Dims{rows, 4, -1L}.to_string() == "(3, 4, -1)");
    CHECK(Dims(7).to_string() == "(7,)");
    CHECK(Dims().to_string() == "()");
    CHECK_THROWS_AS(Dims(~std::uint64_t{0}), InvalidArgument);
    const std::array<std::int64_t, 65> too_many{};
    CHECK_THROWS_WITH(Dims(std::span<const std::int64_t>(too_many)),
                      test_support::Contains("at most 64 dimensions, not 65"));
    CHECK_THROWS_AS(Dims::filled(65, 1), InvalidArgument);
    CHECK_THROWS_AS(Dims::filled(-1, 1), InvalidArgument);
}

TEST_CASE("lists of every length are copied, moved and assigned over each other", "[layout]") {
    const auto list = [](int rank) {
        Dims dims = Dims::filled(rank, 0);
        for (int i = 0; i < rank; ++i) dims[i] = i + 1;
        return dims;
    };
    for (const int from : {0, 3, 8, 9, 20, 64}) {
        for (const int to : {0, 3, 8, 9, 20, 64}) {
            CAPTURE(from, to);
            const Dims source = list(from);
            Dims copied = Dims::filled(to, 7), moved = Dims::filled(to, 7), again = source;
            copied = source;
            moved = std::move(again);
            CHECK(copied == source);
            CHECK(moved == source);
            CHECK(Dims(source) == source);
            CHECK((source == list(to)) == (from == to));
        }
    }
    Dims self = list(20);
    const Dims& same = self;
    self = same;
    CHECK(self == list(20));
    static_assert([] {
        Dims many = Dims::filled(20, 2);
        const Dims other = many;
        many = Dims{2, 3};
        return many == Dims{2, 3} && other.rank() == 20;
    }());
}

TEST_CASE("64 axes are reshaped, sliced, transposed and squeezed", "[layout]") {
    Dims ones = Dims::filled(64, 1);
    ones[63] = 2;
    ones[0] = 3;
    const Layout most = Layout::contiguous({3, 2}, 4).reshape(ones);
    CHECK(most.rank() == 64);
    CHECK(most.squeeze() == Layout::contiguous({3, 2}, 4));
    CHECK(most.transpose().squeeze() == Layout::contiguous({3, 2}, 4).transpose());
    CHECK(most.ravel() == Layout::contiguous({6}, 4));
    CHECK_THROWS_AS(most.expand_dims(0), InvalidArgument);
    Dims axes = Dims::filled(64, 0);
    CHECK_THROWS_AS(most.transpose(axes), InvalidArgument);
    CHECK(slice(most, std::vector<Index>{1, ellipsis, 1}).offset_bytes == 12);
}

TEST_CASE("contiguity follows NumPy", "[layout]") {
    struct Row {
        Layout layout;
        bool c, f;
    };
    const Row rows[] = {
        {Layout::contiguous({3, 4}, 8), true, false},
        {Layout::contiguous({3, 4}, 8, Order::F), false, true},
        {Layout::contiguous({5}, 2), true, true},
        {Layout::contiguous({}, 4), true, true},
        {Layout::contiguous({1, 7, 1}, 4), true, true},
        {Layout::strided({1, 3}, {999, 4}, 4), true, true},   // the stride of one element does not matter
        {Layout::strided({0, 3}, {999, -5}, 4), true, true},  // nor does any in an empty array
        {Layout::strided({4}, {-4}, 4), false, false},
        {Layout::strided({4}, {8}, 4), false, false},
        {Layout::strided({3, 4}, {0, 4}, 4), false, false},   // broadcast
        {Layout::strided({3, 4}, {20, 4}, 4), false, false},  // pitched
        {Layout::contiguous({2, 3, 4}, 4).transpose(), false, true},
        {Layout::contiguous({2, 3, 4}, 4).transpose({0, 2, 1}), false, false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.layout.to_string());
        CHECK(row.layout.is_c_contiguous() == row.c);
        CHECK(row.layout.is_f_contiguous() == row.f);
    }
}

TEST_CASE("sizes count elements and bytes; empty arrays keep NumPy's strides", "[layout]") {
    CHECK(Layout::contiguous({3, 4}, 8).size() == 12);
    CHECK(Layout::contiguous({3, 4}, 8).size_bytes() == 96);
    CHECK(Layout::contiguous({3, 0, 4}, 8).size_bytes() == 0);
    CHECK(Layout::contiguous({3, 0, 4}, 8).strides_bytes() == Dims{32, 32, 8});
}

TEST_CASE("reshape keeps the bytes and counts elements in the requested order", "[layout]") {
    const Layout line = Layout::contiguous({1000}, 4);
    CHECK(line.reshape({20, 50}) == Layout::contiguous({20, 50}, 4));
    CHECK(line.reshape({20, 50}, Order::F) == Layout::contiguous({20, 50}, 4, Order::F));
    CHECK(line.reshape({-1, 50}).shape() == Dims{20, 50});
    CHECK(line.reshape({20, 50}).ravel() == line);
    CHECK(line.reshape({20, 50}, Order::F).ravel(Order::F) == line);
    CHECK(Layout::contiguous({1}, 4).reshape({}).rank() == 0);
    CHECK(Layout::contiguous({0, 5}, 4).reshape({5, -1}).shape() == Dims{5, 0});
}

TEST_CASE("an impossible reshape is refused with both shapes", "[layout]") {
    const Layout image = Layout::contiguous({20, 50}, 4);
    const Dims wrong[] = {{20, 51}, {-1, 3}, {-1, -1}, {-2, -500}, {0, -1}, {}, {INT64_MAX, INT64_MAX}};
    for (const Dims& shape : wrong) {
        CAPTURE(shape.to_string());
        CHECK_THROWS_AS(image.reshape(shape), InvalidArgument);
        CHECK_THROWS_WITH(image.reshape(shape),
                          test_support::Contains("(20, 50)") && test_support::Contains(shape.to_string()));
    }
}

TEST_CASE("a reshape that needs a copy is refused with that reason", "[layout]") {
    const Layout image = Layout::contiguous({20, 50}, 4);
    CHECK_THROWS_WITH(image.reshape({50, 20}, Order::F), test_support::Contains("needs a copy"));
    CHECK_THROWS_WITH(image.ravel(Order::F), test_support::Contains("needs a copy"));
    CHECK_THROWS_WITH(image.transpose().ravel(), test_support::Contains("needs a copy"));
}

TEST_CASE("transpose permutes shape and strides together", "[layout]") {
    const Layout cube = Layout::contiguous({2, 3, 4}, 1);
    CHECK(cube.transpose().shape() == Dims{4, 3, 2});
    CHECK(cube.transpose().strides_bytes() == Dims{1, 4, 12});
    CHECK(cube.transpose({1, -1, 0}).shape() == Dims{3, 4, 2});
    CHECK(cube.transpose({1, -1, 0}).strides_bytes() == Dims{4, 1, 12});
    CHECK(cube.transpose().transpose() == cube);
    const Dims wrong[] = {{0, 1}, {0, 1, 1}, {0, 1, 3}, {0, 1, -4}, {0, 1, 2, 3}};
    for (const Dims& axes : wrong) {
        CAPTURE(axes.to_string());
        CHECK_THROWS_AS(cube.transpose(axes), InvalidArgument);
    }
}

TEST_CASE("overflowing or invalid shapes, sizes and strides are refused", "[layout]") {
    const std::int64_t big = std::int64_t{1} << 32;
    CHECK_THROWS_AS(Layout::contiguous({big, big}, 1), InvalidArgument);
    CHECK_THROWS_AS(Layout::contiguous({big, big, 0}, 1), InvalidArgument);
    CHECK_THROWS_AS(Layout::contiguous({std::int64_t{1} << 61}, 4), InvalidArgument);
    CHECK_THROWS_AS(Layout::contiguous({-1}, 4), InvalidArgument);
    CHECK_THROWS_AS(Layout::contiguous({4}, 0), InvalidArgument);
    CHECK_THROWS_AS(Layout::strided({4}, {4, 4}, 4), InvalidArgument);
    CHECK_THROWS_AS(Layout::strided({4}, {INT64_MAX / 2}, 4), InvalidArgument);
    CHECK_THROWS_AS(Layout::strided({4}, {INT64_MIN}, 4), InvalidArgument);
    CHECK_NOTHROW(Layout::contiguous({(std::int64_t{1} << 61) - 1}, 4));
}

TEST_CASE("arrays of equal shape and order are copied as plain bytes", "[layout]") {
    const Layout c = Layout::contiguous({3, 4}, 4), f = Layout::contiguous({3, 4}, 4, Order::F);
    CHECK(same_element_order(c, c));
    CHECK(same_element_order(f, f));
    CHECK_FALSE(same_element_order(c, f));
    CHECK_FALSE(same_element_order(c, Layout::contiguous({4, 3}, 4)));
    CHECK_FALSE(same_element_order(c, Layout::contiguous({3, 4}, 8)));
    CHECK(same_element_order(Layout::contiguous({1, 4}, 4), Layout::contiguous({1, 4}, 4, Order::F)));
}
