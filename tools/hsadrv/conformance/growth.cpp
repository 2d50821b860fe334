#include <fmt/format.h>

#include "tools/hsadrv/conformance/runner.hpp"

namespace hsadrv_tool {

std::string growth(const std::vector<Round>& rounds, StressRounds& stress) {
    constexpr std::size_t warm = 2;  // rounds, until everything has its size
    if (rounds.size() < 2 * warm) return "";
    const StressRounds::Footprint before = rounds[warm - 1].footprint, after = rounds.back().footprint;
    stress.before = before;
    stress.after = after;
    std::string text;
    if (after.descriptors > before.descriptors)
        text = fmt::format("{} descriptors more than {} rounds before", after.descriptors - before.descriptors,
                           rounds.size() - warm);
    const long allowed_kb = 16 * 1024;  // heaps of threads come and go
    if (after.resident_kb > before.resident_kb + allowed_kb)
        text += fmt::format("{}{} KiB of memory more than {} rounds before", text.empty() ? "" : "\n",
                            after.resident_kb - before.resident_kb, rounds.size() - warm);
    return text;
}

}  // namespace hsadrv_tool
