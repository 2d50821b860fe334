// Chart: what is drawn of a report, before it is decided on what.
//
//     for (const Chart& chart : charts_of(report)) …
//     const LogAxis axis = LogAxis::around(1.3, 870);      // 1 to 1000
//     axis.place(10)                                       // 1/3
//
// Rows with sizes become curves over the size, on logarithmic axes, the others bars from zero; what is read in
// different units, a chart each. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "report.hpp"

namespace hsadrv_bench {

struct ChartPoint {
    double x = 0, y = 0, low = 0, high = 0;  ///< low and high: p5 and p95
};

struct Curve {
    std::string name;
    std::vector<ChartPoint> points;  ///< x rising
};

struct Bar {
    std::string name;
    double value = 0, low = 0, high = 0;
};

/// Either curves or bars.
struct Chart {
    std::string title;    ///< "copy on gpu0 gfx90a"
    std::string y_label;  ///< "GB/s"
    std::string hint;     ///< "higher is better"
    std::vector<Curve> curves = {};
    std::vector<Bar> bars = {};
};

std::vector<Chart> charts_of(const BenchReport& report);

struct Tick {
    double value, place;  ///< place: from 0 to 1
    std::string label;
};

/// A logarithmic axis of whole decades or, for a short one, of parts of them.
struct LogAxis {
    double low = 1, high = 10;

    /// Values above zero; `high` may be `low`.
    static LogAxis around(double low, double high);
    double place(double value) const;
    /// At 1, 10, 100 …, or at 1, 2, 5, 10 … on an axis of less than two decades.
    std::vector<Tick> ticks() const;
};

/// The axis of sizes: its ends are the sizes themselves, its ticks are some of them, `most` or fewer.
LogAxis size_axis(const Chart& chart);
std::vector<Tick> size_ticks(const Chart& chart, std::size_t most);
LogAxis value_axis(const Chart& chart);

/// The end of an axis from zero that shows all bars; its quarters are short numbers.
double bar_limit(const Chart& chart);

}  // namespace hsadrv_bench
