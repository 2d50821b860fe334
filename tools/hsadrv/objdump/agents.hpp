// Whether each GPU here loads each code object: the HSA runtime is asked, by loading it.
//
//     ask_agents(facts, session);   // facts.agents, and each entry's answers; or facts.no_agent: why nobody was asked
//
// The runtime is asked in a child of this process, and code objects have been validated before, so neither a crash nor
// a hang of runtime or driver is one of this tool: it is an answer. Thread safety: one thread, and before others start.
#pragma once

#include "../session.hpp"
#include "facts.hpp"

namespace hsadrv_tool::objdump {

/// Throws Failure if --device is given and no GPU, or more than one, is meant.
void ask_agents(Facts& facts, const Session& session);

}  // namespace hsadrv_tool::objdump
