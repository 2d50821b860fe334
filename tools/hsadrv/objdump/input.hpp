// The bytes of a file, or of standard input.
//
//     Bytes bytes = read_input("-");
//
// Reads to the end, or throws hsadrv::Error with the file and the reason: missing, no permission, a folder, a pipe
// (other than standard input), more than 2 GiB. Thread safety: no state.
#pragma once

#include <string>

#include "tools/hsadrv/objdump/contents.hpp"

namespace hsadrv_tool::objdump {

/// "standard input" for "-".
std::string input_name(const std::string& file);

Bytes read_input(const std::string& file);

}  // namespace hsadrv_tool::objdump
