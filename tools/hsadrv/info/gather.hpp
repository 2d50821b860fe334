// Queries the HSA runtime for facts: the only place of hsadrv info and topo that does.
//
//     const hsadrv::Driver driver;
//     const Facts facts = gather(driver, {driver.gpus().front()});
//
// Thread safety: any thread. Throws: hsadrv::Error if a query that must succeed fails.
#pragma once

#include <vector>

#include "hsadrv/driver.hpp"
#include "tools/hsadrv/info/facts.hpp"

namespace hsadrv_tool {

/// Facts about those agents, and about the machine.
Facts gather(const hsadrv::Driver& driver, const std::vector<hsadrv::AgentRef>& agents);

}  // namespace hsadrv_tool
