// What is published for hardware, and what is counted here. docs/guide/counters.md has the sources.
#include "tests/kfdemu/count/counting.hpp"

using namespace count_test;

namespace {

/// Cycles of a wave whose lanes access `bytes` at multiples of `stride` times as many.
unsigned strided_cycles(unsigned bytes, unsigned stride, Direction direction) {
    Addresses at;
    for (std::uint64_t l = 0; l < at.size(); ++l) at[l] = l * stride * bytes;
    const unsigned passes = 2 * bytes / 4;
    return passes + bank_conflicts(at, ~std::uint64_t{0}, bytes, direction);
}

}  // namespace

// ROCm Compute Profiler, "LDS examples", on MI250: two cycles of access and no conflict for one work-item, and one
// conflict more for each further one.
TEST_CASE("each work-item that loads from the same bank costs a cycle", "[kfdemu][count]") {
    for (std::uint32_t items = 1; items <= 20; ++items) {
        on_each_target("published", [&](Counting& gpu) {
            INFO(items << " work-items");
            gpu.code.launch("same_bank", {.grid = {items}, .group = {items}}, gpu.machine.allocate<std::uint32_t>(64));
            CHECK(sums_of(gpu.only(), "ds_read_b32", "ds_load_b32").lds == LdsTraffic{1, items * 4, items - 1});
        });
    }
}

// ROCm/rocm-libraries#2157 models one SIMD, which accesses at most 64 bytes in a cycle. From a stride of two accesses
// on, its cycles are those of both halves of the LDS.
TEST_CASE("cycles of strided accesses", "[kfdemu][count]") {
    const struct {
        unsigned bytes;
        std::array<unsigned, 8> cycles;  // at strides of 1, 2, 4 … 128 accesses
    } rows[] = {
        {4, {4, 4, 8, 16, 32, 64, 64, 64}},
        {8, {8, 8, 16, 32, 64, 64, 64, 64}},
        {16, {16, 16, 32, 64, 64, 64, 64, 64}},
    };
    for (const auto& row : rows) {
        for (const Direction direction : {Direction::Load, Direction::Store}) {
            INFO(row.bytes << " bytes");
            CHECK(strided_cycles(row.bytes, 1, direction) * 2 == row.cycles[0]);
            for (unsigned n = 1; n < row.cycles.size(); ++n)
                CHECK(strided_cycles(row.bytes, 1u << n, direction) == row.cycles[n]);
        }
    }
}

// AMD's blog, and ROCm/rocm-libraries#11094 for gfx90a: ds_read_b128 serves lanes 0 to 3 with 20 to 23. Here they have
// rows 0 to 3 of a column, and rows 4 to 7 of the next. Passes of 8 consecutive lanes would conflict in 24 cycles, and
// in none if rows are padded by 16 bytes.
TEST_CASE("a load of a matrix operand from LDS", "[kfdemu][count]") {
    for (const char* name : {"operand_tight", "operand_padded"}) {
        on_each_target("published", [&](Counting& gpu) {
            INFO(name);
            gpu.code.launch(name, {.grid = {64}, .group = {64}}, gpu.machine.allocate<std::uint32_t>(64 * 4));
            CHECK(sums_of(gpu.only(), "ds_read_b128", "ds_load_b128").lds == LdsTraffic{gpu.waves(64), 1024, 8});
        });
    }
}

// ROCm/rocm-systems#5683, rocprof on gfx900: 17 VALU and 6 SALU instructions a wave. The code is not published; clang
// 14 to 19 compile 16 and 6.
TEST_CASE("instructions of a vector addition", "[kfdemu][count]") {
    for (const Target target : targets()) {
        if (target != Target::gfx900) continue;
        Counting gpu{target, "published"};
        auto* in = gpu.machine.allocate<float>(64 * 64);
        gpu.code.launch("vector_add", {.grid = {64, 64}, .group = {16, 16}}, gpu.machine.allocate<float>(64 * 64), in,
                        in, 64, 64);
        const ListedKernel kernel = gpu.only();
        CHECK(kernel.waves == 64);
        CHECK(executed(kernel, Kind::Salu) == 6 * kernel.waves);
        CHECK(executed(kernel, Kind::Valu) >= 16 * kernel.waves);
        CHECK(executed(kernel, Kind::Valu) <= 17 * kernel.waves);
        CHECK(kernel.total.memory.bytes == 3 * 64 * 64 * 4);
    }
}
