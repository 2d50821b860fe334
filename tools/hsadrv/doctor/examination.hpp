// Examination: what a GPU can do, tried: load code, run a queue, raise interrupts, copy, compute.
//
//     examine(driver.gpu("0"), std::chrono::seconds(30));      // says a row for each step; in the child
//
// Says {"begun": …} before each step, so that one that never ends has a name. Every wait has a quarter of the limit.
// What cannot mean anything after a fault is skipped. Thread safety: one thread. Throws: nothing of hsadrv's.
#pragma once

#include <chrono>

#include "hsadrv/agent.hpp"

namespace hsadrv_tool::doctor {

void examine(hsadrv::AgentRef gpu, std::chrono::seconds limit);

}  // namespace hsadrv_tool::doctor
