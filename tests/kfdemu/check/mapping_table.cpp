// The watched mappings that remain when parts are unmapped.
#include "tools/kfdemu/boundary/mapping_table.hpp"

#include <map>
#include <random>
#include <utility>

#include "tests/kfdemu/check/checked.hpp"

using kfdemu::MappingTable;

namespace {

using Ranges = std::map<std::uint64_t, std::pair<std::uint64_t, const std::byte*>>;

Ranges ranges(MappingTable& table) {
    Ranges found;
    table.each([&](const MappingTable::Mapping& each) { found[each.begin] = {each.end, each.doorbells}; });
    return found;
}

}  // namespace

TEST_CASE("a part that is unmapped leaves what is around it", "[check][mappings]") {
    MappingTable table;
    const std::byte doorbells[0x3000]{};
    table.add({0x1000, 0x4000, doorbells});
    table.add({0x8000, 0x9000, nullptr});
    table.remove(0x2000, 0x3000);
    CHECK(ranges(table) ==
          Ranges{{0x1000, {0x2000, doorbells}}, {0x3000, {0x4000, doorbells + 0x2000}}, {0x8000, {0x9000, nullptr}}});
    CHECK_FALSE(table.find(0x2fff));
    CHECK(table.find(0x3000)->doorbells == doorbells + 0x2000);
    table.remove(0, 0x10000);
    CHECK(ranges(table).empty());
}

TEST_CASE("mappings and unmappings in any order leave the same pages as a set of pages", "[check][mappings]") {
    MappingTable table;
    std::vector<bool> pages(64);
    std::mt19937 random(3);
    for (int n = 0; n < 2000; ++n) {
        const std::uint64_t begin = random() % 64, end = begin + 1 + random() % (64 - begin);
        table.remove(begin << 12, end << 12);
        const bool adds = random() % 2 != 0;
        if (adds) table.add({begin << 12, end << 12, nullptr});
        for (std::uint64_t page = begin; page < end; ++page) pages[page] = adds;
        for (std::uint64_t page = 0; page < 64; ++page) REQUIRE(table.find(page << 12).has_value() == pages[page]);
    }
}
