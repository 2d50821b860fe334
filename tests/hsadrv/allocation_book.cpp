// The allocation nearest to an address, and its description.
#include "hsadrv/memory/allocation_book.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace hsadrv;
using detail::AllocationBook;
using test_support::Contains;

namespace {
AllocationRecord record(std::uint64_t begin, std::size_t size_bytes, const char* label = "gpu0") {
    return {begin, size_bytes, label, std::source_location::current()};
}
}  // namespace

TEST_CASE("an address is described by its nearest allocation", "[memory][fault]") {
    AllocationBook book;
    book.enter(record(0x10000, 0x1000));
    book.enter(record(0x20000, 0x1000));
    book.enter(record(0x30000, 0x1000));
    book.leave(0x20000, false);
    struct Row {
        std::uint64_t address, begin;
        std::int64_t distance;
        bool freed;
    };
    const Row rows[] = {
        {0x10000, 0x10000, 0, false},     {0x10fff, 0x10000, 0, false},     {0x11000, 0x10000, 1, false},
        {0x11200, 0x10000, 0x201, false}, {0xff00, 0x10000, -0x100, false}, {0x20800, 0x20000, 0, true},
        {0x1ff00, 0x20000, -0x100, true}, {0x2fff0, 0x30000, -0x10, false}, {0x40000000, 0x30000, 0x3ffcf001, false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.address);
        const auto nearest = book.nearest(row.address);
        REQUIRE(nearest);
        CHECK(nearest->record.begin == row.begin);
        CHECK(nearest->distance_bytes == row.distance);
        CHECK(nearest->record.freed == row.freed);
    }
    CHECK_FALSE(book.nearest(0x123456789000));
    CHECK_FALSE(AllocationBook().nearest(0x10000));
}

TEST_CASE("an address freed and reused belongs to the new allocation", "[memory][fault]") {
    AllocationBook book;
    book.enter(record(0x10000, 0x1000, "old"));
    book.leave(0x10000, false);
    CHECK(book.nearest(0x10010)->record.label == "old");
    book.enter(record(0x10000, 0x2000, "new"));
    CHECK(book.nearest(0x10010)->record.label == "new");
    book.leave(0x10000, false);
    CHECK(book.nearest(0x10010)->record.label == "new");  // the later one
    CHECK(book.live().empty());
}

TEST_CASE("released allocations are forgotten, as are the oldest freed ones", "[memory][fault]") {
    AllocationBook book;
    book.enter(record(0x10000, 0x1000));
    book.leave(0x10000, true);
    book.leave(0x10000, false);
    CHECK_FALSE(book.nearest(0x10000));
    for (std::uint64_t i = 0; i <= AllocationBook::remembered; ++i) {
        book.enter(record((i + 1) << 32, 0x1000));
        book.leave((i + 1) << 32, false);
    }
    CHECK_FALSE(book.nearest(std::uint64_t{1} << 32));
    CHECK(book.nearest(std::uint64_t{2} << 32));
}

TEST_CASE("the nearest allocation is described by size, offset and state", "[memory][fault]") {
    const std::string line = std::to_string(__LINE__ + 1);
    NearestAllocation nearest{record(0x10000, 4000, "gpu0 gfx90a coarse-grained"), 96};
    CHECK_THAT(nearest.text(),
               Contains("96 B past the end of 4000 B at 0x10000 (gpu0 gfx90a coarse-grained, allocated at ") &&
                   Contains("allocation_book.cpp:"));
    nearest.distance_bytes = -8;
    CHECK_THAT(nearest.text(), Contains("8 B before the beginning of 4000 B"));
    nearest.distance_bytes = 0;
    nearest.record.freed = true;
    CHECK_THAT(nearest.text(), Contains("within 4000 B") && Contains("), which were freed"));
}
