// What of the files' contents was asked for: entries by target, kernels by name, each kernel's occupancy.
//
//     Facts facts = choose(std::move(all_contents), options);   // Failure(usage): there is no such kernel; there are …
//
// Pure. Thread safety: no state.
#pragma once

#include "facts.hpp"
#include "options.hpp"

namespace hsadrv_tool::objdump {

/// Throws Failure(usage) for a target or a kernel that no file has, listing what there is, and for a work-group or LDS
/// that none of the kernels takes, in a launch's words. Files with an error have no say.
Facts choose(std::vector<Contents> contents, const Options& options);

}  // namespace hsadrv_tool::objdump
