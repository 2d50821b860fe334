// The folder of the headers for kernels: in the source tree for a build folder, otherwise where they are installed.
//
//     command.push_back("-isystem" + header_folder());   // shared/device/device.hpp is in it
//
// Thread safety: no state.
#pragma once

#include <string>

namespace hsadrv_cc {

/// Throws Failure, naming the folders searched.
std::string header_folder();

}  // namespace hsadrv_cc
