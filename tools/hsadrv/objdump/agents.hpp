// Whether each GPU of this machine loads each code object: the HSA runtime loads it.
//
//     ask_agents(facts, session);   // facts.agents, and each entry's answers; or facts.no_agent: the reason
//
// The runtime runs in a child process, with validated code objects. A crash or a hang of the runtime or the driver does
// not affect this tool; it is reported as the answer. Thread safety: one thread, before others start.
#pragma once

#include "tools/hsadrv/objdump/facts.hpp"
#include "tools/hsadrv/session.hpp"

namespace hsadrv_tool::objdump {

/// Throws Failure if --device is given and matches no GPU or several.
void ask_agents(Facts& facts, const Session& session);

}  // namespace hsadrv_tool::objdump
