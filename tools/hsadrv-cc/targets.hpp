// Target selection: the command line's targets, or this machine's GPUs.
//
//     std::vector<TargetId> targets = given.empty() ? targets_of_this_machine() : parse_targets(given);
//
// No HSA: the machine's GPUs are read from the driver's topology in sysfs. Throws Failure. Thread safety: no state.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hsadrv/target_id.hpp"
#include "tools/common/processor.hpp"

namespace hsadrv_cc {

using tools::processor_of;

/// Each target once, in the order given. Throws Failure, like clang for HIP, if a processor's feature is set in one
/// target and unspecified in another: both would run on the same GPU.
std::vector<hsadrv::TargetId> parse_targets(std::span<const std::string> texts);

/// The processors of this machine's GPUs, each once. Throws Failure if there is none.
std::vector<hsadrv::TargetId> targets_of_this_machine();

}  // namespace hsadrv_cc
