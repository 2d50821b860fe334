// The machine's agents and links as text, SVG, DOT and JSON. Pure.
//
//     session.print(as_svg(graph_of(facts)));
//
// Thread safety: functions of values. Throws: bad_alloc alone.
#pragma once

#include <string>

#include "tools/hsadrv/info/facts.hpp"
#include "tools/hsadrv/json.hpp"
#include "tools/hsadrv/terminal.hpp"
#include "tools/hsadrv/topo/graph.hpp"

namespace hsadrv_tool {

/// A drawing, its legend, and tables of the paths from each agent to each other's memory.
std::string as_topo_text(const Facts& facts, const Terminal& terminal);

/// A document of its own, in light and dark; CPUs above, each over the GPUs that are nearest to it.
std::string as_svg(const Graph& graph);

/// For Graphviz.
std::string as_dot(const Graph& graph);

/// As docs/schema/topo.v1.json says.
Json as_topo_json(const Facts& facts);

// The parts of the text.
std::string drawing_text(const Graph& graph, const Terminal& terminal);
std::string links_text(const Graph& graph);
std::string tables_text(const Facts& facts, const Terminal& terminal);

}  // namespace hsadrv_tool
