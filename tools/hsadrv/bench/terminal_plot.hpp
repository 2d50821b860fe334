// A Chart as text for a terminal.
//
//     text += terminal_plot(chart, session.terminal);
//
// Curves are drawn with braille patterns, bars with block elements; without UTF-8, with ASCII. The measured points of a
// curve are letters, explained by the legend; '*' marks several at one place. Pure.
#pragma once

#include <string>

#include "tools/hsadrv/bench/chart.hpp"
#include "tools/hsadrv/terminal.hpp"

namespace hsadrv_bench {

std::string terminal_plot(const Chart& chart, const hsadrv_tool::Terminal& terminal);

}  // namespace hsadrv_bench
