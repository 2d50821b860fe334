// The sizes of an allocator's blocks.
#include "hsadrv/memory/size_class.hpp"

#include "tests/support/catch.hpp"

using namespace hsadrv::detail;

static_assert(size_class(1) == 0 && class_bytes(0) == 256);
static_assert(class_bytes(size_class(1300)) == 1536);
static_assert(class_bytes(size_class(2u << 20)) == 2u << 20);

TEST_CASE("size classes are contiguous, increasing multiples of 256 bytes", "[memory][allocator]") {
    for (std::size_t i = 0; i < size_classes; ++i) {
        CAPTURE(i);
        CHECK(size_class(class_bytes(i)) == i);
        CHECK(class_bytes(i) % 256 == 0);
        if (i > 0) CHECK(size_class(class_bytes(i - 1) + 1) == i);
        if (i > 0) CHECK(class_bytes(i) > class_bytes(i - 1));
    }
    CHECK(class_bytes(size_classes - 1) == largest_block_bytes);
}

TEST_CASE("a block is never smaller than requested, nor much larger", "[memory][allocator]") {
    for (std::size_t size = 1; size < largest_block_bytes; size += 1 + size / 37) {
        const std::size_t block = class_bytes(size_class(size));
        REQUIRE(block >= size);
        REQUIRE(block - size < 256 + size / 4);
    }
}
