// Argument storage: aligned, never shared, reclaimed in order.
#include "hsadrv/kernarg_ring.hpp"

#include <deque>
#include <random>
#include <vector>

#include "hsadrv/stream/stream_holds.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;

namespace {
constexpr std::size_t line = KernargRing::alignment_bytes;

struct Fixture {
    explicit Fixture(std::size_t capacity, std::uint32_t tickets = 16)
        : storage(capacity), ring(storage.data(), capacity, tickets) {}
    std::size_t offset(const std::byte* p) const { return static_cast<std::size_t>(p - storage.data()); }
    /// As a stream launches. Null: wait.
    std::byte* reserve(std::size_t size) {
        std::byte* room = ring.try_reserve(KernargRing::room_bytes(size));
        return room ? room : ring.make_room(KernargRing::room_bytes(size), completed, last);
    }
    std::byte* launch(std::size_t size) {
        std::byte* room = reserve(size);
        if (room) ring.commit(++last, KernargRing::room_bytes(size));
        return room;
    }
    std::vector<std::byte> storage;
    KernargRing ring;
    std::uint64_t last = 0, completed = 0;
};
}  // namespace

TEST_CASE("blocks start on multiples of the largest alignment and follow one another", "[kernarg]") {
    Fixture f(8 * line);
    CHECK(f.ring.capacity_bytes() == 8 * line);
    CHECK(f.offset(f.launch(1)) == 0);
    CHECK(f.offset(f.launch(line + 1)) == line);
    CHECK(f.offset(f.launch(line)) == 3 * line);
}

TEST_CASE("storage that is not committed is reused", "[kernarg]") {
    Fixture f(8 * line);
    const std::byte* first = f.reserve(line);
    CHECK(f.reserve(2 * line) == first);
}

TEST_CASE("a full ring refuses until the oldest launches are complete", "[kernarg]") {
    Fixture f(4 * line);
    for (int i = 0; i < 4; ++i) REQUIRE(f.launch(line));
    CHECK(f.launch(line) == nullptr);
    f.completed = 1;
    CHECK(f.launch(line) == nullptr);  // a line stays free: a full ring would look like an empty one
    f.completed = 2;
    CHECK(f.offset(f.launch(line)) == 0);
    CHECK(f.launch(line) == nullptr);
}

TEST_CASE("launches without arguments take no storage, and are counted", "[kernarg]") {
    Fixture f(2 * line);
    REQUIRE(f.launch(2 * line));
    for (int i = 0; i < 8; ++i) f.ring.note(++f.last);
    CHECK(f.launch(line) == nullptr);
    f.completed = 1;  // the only one that used the storage
    CHECK(f.launch(line) != nullptr);
    CHECK(f.launch(0) != nullptr);
}

TEST_CASE("a block as large as the ring fits an empty ring; a larger one never fits", "[kernarg]") {
    Fixture f(4 * line);
    for (int i = 0; i < 20; ++i) {
        REQUIRE(f.launch(line));
        CHECK(f.launch(4 * line) == nullptr);
        f.completed = f.last;
        CHECK(f.offset(f.launch(4 * line)) == 0);
        f.completed = f.last;
        CHECK(f.reserve(4 * line + 1) == nullptr);
    }
}

TEST_CASE("random sizes and completions never overlap", "[kernarg]") {
    std::mt19937 random(42);
    Fixture f(64 * line, 64);
    struct Block {
        std::uint64_t ticket;
        std::size_t begin, end;
    };
    std::deque<Block> live;
    std::size_t placed = 0, overlaps = 0, misplaced = 0;
    for (int step = 0; step < 100000; ++step) {
        const std::size_t size = random() % 5 == 0 ? 0 : random() % (11 * line);
        if (random() % 4 == 0 && f.last - f.completed < 60) f.ring.note(++f.last);
        if (std::byte* p = f.last - f.completed < 60 ? f.launch(size) : nullptr) {
            const Block block{f.last, f.offset(p), f.offset(p) + size};
            misplaced += block.begin % line != 0 || block.end > 64 * line;
            for (const Block& other : live) overlaps += block.begin < other.end && other.begin < block.end;
            live.push_back(block);
            ++placed;
        }
        if (random() % 3 == 0 && f.completed < f.last) {
            f.completed += 1 + random() % (f.last - f.completed);
            while (!live.empty() && live.front().ticket <= f.completed) live.pop_front();
        }
    }
    CHECK(overlaps == 0);
    CHECK(misplaced == 0);
    CHECK(placed > 10000);
}

TEST_CASE("holds are released in order, and the list grows while it is wrapped", "[holds]") {
    detail::GrowingRing<detail::Hold> holds;
    std::uint64_t pushed = 0, popped = 0;
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 37; ++i) {
            ++pushed;
            holds.push_back({{.epochs = pushed}, std::make_shared<std::uint64_t>(pushed)});
        }
        for (int i = 0; i < 20; ++i) {
            const detail::Hold hold = holds.pop_front();
            CHECK(hold.when.epochs == ++popped);
            CHECK(*std::static_pointer_cast<const std::uint64_t>(hold.object) == popped);
        }
    }
    while (!holds.empty()) CHECK(holds.pop_front().when.epochs == ++popped);
    CHECK(popped == pushed);
}
