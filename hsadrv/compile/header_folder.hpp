// Internal: the folder of the headers for kernels: in the source tree for a build folder, otherwise where they are
// installed.
//
//     command.push_back("-isystem" + header_folder(folder_of_this_library()));   // shared/device/device.hpp is in it
//
// Thread safety: no state.
#pragma once

#include <string>

namespace hsadrv::detail {

/// `here`: the folder of the program or library that asks. Throws Error, naming the folders searched.
std::string header_folder(const std::string& here);

/// The folder of the library, or of the program if that holds it.
std::string folder_of_this_library();

}  // namespace hsadrv::detail
