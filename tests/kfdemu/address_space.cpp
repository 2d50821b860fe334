#include "tools/kfdemu/base/address_space.hpp"

#include <atomic>
#include <thread>

#include "tests/support/catch.hpp"

using namespace kfdemu;

namespace {
std::byte bytes[0x4000];
AddressSpace::Range range(std::uint64_t begin, std::uint64_t end) {
    return {begin, end, bytes + (begin & 0x3fff), kRead | kWrite, 1};
}
}  // namespace

TEST_CASE("a mapped address is found, its neighbours are not", "[kfdemu][memory]") {
    AddressSpace space;
    REQUIRE(space.map(range(0x1000, 0x2000)));
    AddressSpace::Hold hold{space};
    CHECK_FALSE(space.find(0xfff));
    REQUIRE(space.find(0x1000));
    REQUIRE(space.find(0x1fff));
    CHECK(space.find(0x1fff)->at(0x1fff) == bytes + 0x1fff);
    CHECK_FALSE(space.find(0x2000));
    CHECK(space.find(0x1000)->contains(0x1ff0, 16));
    CHECK_FALSE(space.find(0x1000)->contains(0x1ff0, 17));
    CHECK_FALSE(space.find(0x1000)->contains(0x1ff0, ~std::uint64_t{0}));
}

TEST_CASE("overlapping maps are refused and change nothing", "[kfdemu][memory]") {
    AddressSpace space;
    REQUIRE(space.map(range(0x1000, 0x3000)));
    CHECK_FALSE(space.map(range(0x0000, 0x1001)));
    CHECK_FALSE(space.map(range(0x2fff, 0x4000)));
    CHECK_FALSE(space.map(range(0x1800, 0x1900)));
    CHECK(space.map(range(0x3000, 0x4000)));
    CHECK(space.map(range(0x0000, 0x1000)));
}

TEST_CASE("a range replaces what its allocation has mapped, and nothing else", "[kfdemu][memory]") {
    AddressSpace space;
    REQUIRE(space.map(range(0x1000, 0x4000)));
    AddressSpace::Range middle = range(0x2000, 0x3000);
    middle.access = kRead;
    const auto generation = space.generation();
    CHECK(space.replace(middle));
    CHECK(space.generation() == generation + 1);  // never unmapped
    {
        AddressSpace::Hold hold{space};
        CHECK(space.find(0x1fff)->allows(kWrite));
        CHECK_FALSE(space.find(0x2000)->allows(kWrite));
        CHECK(space.find(0x3000)->allows(kWrite));
    }
    middle.allocation = 2;
    CHECK_FALSE(space.replace(middle));
}

TEST_CASE("unmapping the middle of a range keeps both ends", "[kfdemu][memory]") {
    AddressSpace space;
    REQUIRE(space.map(range(0x1000, 0x4000)));
    const auto generation = space.generation();
    space.unmap(0x2000, 0x3000);
    CHECK(space.generation() != generation);
    AddressSpace::Hold hold{space};
    REQUIRE(space.find(0x1fff));
    CHECK_FALSE(space.find(0x2000));
    CHECK_FALSE(space.find(0x2fff));
    REQUIRE(space.find(0x3000));
    CHECK(space.find(0x3000)->at(0x3000) == bytes + 0x3000);
}

TEST_CASE("a change waits for holders of the map, which let it proceed when they renew", "[kfdemu][memory]") {
    AddressSpace space;
    REQUIRE(space.map(range(0x1000, 0x2000)));
    std::atomic<bool> holding{false}, done{false}, unmapped{false};
    std::thread holder{[&] {
        AddressSpace::Hold hold{space};
        holding = true;
        while (!hold.renew()) CHECK_FALSE(unmapped.load());
        CHECK_FALSE(space.find(0x1000));
        done = true;
    }};
    while (!holding) std::this_thread::yield();
    space.unmap(0x1000, 0x2000);
    unmapped = true;
    holder.join();
    CHECK(done);
}
