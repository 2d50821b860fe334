// Examination: tries a GPU: load code, run a queue, raise interrupts, copy, compute.
//
//     examine(driver.gpu("0"), std::chrono::seconds(30));      // says a row for each step; in the child
//
// Prints {"begun": …} before each step, so that a step that never ends can be named. Every wait has a quarter of the
// limit. Steps that depend on a fault are skipped. Thread safety: one thread. Throws: none of hsadrv's errors.
#pragma once

#include <chrono>

#include "hsadrv/agent.hpp"

namespace hsadrv_tool::doctor {

void examine(hsadrv::AgentRef gpu, std::chrono::seconds limit);

}  // namespace hsadrv_tool::doctor
