// Argument storage: aligned, never handed out twice, reclaimed in order.
#include "hsadrv/kernarg_ring.hpp"

#include <deque>
#include <random>
#include <vector>

#include "hsadrv/hold_list.hpp"
#include "support/catch.hpp"

using namespace hsadrv;

namespace {
struct Fixture {
    explicit Fixture(std::size_t capacity, std::uint32_t launches = 16)
        : storage(capacity), ring(storage.data(), capacity, launches) {}
    std::size_t offset(const std::byte* p) const { return static_cast<std::size_t>(p - storage.data()); }
    std::vector<std::byte> storage;
    KernargRing ring;
};
}  // namespace

TEST_CASE("blocks start on multiples of 64 and follow one another", "[kernarg]") {
    Fixture f(512);
    CHECK(f.ring.capacity_bytes() == 512);
    CHECK(f.offset(f.ring.try_reserve(1)) == 0);
    f.ring.commit(1);
    CHECK(f.offset(f.ring.try_reserve(65)) == 64);
    f.ring.commit(2);
    CHECK(f.offset(f.ring.try_reserve(64)) == 192);
}

TEST_CASE("room that is not committed is given again", "[kernarg]") {
    Fixture f(512);
    const std::byte* first = f.ring.try_reserve(64);
    CHECK(f.ring.try_reserve(128) == first);
    CHECK(f.ring.outstanding() == 0);
}

TEST_CASE("a full ring refuses until the oldest launch is complete", "[kernarg]") {
    Fixture f(256);
    for (std::uint64_t ticket = 1; ticket <= 4; ++ticket) {
        REQUIRE(f.ring.try_reserve(64));
        f.ring.commit(ticket);
    }
    CHECK(f.ring.try_reserve(64) == nullptr);
    f.ring.reclaim(0);
    CHECK(f.ring.try_reserve(64) == nullptr);
    f.ring.reclaim(1);
    CHECK(f.offset(f.ring.try_reserve(64)) == 0);
    CHECK(f.ring.try_reserve(65) == nullptr);
}

TEST_CASE("as many launches as there are records, however small", "[kernarg]") {
    Fixture f(4096, 4);
    for (std::uint64_t ticket = 1; ticket <= 4; ++ticket) {
        REQUIRE(f.ring.try_reserve(0));
        f.ring.commit(ticket);
    }
    CHECK(f.ring.try_reserve(0) == nullptr);
    f.ring.reclaim(2);
    CHECK(f.ring.outstanding() == 2);
    CHECK(f.ring.try_reserve(0) != nullptr);
}

TEST_CASE("a block as large as the ring fits whenever nothing is in use", "[kernarg]") {
    Fixture f(256);
    for (std::uint64_t ticket = 1; ticket < 20; ticket += 2) {
        REQUIRE(f.ring.try_reserve(64));
        f.ring.commit(ticket);
        CHECK(f.ring.try_reserve(256) == nullptr);
        f.ring.reclaim(ticket);
        CHECK(f.offset(f.ring.try_reserve(256)) == 0);
        f.ring.commit(ticket + 1);
        f.ring.reclaim(ticket + 1);
    }
}

TEST_CASE("random sizes and completions never overlap", "[kernarg]") {
    std::mt19937 random(42);
    Fixture f(4096, 32);
    struct Block {
        std::uint64_t ticket;
        std::size_t begin, end;
    };
    std::deque<Block> live;
    std::uint64_t ticket = 0;
    std::size_t placed = 0, overlaps = 0, misplaced = 0;
    for (int step = 0; step < 100000; ++step) {
        const std::size_t size = random() % 700;
        if (std::byte* p = f.ring.try_reserve(size)) {
            const Block block{++ticket, f.offset(p), f.offset(p) + size};
            misplaced += block.begin % 64 != 0 || block.end > 4096;
            for (const Block& other : live) overlaps += block.begin < other.end && other.begin < block.end;
            f.ring.commit(block.ticket);
            live.push_back(block);
            ++placed;
        }
        if (random() % 3 == 0 && !live.empty()) {
            const std::uint64_t completed = live.front().ticket + random() % live.size();
            f.ring.reclaim(completed);
            while (!live.empty() && live.front().ticket <= completed) live.pop_front();
        }
    }
    CHECK(overlaps == 0);
    CHECK(misplaced == 0);
    CHECK(placed > 10000);
}

TEST_CASE("holds come back in order, and the list grows while it is wrapped", "[holds]") {
    detail::HoldList holds;
    std::uint64_t pushed = 0, popped = 0;
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 37; ++i) {
            ++pushed;
            holds.push({.epochs = pushed}, std::make_shared<std::uint64_t>(pushed));
        }
        for (int i = 0; i < 20; ++i) {
            const detail::Hold hold = holds.pop();
            CHECK(hold.when.epochs == ++popped);
            CHECK(*std::static_pointer_cast<const std::uint64_t>(hold.object) == popped);
        }
    }
    while (!holds.empty()) CHECK(holds.pop().when.epochs == ++popped);
    CHECK(popped == pushed);
}
