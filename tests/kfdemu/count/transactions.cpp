// Lines and bank conflicts of the accesses of one instruction, number by number.
#include "tools/kfdemu/count/transactions.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

using namespace kfdemu::count;

namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Lane n at base + n * stride bytes.
Addresses every(std::uint64_t stride, std::uint64_t base = 0) {
    Addresses at;
    for (std::uint64_t l = 0; l < at.size(); ++l) at[l] = base + l * stride;
    return at;
}

/// Cycles that lane `second` costs, 32 banks after lane `first`.
unsigned pair_conflicts(unsigned first, unsigned second, unsigned bytes, Direction direction) {
    Addresses at{};
    at[second] = 128;
    return bank_conflicts(at, std::uint64_t{1} << first | std::uint64_t{1} << second, bytes, direction);
}

}  // namespace

TEST_CASE("lines that a wave's accesses of memory touch", "[kfdemu][count]") {
    CHECK(memory_lines(every(4), kAll, 4, {}) == 4);
    CHECK(memory_lines(every(8), kAll, 4, {}) == 8);
    CHECK(memory_lines(every(64), kAll, 4, {}) == 64);
    CHECK(memory_lines(every(0, 0x1000), kAll, 4, {}) == 1);
    CHECK(memory_lines(every(16), kAll, 16, {}) == 16);
    CHECK(memory_lines(every(1), kAll, 1, {}) == 1);
}

TEST_CASE("only active lanes touch lines", "[kfdemu][count]") {
    CHECK(memory_lines(every(4), 0xffff, 4, {}) == 1);
    CHECK(memory_lines(every(4), 0x1'0001, 4, {}) == 2);
    CHECK(memory_lines(every(64), 0x8000'0000'0000'0001, 4, {}) == 2);
    CHECK(memory_lines(every(4), 0, 4, {}) == 0);
}

TEST_CASE("accesses that are not aligned touch the line after", "[kfdemu][count]") {
    CHECK(memory_lines(every(4, 4), kAll, 4, {}) == 5);
    CHECK(memory_lines(every(64, 62), kAll, 4, {}) == 65);
    CHECK(memory_lines(every(128, 60), kAll, 8, {}) == 128);
}

TEST_CASE("lines count once in any order of lanes", "[kfdemu][count]") {
    Addresses down = every(4);
    std::reverse(down.begin(), down.end());
    CHECK(memory_lines(down, kAll, 4, {}) == 4);
    Addresses mixed;
    for (std::uint64_t l = 0; l < mixed.size(); ++l) mixed[l] = l * 29 % 64 * 4;
    CHECK(memory_lines(mixed, kAll, 4, {}) == 4);
}

TEST_CASE("scratch holds the same dword of all lanes together", "[kfdemu][count]") {
    CHECK(scratch_lines(every(0), kAll, 4, {}) == 4);
    CHECK(scratch_lines(every(0), kAll, 16, {}) == 16);
    CHECK(scratch_lines(every(4), kAll, 4, {}) == 64);
    CHECK(scratch_lines(every(0, 2), kAll, 4, {}) == 8);
    CHECK(scratch_lines(every(0), 1, 4, {}) == 1);
}

TEST_CASE("lines of 128 bytes, by waves of 32 lanes", "[kfdemu][count]") {
    constexpr Lines wide{.bytes = 128, .lanes = 32};
    constexpr std::uint64_t all = 0xffff'ffff;
    CHECK(memory_lines(every(4), all, 4, wide) == 1);
    CHECK(memory_lines(every(4, 64), all, 4, wide) == 2);
    CHECK(memory_lines(every(64), all, 4, wide) == 16);
    CHECK(scratch_lines(every(0), all, 4, wide) == 1);
    CHECK(scratch_lines(every(0), all, 16, wide) == 4);
    CHECK(scratch_lines(every(4), all, 4, wide) == 32);
    CHECK(bank_conflicts(every(128), all, 4, Direction::Store) == 31);
}

TEST_CASE("lines of a scalar access", "[kfdemu][count]") {
    CHECK(scalar_lines(0, 64) == 1);
    CHECK(scalar_lines(60, 4) == 1);
    CHECK(scalar_lines(60, 8) == 2);
}

TEST_CASE("bank conflicts of dwords", "[kfdemu][count]") {
    CHECK(bank_conflicts(every(4), kAll, 4, Direction::Store) == 0);
    CHECK(bank_conflicts(every(8), kAll, 4, Direction::Store) == 2);
    CHECK(bank_conflicts(every(16), kAll, 4, Direction::Store) == 6);
    CHECK(bank_conflicts(every(128), kAll, 4, Direction::Store) == 62);
    CHECK(bank_conflicts(every(132), kAll, 4, Direction::Store) == 0);
    CHECK(bank_conflicts(every(12), kAll, 4, Direction::Store) == 0);
}

TEST_CASE("lanes that touch the same dword do not conflict", "[kfdemu][count]") {
    CHECK(bank_conflicts(every(0, 64), kAll, 4, Direction::Store) == 0);
    CHECK(bank_conflicts(every(1), kAll, 1, Direction::Store) == 0);
    CHECK(bank_conflicts(every(2), kAll, 2, Direction::Store) == 0);
}

TEST_CASE("only active lanes conflict", "[kfdemu][count]") {
    CHECK(bank_conflicts(every(128), 0xff, 4, Direction::Store) == 7);
    CHECK(bank_conflicts(every(128), 0x1'0000'0001, 4, Direction::Store) == 0);  // in different passes
    CHECK(bank_conflicts(every(128), 0, 4, Direction::Store) == 0);
}

TEST_CASE("bank conflicts of wider accesses", "[kfdemu][count]") {
    CHECK(bank_conflicts(every(8), kAll, 8, Direction::Store) == 0);
    CHECK(bank_conflicts(every(16), kAll, 8, Direction::Store) == 4);
    CHECK(bank_conflicts(every(12), kAll, 12, Direction::Store) == 0);
    CHECK(bank_conflicts(every(16), kAll, 16, Direction::Store) == 0);
    CHECK(bank_conflicts(every(32), kAll, 16, Direction::Store) == 8);
}

TEST_CASE("loads and stores of 16 bytes are served in different passes", "[kfdemu][count]") {
    // Lanes that share a pass with lane 0; AMD's rules of gfx90a and the phases that are measured on gfx942.
    for (unsigned lane = 1; lane < 64; ++lane) {
        INFO("lane " << lane);
        CHECK(pair_conflicts(0, lane, 16, Direction::Load) == (lane < 4 || (lane >= 20 && lane < 24)));
        CHECK(pair_conflicts(0, lane, 12, Direction::Load) == (lane < 4 || (lane >= 20 && lane < 24)));
        CHECK(pair_conflicts(0, lane, 16, Direction::Store) == (lane < 8));
        CHECK(pair_conflicts(0, lane, 8, Direction::Load) == (lane < 16));
        CHECK(pair_conflicts(0, lane, 8, Direction::Store) == (lane < 16));
        CHECK(pair_conflicts(0, lane, 4, Direction::Load) == (lane < 32));
    }
    // The other passes of half a wave.
    CHECK(pair_conflicts(4, 16, 16, Direction::Load) == 1);
    CHECK(pair_conflicts(8, 31, 16, Direction::Load) == 1);
    CHECK(pair_conflicts(15, 24, 16, Direction::Load) == 1);
    CHECK(pair_conflicts(4, 20, 16, Direction::Load) == 0);
    CHECK(pair_conflicts(32, 52, 16, Direction::Load) == 1);
    CHECK(pair_conflicts(47, 56, 16, Direction::Load) == 1);
}

TEST_CASE("padding that suits stores of 16 bytes need not suit loads", "[kfdemu][count]") {
    // Rows of 80 bytes: a store of eight rows is free of conflicts. A matrix operand's load is not: a pass has 4 rows
    // of one column and the next 4 of the column after it.
    Addresses operand;
    for (std::uint64_t l = 0; l < operand.size(); ++l) operand[l] = l % 16 * 80 + l / 16 * 16;
    CHECK(bank_conflicts(every(80), kAll, 16, Direction::Store) == 0);
    CHECK(bank_conflicts(operand, kAll, 16, Direction::Load) == 8);
}
