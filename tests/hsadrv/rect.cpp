// Rectangles and boxes of bytes: extents, overlap and flattening.
#include "hsadrv/rect.hpp"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using test_support::Contains;

namespace {

char* const far_away = reinterpret_cast<char*>(0x10000000);

/// The addresses of all bytes of a side, in the order in which they are copied.
template <class Side>
std::vector<std::uintptr_t> bytes(const Rect& rect, const Side& side) {
    std::vector<std::uintptr_t> all;
    for (std::size_t z = 0; z < rect.depth; ++z)
        for (std::size_t y = 0; y < rect.height; ++y)
            for (std::size_t x = 0; x < rect.width_bytes; ++x)
                all.push_back(reinterpret_cast<std::uintptr_t>(side.address) + z * side.slice_bytes +
                              y * side.pitch_bytes + x);
    return all;
}

}  // namespace

TEST_CASE("a box without width, rows or planes is empty", "[rect]") {
    CHECK(Rect{}.empty());
    CHECK_FALSE(Rect{.width_bytes = 1}.empty());
    CHECK(Rect{.width_bytes = 1, .height = 0}.empty());
    CHECK(Rect{.width_bytes = 1, .height = 1, .depth = 0}.empty());
}

TEST_CASE("a rectangle's extent goes from its first byte to its last", "[copy][rect]") {
    struct Row {
        Rect rect;
        std::size_t to, from;
    };
    const Row rows[] = {
        {{{far_away}, {far_away}, 100}, 100, 100},
        {{{far_away, 100}, {far_away, 200}, 100, 10}, 1000, 1900},
        {{{far_away, 7, 70}, {far_away, 9, 100}, 5, 10, 3}, 208, 286},
        {{{far_away, 0, 10}, {far_away, 0, 5}, 5, 1, 3}, 25, 15},
    };
    for (const Row& row : rows) {
        CAPTURE(row.rect.text());
        CHECK(detail::destination_extent(row.rect) == row.to);
        CHECK(detail::source_extent(row.rect) == row.from);
    }
}

TEST_CASE("rows and planes that overlap or exceed the address space are refused with their numbers", "[copy][rect]") {
    struct Row {
        Rect rect;
        const char* says;
    };
    constexpr std::size_t most = SIZE_MAX;
    const Row rows[] = {
        {{{far_away, 99}, {far_away, 100}, 100, 2}, "destination's rows overlap"},
        {{{far_away, 100}, {far_away, 0}, 100, 2}, "source's rows overlap"},
        {{{far_away, 10, 99}, {far_away, 10, 100}, 10, 10, 2}, "destination's planes overlap"},
        {{{far_away, most / 2}, {far_away, 100}, 100, 4}, "destination's rows exceed the address space"},
        {{{far_away, most}, {far_away, 100}, 100, 2}, "destination's rows exceed the address space"},
        {{{far_away, 1, most / 2}, {far_away, 1, 1}, 1, 1, 4}, "destination's planes exceed the address space"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.says);
        CHECK_THROWS_AS(detail::overlapping(row.rect, 0), InvalidArgument);
        CHECK_THROWS_WITH(detail::overlapping(row.rect, 0), Contains(row.says) && Contains(row.rect.text()));
    }
}

TEST_CASE("windows of one matrix overlap exactly when they share a byte", "[copy][rect]") {
    std::minstd_rand random(3);
    const auto up_to = [&](std::size_t most) { return random() / 5 % (most + 1); };
    int met = 0;
    for (int i = 0; i < 20000; ++i) {
        Rect rect;
        rect.width_bytes = 1 + up_to(5);
        rect.height = 1 + up_to(4);
        rect.depth = 1 + up_to(2);
        const std::size_t pitch = rect.width_bytes + up_to(6);
        const std::size_t slice = (rect.height - 1) * pitch + rect.width_bytes + up_to(20);
        rect.destination = {far_away + up_to(150), pitch, slice};
        rect.source = {far_away + up_to(150), pitch, slice};
        const auto to = bytes(rect, rect.destination), from = bytes(rect, rect.source);
        const std::set<std::uintptr_t> set(from.begin(), from.end());
        bool meet = false;
        for (const std::uintptr_t byte : to) meet |= set.count(byte) != 0;
        met += meet;
        CAPTURE(rect.text());
        REQUIRE(detail::overlapping(rect, static_cast<const char*>(rect.destination.address) -
                                              static_cast<const char*>(rect.source.address)) == meet);
    }
    CHECK(met > 1000);
    CHECK(met < 19000);
}

TEST_CASE("with different pitches, intersecting extents count as overlapping", "[copy][rect]") {
    const Rect rect{{far_away, 10}, {far_away, 20}, 5, 4};
    CHECK(detail::overlapping(rect, 0));
    CHECK(detail::overlapping(rect, 64));
    CHECK_FALSE(detail::overlapping(rect, 65));
    CHECK(detail::overlapping(rect, -34));
    CHECK_FALSE(detail::overlapping(rect, -35));
}

TEST_CASE("flattened rectangles are the same bytes in the same order, in fewer rows", "[copy][rect]") {
    std::minstd_rand random(4);
    const auto up_to = [&](std::size_t most) { return random() / 5 % (most + 1); };
    int linear = 0;
    for (int i = 0; i < 5000; ++i) {
        Rect rect;
        rect.width_bytes = 1 + up_to(4);
        rect.height = 1 + up_to(3);
        rect.depth = 1 + up_to(3);
        const auto side = [&](auto& pitched) {
            pitched.address = far_away;
            pitched.pitch_bytes = rect.width_bytes + up_to(1);
            pitched.slice_bytes = rect.height * pitched.pitch_bytes + up_to(1) * 3;
        };
        side(rect.destination);
        side(rect.source);
        const Rect flat = detail::flattened(rect);
        CAPTURE(rect.text(), flat.text());
        REQUIRE(bytes(rect, rect.destination) == bytes(flat, flat.destination));
        REQUIRE(bytes(rect, rect.source) == bytes(flat, flat.source));
        REQUIRE(flat.height * flat.depth <= rect.height * rect.depth);
        REQUIRE((flat.depth == 1 || flat.height > 1));
        linear += flat.height == 1;
    }
    CHECK(linear > 100);
    const Rect whole = detail::flattened({{far_away, 64, 640}, {far_away, 64, 640}, 64, 10, 5});
    CHECK(whole.width_bytes == 3200);
    CHECK(whole.height == 1);
    CHECK(whole.depth == 1);
}
