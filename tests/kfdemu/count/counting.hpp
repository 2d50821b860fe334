// A GPU that counts what kernels of this folder execute.
//
//     on_each_target("accesses", [](Counting& gpu) {
//         gpu.code.launch("copy", {.grid = {64}, .group = {64}}, in, out);
//         CHECK(gpu.only().waves == 1);
//     });
#pragma once

#include "tests/kfdemu/dispatch/machine.hpp"
#include "tools/kfdemu/count/listing.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace count_test {

using namespace dispatch_test;
using namespace kfdemu::count;

struct Counting {
    Counting(Target target, const char* source) : machine{target}, code{machine.load(source, "O2")} {
        machine.counts = &counts;
    }

    /// That execute so many work-items.
    std::uint64_t waves(std::uint64_t items) const { return items / machine.lanes(); }
    /// By whole lines.
    Traffic traffic(std::uint64_t accesses, std::uint64_t bytes, std::uint64_t moved) const {
        const unsigned line = kfdemu::isa::traits_of(machine.target()).vector_line_bytes;
        return {accesses, bytes, moved / line, line};
    }

    ListedKernel only() const {
        const Listing listing = list(1, "test", counts.totals());
        REQUIRE(listing.kernels.size() == 1);
        return listing.kernels[0];
    }

    KernelCounts counts;
    Machine machine;
    CodeObject code;
};

template <class Test>
void on_each_target(const char* source, Test&& test) {
    for (const Target target : targets()) {
        INFO(kfdemu::isa::name(target));
        Counting gpu{target, source};
        test(gpu);
    }
}

inline std::uint64_t executed(const ListedKernel& kernel, Kind kind) {
    return kernel.executed[static_cast<std::size_t>(kind)];
}

/// The sums of all instructions whose text begins so, or so on GFX11; there has to be one.
inline Sums sums_of(const ListedKernel& kernel, std::string_view beginning, std::string_view on_gfx11) {
    Sums sums;
    for (const ListedInstruction& each : kernel.instructions)
        if (each.text.starts_with(beginning) || each.text.starts_with(on_gfx11)) sums += each.sums;
    INFO(beginning);
    REQUIRE(sums.executions != 0);
    return sums;
}

}  // namespace count_test
