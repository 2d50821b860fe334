// Pieces of an allocation that a pool above the runtime hands out.
#include "tests/kfdemu/check/checked.hpp"

using namespace kfdemu::check;
using test_support::Contains;

namespace {
constexpr std::uint64_t kChunk = 0x10000, kChunkBytes = 0x4000;

/// A chunk with pieces of 100 bytes at 0 and 60 bytes at 0x80.
struct Pool : Allocations {
    Pool() {
        allocated(kChunk, kChunkBytes);
        piece_allocated(kChunk, 100);
        piece_allocated(kChunk + 0x80, 60);
    }
    Span::Kind kind(std::uint64_t offset) const { return span(kChunk + offset).kind; }
};
}  // namespace

TEST_CASE("between its pieces, a pool is out of bounds", "[check][pool]") {
    const Pool pool;
    CHECK(pool.kind(0) == Span::Live);
    CHECK(pool.kind(99) == Span::Live);
    CHECK(pool.kind(100) == Span::Slack);
    CHECK(pool.kind(0x7f) == Span::Slack);
    CHECK(pool.kind(0x80) == Span::Live);
    CHECK(pool.kind(0x80 + 60) == Span::Slack);
    CHECK(pool.kind(kChunkBytes - 1) == Span::Slack);
    CHECK(pool.kind(kChunkBytes) == Span::Unknown);
    CHECK(pool.span(kChunk + 110).begin == kChunk + 100);
    CHECK(pool.span(kChunk + 110).end == kChunk + 0x80);
    CHECK_THAT(pool.describe(kChunk + 104),
               Contains("4 bytes past the end of 100 bytes allocated at 0x10000 (allocation 2 of a pool)"));
    CHECK_THAT(pool.describe(kChunk + 0x7c), Contains("4 bytes before 60 bytes allocated at 0x10080"));
}

TEST_CASE("an allocation without pieces is no pool", "[check][pool]") {
    Allocations all;
    all.allocated(kChunk, kChunkBytes);
    all.piece_allocated(0x900000, 10);
    CHECK(all.span(kChunk + 100).kind == Span::Live);
    CHECK(all.span(0x900009).kind == Span::Live);
    CHECK(all.span(0x90000a).kind == Span::Unknown);
    all.piece_freed(0x900000);
    CHECK(all.span(0x900009).kind == Span::Freed);
}

TEST_CASE("a freed piece is freed until something else is there", "[check][pool]") {
    Pool pool;
    pool.piece_freed(kChunk);
    CHECK(pool.kind(99) == Span::Freed);
    CHECK_THAT(pool.describe(kChunk + 8),
               Contains("at offset 8 of 100 bytes allocated at 0x10000 (allocation 2 of a pool, freed)"));
    pool.piece_allocated(kChunk + 0x40, 32);
    CHECK(pool.kind(0x40) == Span::Live);
    CHECK(pool.kind(0x10) == Span::Slack);
    pool.piece_freed(0x1234);
    CHECK(pool.kind(0x80) == Span::Live);
}

TEST_CASE("pieces end with their allocation", "[check][pool]") {
    Pool pool;
    pool.freed(kChunk);
    CHECK(pool.kind(0) == Span::Freed);
    CHECK(pool.kind(100) == Span::Freed);
    pool.allocated(kChunk, kChunkBytes);
    CHECK(pool.kind(100) == Span::Live);
    pool.piece_allocated(kChunk, 100);
    pool.forget(kChunk);
    CHECK(pool.kind(0) == Span::Unknown);
}

TEST_CASE("locked ranges that overlap are not judged", "[check][allocations]") {
    Allocations all;
    CHECK(all.allocated_alone(0x1000, 100, kNoStack));
    CHECK(all.allocated_alone(0x1080, 100, kNoStack));
    CHECK(all.span(0x1064).kind == Span::Slack);
    CHECK_FALSE(all.allocated_alone(0x1010, 10, kNoStack));  // known already
    CHECK(all.span(0x1000).kind == Span::Live);
    CHECK_FALSE(all.allocated_alone(0x1060, 0x30, kNoStack));  // of both
    CHECK(all.span(0x1000).kind == Span::Unknown);
    CHECK(all.span(0x1080).kind == Span::Unknown);
}

TEST_CASE("code may be read, and is code only where no allocation is", "[check][allocations]") {
    Allocations all;
    all.set_code({{0x1000, 0x1100}, {0x3000, 0x3040}});
    CHECK(all.span(0x1000).kind == Span::Code);
    CHECK(all.span(0x10ff).kind == Span::Code);
    CHECK(all.span(0x1100).kind == Span::Unknown);
    CHECK(all.span(0x1100).begin == 0x1100);
    CHECK(all.span(0x1100).end == 0x3000);
    CHECK(all.span(0xfff).end == 0x1000);
    CHECK_THAT(all.describe(0x3000), Contains("in the code of a loaded code object"));
    all.allocated(0x3000, 0x1000);
    CHECK(all.span(0x3000).kind == Span::Live);
    all.set_code({});
    CHECK(all.span(0x1000).kind == Span::Unknown);
}
