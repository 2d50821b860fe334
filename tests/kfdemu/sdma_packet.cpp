#include "tools/kfdemu/queues/sdma_packet.hpp"

#include <vector>

#include "tests/support/catch.hpp"
#include "tools/kfdemu/queues/sdma_atomic.hpp"

using namespace kfdemu::sdma;

namespace {
Decoded decoded(const std::vector<std::uint32_t>& dwords) { return decode(dwords); }
}  // namespace

TEST_CASE("a linear copy holds its size less one", "[kfdemu][sdma]") {
    const auto packet = decoded({1, 0x3fffdf, 0, 0x11223344, 0x5566, 0x778899aa, 0xbbcc});
    CHECK(packet.dwords == 7);
    const auto copy = std::get<CopyLinear>(packet.command);
    CHECK(copy.size_bytes == 0x3fffe0);
    CHECK(copy.source == 0x556611223344);
    CHECK(copy.destination == 0xbbcc778899aa);
}

TEST_CASE("a linear copy of SDMA 4.4 has 30 bits for its size", "[kfdemu][sdma]") {
    const auto packet = decoded({1, 0x3ffffffe, 0, 0x1000, 0, 0x2000, 0});
    CHECK(std::get<CopyLinear>(packet.command).size_bytes == 0x3fffffff);
}

TEST_CASE("a rectangle copy counts in elements and starts at its corner", "[kfdemu][sdma]") {
    // Elements of 4 bytes; source at (x 2, y 3, z 1), pitch 64, slice 4096 elements; box of 8 × 4 × 2.
    const auto packet = decoded({1 | 4 << 8 | 2u << 29, 0x1000, 0, 2 | 3 << 16, 1 | 63u << 13, 4095,  //
                                 0x9000, 0, 0, 31u << 13, 1023, 7 | 3 << 16, 1});
    REQUIRE(packet.dwords == 13);
    const auto copy = std::get<CopyRect>(packet.command);
    CHECK(copy.source.address == 0x1000 + (1 * 4096 + 3 * 64 + 2) * 4);
    CHECK(copy.source.pitch_bytes == 256);
    CHECK(copy.source.slice_bytes == 16384);
    CHECK(copy.destination.address == 0x9000);
    CHECK(copy.destination.pitch_bytes == 128);
    CHECK(copy.width_bytes == 32);
    CHECK(copy.height == 4);
    CHECK(copy.depth == 2);
}

TEST_CASE("boxes of SDMA 7 have wider fields, and policies for caches", "[kfdemu][sdma]") {
    const std::vector<std::uint32_t> words{1 | 4 << 8 | 2u << 29,
                                           0x1000,
                                           0,
                                           0x8000 | 0xc000u << 16,
                                           0x3000 | 0xffffu << 16,
                                           0xffffffff,
                                           0x9000,
                                           0,
                                           0,
                                           31u << 16,
                                           0,
                                           0x8fff | 0x9000u << 16,
                                           0x2001 | 3u << 20 | 5u << 28};
    const Decoded packet = decode(words, Version::v7);
    REQUIRE(packet.dwords == 13);
    const auto copy = std::get<CopyRect>(packet.command);
    CHECK(copy.source.pitch_bytes == 0x40000);
    CHECK(copy.source.slice_bytes == 0x400000000);
    CHECK(copy.source.address ==
          0x1000 + std::uint64_t{0x3000} * 0x400000000 + std::uint64_t{0xc000} * 0x40000 + 0x20000);
    CHECK(copy.width_bytes == 0x9000 * 4);
    CHECK(copy.height == 0x9001);
    CHECK(copy.depth == 0x2002);
    CHECK(decode(words, Version::v5).error.find("bits") != std::string::npos);
}

TEST_CASE("a fill of dwords holds its bytes less one dword", "[kfdemu][sdma]") {
    const auto fill = std::get<Fill>(decoded({11 | 2u << 30, 0x40, 1, 0xdeadbeef, 12}).command);
    CHECK(fill.destination == 0x100000040);
    CHECK(fill.size_bytes == 16);
    CHECK(fill.unit_bytes == 4);
    CHECK(std::get<Fill>(decoded({11, 0, 0, 7, 12}).command).size_bytes == 13);
}

TEST_CASE("polling compares masked values; a poll without memory is a flush", "[kfdemu][sdma]") {
    const auto poll = std::get<PollMemory>(decoded({8 | 3u << 28 | 1u << 31, 0x10, 0, 0, 0xff, 0}).command);
    CHECK(poll.holds(0x100));
    CHECK_FALSE(poll.holds(1));
    CHECK(std::holds_alternative<FlushHdp>(decoded({8, 0, 0x80000000, 0, 0, 0}).command));
    CHECK(decoded({8 | 3u << 28, 0, 0, 0, 0, 0}).error.find("registers") != std::string::npos);
}

TEST_CASE("SDMA 5 has a fence's memory type, and a request to the caches", "[kfdemu][sdma]") {
    const std::vector<std::uint32_t> fence{5 | 3 << 16, 0x1000, 0, 7}, caches{17 | 1 << 8, 0, 0, 0, 0};
    CHECK(std::get<Fence>(decode(fence, Version::v5).command).value == 7);
    CHECK(decode(caches, Version::v5).dwords == 5);
    CHECK(decode(caches, Version::v7).dwords == 5);
    CHECK(decode(fence).dwords == 0);
    CHECK(decode(caches).dwords == 0);
}

TEST_CASE("signals are decremented with a 64-bit add", "[kfdemu][sdma]") {
    const auto atomic = std::get<Atomic>(decoded({10 | 0x2fu << 25, 8, 0, 0xffffffff, 0xffffffff, 0, 0, 0}).command);
    CHECK(operation_of(atomic.operation) == kAdd);
    CHECK(is_64_bit(atomic.operation));
    CHECK(atomic.operand == ~std::uint64_t{0});
}

TEST_CASE("no prefix of a packet is taken for a packet", "[kfdemu][sdma]") {
    const std::vector<std::vector<std::uint32_t>> packets = {{1, 3, 0, 0, 0, 0, 0},
                                                             {5, 0, 0, 0},
                                                             {6, 1},
                                                             {10 | 0x2fu << 25, 0, 0, 0, 0, 0, 0, 0},
                                                             {11, 0, 0, 0, 0},
                                                             {1 | 1u << 27, 0, 0, 0, 0, 0, 0, 0, 0},
                                                             {2, 0, 0, 2, 1, 2, 3},
                                                             {2 << 16, 0, 0},
                                                             {4, 0, 0, 0, 0, 0},
                                                             {9, 0, 0, 0, 0},
                                                             {15, 0},
                                                             {13, 0, 0},
                                                             {13 | 2 << 8, 0, 0},
                                                             {1 | 4 << 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    for (const auto& packet : packets) {
        CHECK(decoded(packet).dwords == packet.size());
        for (std::size_t size = 0; size < packet.size(); ++size) {
            const Decoded part = decode(std::span{packet}.first(size));
            CHECK(part.dwords == 0);
            CHECK(part.error.empty());
        }
    }
}

TEST_CASE("an unknown packet is refused by name", "[kfdemu][sdma]") {
    for (const std::vector<std::uint32_t>& packet :
         std::vector<std::vector<std::uint32_t>>{{3, 0, 0, 0, 0, 0, 0, 0},
                                                 {0xff, 0, 0, 0, 0, 0, 0, 0},
                                                 {1 | 9 << 8, 0, 0, 0, 0, 0, 0, 0},
                                                 {10, 0, 0, 0, 0, 0, 0, 0},
                                                 {13 | 3 << 8, 0, 0},
                                                 {11 | 3u << 30, 0, 0, 0, 0}}) {
        const Decoded result = decoded(packet);
        CHECK(result.dwords == 0);
        CHECK(result.error.find("SDMA packet") != std::string::npos);
    }
}
