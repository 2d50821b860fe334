// Build: from sources to one file, and what is in it.
//
//     const Made made = build(options, targets, clang, interruptions, log);   // options.output is there now
//
// Throws Failure, or Interrupted; options.output and options.depfile are then what they were, and no temporary file
// is left.
#pragma once

#include <span>

#include "clang.hpp"
#include "hsadrv/target_id.hpp"
#include "options.hpp"
#include "report.hpp"
#include "tools/common/process.hpp"

namespace hsadrv_cc {

/// `log` hears of each command before it runs.
Made build(const Options& options, std::span<const hsadrv::TargetId> targets, const Clang& clang,
           const Interruptions& interruptions, const Log& log);

}  // namespace hsadrv_cc
