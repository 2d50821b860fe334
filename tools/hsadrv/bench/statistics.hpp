// Summary of samples: the median and the spread.
//
//     const Summary time = summarize(samples_ns);
//     printf("%g (%g to %g) of %zu", time.median, time.p5, time.p95, time.samples);
//
// Percentiles interpolate linearly between samples, as NumPy's do by default (Hyndman and Fan's type 7). Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace hsadrv_bench {

struct Summary {
    double median = 0, p5 = 0, p95 = 0;
    std::size_t samples = 0;
};

/// `part` from 0 to 1; the samples in ascending order, at least one.
double percentile(const std::vector<double>& sorted, double part);

/// All zero for no samples.
Summary summarize(std::vector<double> samples);

/// `work` per second for such times; p5 is the slow end, from p95 of the times.
Summary rate_of(double work, const Summary& time_ns);

}  // namespace hsadrv_bench
