// Facts as text and JSON. Pure.
//
//     session.print(session.json ? json_text(as_json(facts)) : as_short_text(facts, session.terminal));
//
// Thread safety: functions of values. Throws: bad_alloc alone.
#pragma once

#include <string>

#include "tools/hsadrv/info/facts.hpp"
#include "tools/hsadrv/json.hpp"
#include "tools/hsadrv/terminal.hpp"

namespace hsadrv_tool {

/// What people want at a glance: a few lines an agent.
std::string as_short_text(const Facts& facts, const Terminal& terminal);

/// Everything: rocminfo's report with its labels, order and spelling up to "*** Done ***", then what rocminfo does
/// not tell, where neither a label of rocminfo nor a name of its agents occurs again.
std::string as_full_text(const Facts& facts);

/// Everything, as docs/schema/info.v1.json says.
Json as_json(const Facts& facts);

/// The hops of a way between agents, nearest first: info's and topo's "hops".
Json hops_json(const std::vector<hsadrv::Link>& hops);

// The two halves of the full text.
std::string rocminfo_text(const Facts& facts);
std::string beyond_rocminfo_text(const Facts& facts);

}  // namespace hsadrv_tool
