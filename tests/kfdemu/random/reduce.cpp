#include "tests/kfdemu/random/reduce.hpp"

#include <algorithm>

namespace random_programs {

Reduced reduce(Reduced reduced, const Setting& setting, const std::string& path, const std::string& host_clang,
               std::chrono::steady_clock::time_point until) {
    constexpr std::size_t kAtOnce = 60;
    while (std::chrono::steady_clock::now() < until) {
        std::vector<Program> candidates = reduced.program.smaller();
        std::erase_if(candidates, [&](const Program& p) { return p.size() >= reduced.program.size(); });
        std::sort(candidates.begin(), candidates.end(),
                  [](const Program& a, const Program& b) { return a.size() < b.size(); });
        bool found = false;
        for (std::size_t from = 0; from < candidates.size() && !found; from += kAtOnce) {
            const auto first = candidates.begin() + static_cast<std::ptrdiff_t>(from);
            const std::vector<Program> batch(
                first, first + static_cast<std::ptrdiff_t>(std::min(kAtOnce, candidates.size() - from)));
            Unit unit{path, batch, host_clang, wave_macros(setting)};
            for (const Difference& d : unit.run(setting)) {
                if (d.not_compiled || d.undecided) continue;
                reduced = {batch[d.program], d.what};
                found = true;
                break;
            }
            if (std::chrono::steady_clock::now() >= until) break;
        }
        if (!found) break;
    }
    return reduced;
}

}  // namespace random_programs
