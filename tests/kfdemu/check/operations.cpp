// What `race` keeps of kernels and copies that have ended, and for how long.
#include "tools/kfdemu/check/race/operations.hpp"

#include "tests/kfdemu/check/checked.hpp"
#include "tools/kfdemu/check/process.hpp"
#include "tools/kfdemu/check/race/shadow_conflicts.hpp"
#include "tools/kfdemu/queues/checked_copy.hpp"

using namespace kfdemu::check;

namespace {

using Memory = std::weak_ptr<MemoryRaces>;

kfdemu::Checks race_alone() {
    kfdemu::Checks checks;
    checks.set(kfdemu::Check::race);
    return checks;
}

/// A kernel that runs alone; what is kept of it.
Memory run_kernel(Operations& operations, Report& report) {
    auto memory = std::make_shared<MemoryRaces>(kfdemu::isa::Target::gfx90a);
    const Memory kept = memory;
    auto kernel = operations.begin(operations.now(), Operations::Kernel{std::move(memory), {}, 0, 0, 0, 0});
    operations.end(kernel, report, nullptr);
    return kept;
}

}  // namespace

TEST_CASE("an operation is kept while a packet waits that was published before its end", "[check][operations]") {
    Operations operations;
    Report report;
    const int queue = 0;
    CHECK(run_kernel(operations, report).expired());
    operations.published(&queue);
    const Memory kept = run_kernel(operations, report);
    CHECK_FALSE(kept.expired());
    SECTION("until that packet has started") {
        operations.waits_since(&queue, 0);
        CHECK(kept.expired());
    }
    SECTION("or is known to start later") {
        operations.waits_since(&queue, operations.now());
        CHECK(kept.expired());
    }
}

TEST_CASE("a copy that a fault has ended keeps nothing", "[check][operations]") {
    ProcessChecks& process = process_checks();
    const auto before = process.enabled.exchange(race_alone().bits());
    kfdemu::CheckedCopy copy{0, nullptr};
    copy.begins(kfdemu::sdma::Fill{.destination = 0x1000, .size_bytes = 64, .value = 0, .unit_bytes = 4}, 0);
    const Memory kept = run_kernel(process.operations, process.report);
    CHECK_FALSE(kept.expired());
    copy.fails();
    CHECK(kept.expired());
    process.enabled = before;
}

namespace {

void write_pages(MemoryShadow& shadow, std::uint64_t va, std::uint64_t pages, std::uint32_t value) {
    for (; pages > 0; --pages, va += MemoryShadow::Page::kBytes) {
        MemoryShadow::Cell& cell = shadow.page(va)->cell(va);
        cell.write.group = 1;
        cell.write.bytes = 15;
        cell.value = value;
    }
}

}  // namespace

TEST_CASE("whichever of two kernels accessed more, the later access comes second", "[check][operations]") {
    MemoryShadow small, large;
    write_pages(small, 0x40000, 1, 5);
    write_pages(large, 0x40000, 100, 6);
    large.page(0x40000)->cell(0x40000).write.site = 7;
    const auto before = conflicts(small, large), after = conflicts(large, small);
    REQUIRE((before.size() == 1 && after.size() == 1));
    CHECK(before.front().va == 0x40000);
    CHECK(before.front().second.site == 7);
    CHECK(after.front().first.site == 7);
    CHECK(after.front().second.site == 0);
}

TEST_CASE("the bytes that two boxes share", "[check][operations]") {
    const auto line = [](std::uint64_t va, std::uint64_t bytes) { return Box{va, bytes, 0, 0, 1, 1}; };
    CHECK(common_byte(line(100, 10), line(109, 1)) == 109);
    CHECK_FALSE(common_byte(line(100, 10), line(110, 1)));
    // Two slices of three rows: 8 of 32 bytes, from 1000 on.
    const Box volume{1000, 8, 32, 128, 3, 2};
    CHECK(volume.end() == 1000 + 128 + 64 + 8);
    CHECK_FALSE(common_byte(volume, line(1008, 24)));
    CHECK(common_byte(volume, line(1008, 25)) == 1032);
    CHECK_FALSE(common_byte(volume, line(1072, 56)));  // between the slices
    CHECK(common_byte(line(1072, 100), volume) == 1128);
    CHECK_FALSE(common_byte(volume, line(1200, 100)));
    const Box beside{1008, 8, 32, 128, 3, 2}, over{1004, 8, 32, 128, 3, 2};
    CHECK_FALSE(common_byte(volume, beside));
    CHECK(common_byte(volume, over) == 1004);
    for (std::uint64_t va = 990; va < 1210; ++va) {
        const std::uint64_t offset = va - 1000;
        const bool inside = va >= 1000 && offset / 128 < 2 && offset % 128 / 32 < 3 && offset % 32 < 8;
        CHECK(volume.contains(va) == inside);
    }
}
