#include "tools/kfdemu/base/order.hpp"

#include <vector>

#include "tests/support/catch.hpp"

using kfdemu::Order;

TEST_CASE("an order is a permutation", "[kfdemu][order]") {
    for (const std::uint64_t total : {1ull, 2ull, 3ull, 7ull, 64ull, 100ull, 1000ull, 4097ull}) {
        const Order order{42, 0};
        std::vector<bool> seen(total);
        for (std::uint64_t i = 0; i < total; ++i) {
            const std::uint64_t at = order.permuted(i, total);
            REQUIRE(at < total);
            REQUIRE_FALSE(seen[at]);
            seen[at] = true;
        }
    }
}

TEST_CASE("an order is the same for the same seed and number, and another for others", "[kfdemu][order]") {
    const auto differs = [](const Order& a, const Order& b) {
        for (std::uint64_t i = 0; i < 100; ++i)
            if (a.permuted(i, 100) != b.permuted(i, 100)) return true;
        return false;
    };
    CHECK_FALSE(differs(Order{1, 5}, Order{1, 5}));
    CHECK(differs(Order{1, 5}, Order{2, 5}));
    CHECK(differs(Order{1, 5}, Order{1, 6}));
}

TEST_CASE("without a seed there is no order but the natural one", "[kfdemu][order]") {
    const Order none{0, 3};
    CHECK_FALSE(none.given());
    CHECK(none.permuted(17, 100) == 17);
}

TEST_CASE("an order holds for the largest grids", "[kfdemu][order]") {
    const Order order{9, 9};
    const std::uint64_t total = ~std::uint64_t{0};
    CHECK(order.permuted(total - 1, total) < total);
    CHECK(order.permuted(0, total) != order.permuted(1, total));
}
