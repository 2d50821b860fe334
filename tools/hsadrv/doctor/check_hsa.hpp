// Converts the children's messages to rows: whether the runtime starts, which GPUs it shows, the result of each GPU.
//
//     Rows rows = check_runtime(machine, heard);        // "runtime"
//     append(rows, check_gpu(heard, "gpu0 gfx90a"));    // "gpu"
//
// Pure functions. Thread safety: no state.
#pragma once

#include "tools/hsadrv/doctor/check.hpp"
#include "tools/hsadrv/doctor/probe.hpp"

namespace hsadrv_tool::doctor {

/// Fills Machine::opened; returns a row if the child that opened the files failed.
Rows take_opened(Machine& machine, const Heard& heard);

/// The start of the runtime, and its GPUs compared with those of KFD.
Rows check_runtime(const Machine& machine, const Heard& heard);
/// The labels of the GPUs that the runtime shows.
std::vector<std::string> labels_of(const Heard& heard);

Rows check_gpu(const Heard& heard, const std::string& label);

}  // namespace hsadrv_tool::doctor
