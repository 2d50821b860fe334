// A BenchReport as a table for people, and as CSV.
//
//     session.print(as_table(report, session.terminal));
//     session.print(as_csv(report));
//
// Pure functions. CSV: RFC 4180 with LF, a header line, one line per row, empty fields for missing values.
#pragma once

#include <string>

#include "tools/hsadrv/bench/report.hpp"
#include "tools/hsadrv/terminal.hpp"

namespace hsadrv_bench {

/// Three or four significant digits, never in the form 1e+06.
std::string figure(double value);

/// "12.3 us", "1.5 ms"
std::string time_text(double ns);

/// "pinned to device, engine 1, 4 KiB"
std::string title_of(const Row& row);

std::string as_table(const BenchReport& report, const hsadrv_tool::Terminal& terminal);
std::string as_csv(const BenchReport& report);

}  // namespace hsadrv_bench
