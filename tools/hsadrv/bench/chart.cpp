#include "tools/hsadrv/bench/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/hsadrv/bench/report_text.hpp"
#include "tools/hsadrv/bench/sizes.hpp"

namespace hsadrv_bench {
namespace {

struct Scale {
    const char* label;
    double one;
    const char* hint;
};

Scale scale_of(const Row& row) {
    if (row.reading == Reading::time) return {"time (us)", 1e3, "lower is better"};
    switch (row.work) {
        case Work::bytes:
            return {"GB/s", 1e9, "higher is better"};
        case Work::operations:
            return {"GFLOP/s", 1e9, "higher is better"};
        case Work::launches:
            return {"launches/s", 1, "higher is better"};
        case Work::pairs:
            return {"pairs/s", 1, "higher is better"};
    }
    return {"", 1, ""};
}

ChartPoint point_of(const Row& row) {
    const Summary value = row.reading == Reading::rate ? row.rate() : row.time_each_ns();
    const double one = scale_of(row).one;
    return {static_cast<double>(row.size_bytes.value_or(0)), value.median / one, value.p5 / one, value.p95 / one};
}

void add(Chart& chart, const Row& row) {
    const std::string name = row.name + (row.engine.empty() || row.engine == "auto" ? "" : ", engine " + row.engine);
    const ChartPoint point = point_of(row);
    if (!row.size_bytes) return chart.bars.push_back({name, point.y, point.low, point.high});
    auto curve = std::find_if(chart.curves.begin(), chart.curves.end(), [&](const Curve& c) { return c.name == name; });
    if (curve == chart.curves.end()) curve = chart.curves.insert(curve, Curve{name, {}});
    const auto place = std::lower_bound(curve->points.begin(), curve->points.end(), point.x,
                                        [](const ChartPoint& p, double x) { return p.x < x; });
    curve->points.insert(place, point);
}

}  // namespace

std::vector<Chart> charts_of(const BenchReport& report) {
    std::vector<Chart> charts;
    for (const Row& row : report.rows) {
        const Scale scale = scale_of(row);
        auto chart = std::find_if(charts.begin(), charts.end(), [&](const Chart& c) {
            return c.y_label == scale.label && c.curves.empty() == !row.size_bytes;
        });
        if (chart == charts.end())
            chart = charts.insert(chart, Chart{report.benchmark + " on " + report.device, scale.label, scale.hint});
        add(*chart, row);
    }
    return charts;
}

LogAxis LogAxis::around(double low, double high) {
    low = std::max(low, 1e-12);
    high = std::max(high, low);
    const double below = std::pow(10, std::floor(std::log10(low) + 1e-9));
    const double above = std::pow(10, std::ceil(std::log10(high) - 1e-9));
    return {below, above > below ? above : below * 10};
}

double LogAxis::place(double value) const {
    if (high <= low) return 0.5;
    return std::clamp(std::log(std::max(value, 1e-300) / low) / std::log(high / low), 0.0, 1.0);
}

std::vector<Tick> LogAxis::ticks() const {
    std::vector<Tick> ticks;
    const bool parts = std::log10(high / low) < 2;
    for (int decade = static_cast<int>(std::lround(std::log10(low)));; ++decade)
        for (const int digit : {1, 2, 5}) {
            const double value = digit * std::pow(10, decade);
            if (value > high * (1 + 1e-9)) return ticks;
            if (digit == 1 || parts) ticks.push_back({value, place(value), fmt::format("{:.12g}", value)});
        }
}

LogAxis size_axis(const Chart& chart) {
    double low = HUGE_VAL, high = 0;
    for (const Curve& curve : chart.curves) {
        low = std::min(low, curve.points.front().x);
        high = std::max(high, curve.points.back().x);
    }
    return {low, high};
}

std::vector<Tick> size_ticks(const Chart& chart, std::size_t most) {
    std::set<double> sizes;
    for (const Curve& curve : chart.curves)
        for (const ChartPoint& point : curve.points) sizes.insert(point.x);
    const std::size_t step = (sizes.size() + most - 1) / std::max<std::size_t>(most, 1);
    const LogAxis axis = size_axis(chart);
    std::vector<Tick> ticks;
    std::size_t index = 0;
    for (const double size : sizes)
        if (index++ % std::max<std::size_t>(step, 1) == 0)
            ticks.push_back({size, axis.place(size), size_text(static_cast<std::uint64_t>(size))});
    return ticks;
}

LogAxis value_axis(const Chart& chart) {
    double low = HUGE_VAL, high = 0;
    for (const Curve& curve : chart.curves)
        for (const ChartPoint& point : curve.points) {
            low = std::min(low, point.low);
            high = std::max(high, point.high);
        }
    return LogAxis::around(low, high);
}

double bar_limit(const Chart& chart) {
    double most = 0;
    for (const Bar& bar : chart.bars) most = std::max({most, bar.value, bar.high});
    if (most <= 0) return 1;
    const double decade = std::pow(10, std::floor(std::log10(most)));
    for (const double part : {1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (most <= part * decade) return part * decade;
    return 10 * decade;
}

}  // namespace hsadrv_bench
