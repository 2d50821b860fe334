// What is told of many samples: the median and how far they spread.
//
//     const Summary time = summarize(samples_ns);
//     printf("%g (%g to %g) of %zu", time.median, time.p5, time.p95, time.samples);
//
// Percentiles lie between samples in proportion, as NumPy's do by default (Hyndman and Fan's type 7). Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace hsadrv_bench {

struct Summary {
    double median = 0, p5 = 0, p95 = 0;
    std::size_t samples = 0;
};

/// `part` from 0 to 1; the samples in rising order, one at least.
double percentile(const std::vector<double>& sorted, double part);

/// All zero for no samples.
Summary summarize(std::vector<double> samples);

/// The rates at which `work` was done in such times, a second: the slow end of the times is p5 here.
Summary rate_of(double work, const Summary& time_ns);

}  // namespace hsadrv_bench
