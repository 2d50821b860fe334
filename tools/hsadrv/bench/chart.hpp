// Chart: a report as curves or bars, independent of the output format.
//
//     for (const Chart& chart : charts_of(report)) …
//     const LogAxis axis = LogAxis::around(1.3, 870);      // 1 to 1000
//     axis.place(10)                                       // 1/3
//
// Rows with sizes become curves over the size, on logarithmic axes; other rows become bars from zero. Each unit has its
// own chart. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tools/hsadrv/bench/report.hpp"

namespace hsadrv_bench {

struct ChartPoint {
    double x = 0, y = 0, low = 0, high = 0;  ///< low and high: p5 and p95
};

struct Curve {
    std::string name;
    std::vector<ChartPoint> points;  ///< by ascending x
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

/// A logarithmic axis of whole decades, or of parts of a decade if it is short.
struct LogAxis {
    double low = 1, high = 10;

    /// Values above zero; `high` may equal `low`.
    static LogAxis around(double low, double high);
    double place(double value) const;
    /// At 1, 10, 100 …, or at 1, 2, 5, 10 … on an axis of less than two decades.
    std::vector<Tick> ticks() const;
};

/// The axis of sizes: it ends at the smallest and largest size and has ticks at up to `most` of them.
LogAxis size_axis(const Chart& chart);
std::vector<Tick> size_ticks(const Chart& chart, std::size_t most);
LogAxis value_axis(const Chart& chart);

/// The end of an axis from zero that shows all bars; its quarters are short numbers.
double bar_limit(const Chart& chart);

}  // namespace hsadrv_bench
