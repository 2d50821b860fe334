// Charts as one SVG picture.
//
//     file.write(svg_plot(charts));
//
// Axes with units, a legend, the band from p5 to p95; no scripts; colours for light and dark backgrounds. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/hsadrv/bench/chart.hpp"

namespace hsadrv_bench {

std::string svg_plot(const std::vector<Chart>& charts);

}  // namespace hsadrv_bench
