// How counters are written.
#include "tools/kfdemu/count/listing.hpp"

#include "tests/support/catch.hpp"

using namespace kfdemu::count;
using test_support::Contains;

namespace {

Listing example() {
    Sums sums;
    sums.executions = 16, sums.lanes = 1000, sums.partial = 8;
    sums.memory = {16, 4000, 63, 64};
    ListedKernel kernel;
    kernel.name = "fill<a & b>", kernel.kernel_object = 0x1000;
    kernel.dispatches = 1, kernel.groups = 4, kernel.waves = 16, kernel.lanes = 64;
    kernel.total = kernel.vector = sums;
    kernel.executed[static_cast<std::size_t>(Kind::VmemStore)] = 16;
    kernel.lines.push_back({"/a/fill.cl", 4, sums});
    kernel.instructions.push_back(
        {0x1638, "global_store_dword v[0:1], v2, off", Kind::VmemStore, "fill", {{"fill", "/a/fill.cl", 4}}, sums});
    return {12, "/bin/program", {kernel}};
}

}  // namespace

TEST_CASE("counters as text", "[kfdemu][count]") {
    const std::string text = to_text(example());
    CHECK_THAT(text, Contains("fill<a & b>: 1 dispatch, 4 work-groups, 16 waves\n"));
    CHECK_THAT(text, Contains("executed 16 instructions: 16 vmem-store\n"));
    CHECK_THAT(text, Contains("lanes    62.50 of 64 in a vector instruction, fewer than 64 in 8\n"));
    CHECK_THAT(text,
               Contains("memory   16 accesses, 4000 bytes asked for, 63 transactions of 64 bytes: coalescing 0.99\n"));
    CHECK_THAT(text, Contains("1638: global_store_dword v[0:1], v2, off  ; fill.cl:4\n"));
}

TEST_CASE("counters as JSON", "[kfdemu][count]") {
    const std::string text = to_json(example());
    CHECK_THAT(text, Contains(R"({"version": 1, "process": 12, "program": "/bin/program", "kernels": [)"));
    CHECK_THAT(text, Contains(R"("waves": 16, "wave_lanes": 64, "mean_lanes": 62.5000)"));
    CHECK_THAT(text,
               Contains(R"("memory": {"accesses": 16, "bytes": 4000, "transactions": 63, "coalescing": 0.9921})"));
    CHECK_THAT(text, Contains(R"("offset": 5688, "instruction": "global_store_dword v[0:1], v2, off")"));
}

TEST_CASE("counters as a page", "[kfdemu][count]") {
    const std::string text = to_html(example());
    CHECK_THAT(text, Contains("<h2>fill&lt;a &amp; b></h2>"));
    CHECK_THAT(text, Contains("fill.cl:4</td></tr>"));
    CHECK_THAT(text, !Contains("src="));
}

TEST_CASE("waves of 32 lanes, and their lines, in each format", "[kfdemu][count]") {
    Listing listing = example();
    listing.kernels[0].lanes = 32;
    listing.kernels[0].total.memory = {16, 4000, 32, 128};
    CHECK_THAT(to_text(listing), Contains("of 32 in a vector instruction, fewer than 32 in 8\n"));
    CHECK_THAT(to_text(listing), Contains("32 transactions of 128 bytes: coalescing 0.98\n"));
    CHECK_THAT(to_json(listing), Contains(R"("wave_lanes": 32)"));
    CHECK_THAT(to_html(listing), Contains("of 32 lanes active"));
}

TEST_CASE("the page and the text have the same coalescing", "[kfdemu][count]") {
    Listing listing = example();
    listing.kernels[0].lines[0].sums.scratch = {16, 3072, 64, 64};  // with memory: 7072 bytes in 127 transactions
    CHECK_THAT(to_text(listing), Contains("127       0.87"));
    CHECK_THAT(to_html(listing), Contains(">127</td><td>0.87</td>"));
}
