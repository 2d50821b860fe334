// Compiled as C++23: std::mdspan of an NDSpan, if the library has it.
#include "devicearray/devicearray.hpp"
#include "tests/devicearray/naive_array.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;

#if !defined(__cpp_lib_mdspan)
TEST_CASE("a span converts to an mdspan", "[nd_span]") {
    SKIP_BECAUSE("this C++ library has no <mdspan>: GCC 15's or later is needed");
}
#else
namespace {

template <int Rank>
NDSpan<const int, Rank> span_of(const int* data, const Layout& layout) {
    const Dims strides = *element_strides(layout);
    return {data, layout.shape().begin(), strides.begin()};
}

}  // namespace

TEST_CASE("an mdspan accesses the same elements as its span", "[nd_span]") {
    const std::vector<int> memory(5000, 1);
    naive::Random random(23);
    int made = 0, refused = 0;
    for (int round = 0; round < 3000; ++round) {
        const Dims shape{random.between(0, 4), random.between(1, 5), random.between(1, 4)};
        const Layout layout = random.layout(naive::list(shape), 4);
        if (!element_strides(layout)) continue;
        const auto span = span_of<3>(memory.data() + 2500, layout);
        bool positive = true;
        for (int i = 0; i < 3; ++i) positive &= span.extent(i) == 1 || span.stride(i) > 0;
        if (!positive && !span.empty()) {
            CHECK_THROWS_AS(span.to_mdspan(), InvalidArgument);
            ++refused;
            continue;
        }
        const auto view = span.to_mdspan();
        REQUIRE(view.size() == static_cast<std::size_t>(span.size()));
        for (int i = 0; i < span.extent(0); ++i)
            for (int j = 0; j < span.extent(1); ++j)
                for (int k = 0; k < span.extent(2); ++k) REQUIRE(&view[i, j, k] == &span(i, j, k));
        ++made;
    }
    CHECK(made > 500);
    CHECK(refused > 100);
}

TEST_CASE("mdspans of scalars and overlapping elements", "[nd_span]") {
    const int memory[8] = {7};
    CHECK(span_of<0>(memory, Layout::contiguous({}, 4)).to_mdspan()[] == 7);
    CHECK_THROWS_AS(span_of<2>(memory, Layout::strided({3, 3}, {4, 8}, 4)).to_mdspan(), InvalidArgument);
    CHECK(span_of<2>(memory, Layout::strided({1, 3}, {0, 8}, 4)).to_mdspan().extent(1) == 3);
}
#endif
