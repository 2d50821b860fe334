// Says so if the HSA runtime of this process is too old for the emulated model: it only prints "unrecognized id", or
// nothing.
//
//     say_if_runtime_is_older(model);    // when the device is first used
//
// A runtime names each processor that it knows in its ISA registry, as text.
#pragma once

#include "tools/kfdemu/base/model.hpp"

namespace kfdemu {

/// Logs an error that names both and a release that knows the model. Nothing if no runtime is loaded.
void say_if_runtime_is_older(const Model& model);

}  // namespace kfdemu
