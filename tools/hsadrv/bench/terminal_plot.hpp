// A Chart in the characters of a terminal.
//
//     text += terminal_plot(chart, session.terminal);
//
// Curves are drawn with dots of braille patterns, bars with blocks; where the terminal has no UTF-8, with ASCII. A
// curve's measured points are letters, which its legend explains: '*' where several meet. Pure.
#pragma once

#include <string>

#include "chart.hpp"
#include "terminal.hpp"

namespace hsadrv_bench {

std::string terminal_plot(const Chart& chart, const hsadrv_tool::Terminal& terminal);

}  // namespace hsadrv_bench
