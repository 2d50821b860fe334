// Build: compiles the sources to one file, and reads back its contents.
//
//     const Made made = build(options, targets, clang, interruptions, log);   // options.output now exists
//
// Throws Failure or Interrupted; options.output and options.depfile are then unchanged, and temporary files are
// removed.
#pragma once

#include <span>

#include "hsadrv/compile/clang.hpp"
#include "hsadrv/target_id.hpp"
#include "tools/common/process.hpp"
#include "tools/hsadrv-cc/options.hpp"
#include "tools/hsadrv-cc/report.hpp"

namespace hsadrv_cc {

using hsadrv::detail::Clang;
using hsadrv::detail::Log;
using tools::Interruptions;

/// Whether the output is a bundle of code objects, or a single code object.
bool makes_bundle(const Options& options, std::span<const hsadrv::TargetId> targets);

/// For a bundle, `clang` has a bundler. `log` is called with each command before it runs.
Made build(const Options& options, std::span<const hsadrv::TargetId> targets, const Clang& clang,
           const Interruptions& interruptions, const Log& log);

/// Runs programs that report about themselves.
hsadrv::detail::Ask ask_with(const Interruptions& interruptions);

}  // namespace hsadrv_cc
