// Internal: refuses an argument with the call's name and numbers.
//
//   refuse("hsadrv::VirtualRange::map(4096 B at 0 B of 8192 B)", "no GPU was given");
#pragma once

#include <string>

#include "hsadrv/error.hpp"

namespace hsadrv::detail {

/// Throws InvalidArgument.
[[noreturn]] inline void refuse(const std::string& call, const std::string& why) {
    throw InvalidArgument(call + ": " + why, HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

}  // namespace hsadrv::detail
