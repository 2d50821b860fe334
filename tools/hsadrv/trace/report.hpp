// The report of a trace, as text, JSON and a drawing. Pure.
#pragma once

#include <string>

#include "tools/hsadrv/json.hpp"
#include "tools/hsadrv/terminal.hpp"
#include "tools/trace/report/summary.hpp"

namespace hsadrv_tool::trace {

/// `most`: lines of each table; 0: all.
std::string as_text(const ::trace::Summary& summary, const Terminal& terminal, unsigned most);
Json as_json(const ::trace::Summary& summary);
/// The work of each queue over time.
std::string as_svg(const ::trace::Events& events);

}  // namespace hsadrv_tool::trace
