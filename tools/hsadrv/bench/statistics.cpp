#include "tools/hsadrv/bench/statistics.hpp"

#include <algorithm>

namespace hsadrv_bench {

double percentile(const std::vector<double>& sorted, double part) {
    const double place = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

Summary summarize(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    return {percentile(samples, 0.5), percentile(samples, 0.05), percentile(samples, 0.95), samples.size()};
}

Summary rate_of(double work, const Summary& time_ns) {
    const auto rate = [&](double ns) { return ns > 0 ? work * 1e9 / ns : 0; };
    return {rate(time_ns.median), rate(time_ns.p95), rate(time_ns.p5), time_ns.samples};
}

}  // namespace hsadrv_bench
