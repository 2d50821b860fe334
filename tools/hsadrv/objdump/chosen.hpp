// Selects from the files' contents: entries by target, kernels by name; computes each kernel's occupancy.
//
//     Facts facts = choose(std::move(all_contents), options);   // Failure(usage): there is no such kernel; there are …
//
// Pure. Thread safety: no state.
#pragma once

#include "tools/hsadrv/objdump/facts.hpp"
#include "tools/hsadrv/objdump/options.hpp"

namespace hsadrv_tool::objdump {

/// Throws Failure(usage) for a target or a kernel that no file has, listing those that exist, and for a work-group or
/// LDS that every kernel refuses, with a launch's message. Files with an error are ignored.
Facts choose(std::vector<Contents> contents, const Options& options);

}  // namespace hsadrv_tool::objdump
