// Where the headers for kernels are: beside the source in a build folder, or where they were installed.
//
//     command.push_back("-isystem" + header_folder());   // shared/device/device.hpp is in it
//
// Thread safety: no state.
#pragma once

#include <string>

namespace hsadrv_cc {

/// Throws Failure naming the folders that were looked at.
std::string header_folder();

}  // namespace hsadrv_cc
