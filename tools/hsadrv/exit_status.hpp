// The exit statuses of hsadrv, as hsadrv(1) documents them.
#pragma once

#include "tools/common/failure.hpp"

namespace hsadrv_tool {

namespace exit_status {
constexpr int done = static_cast<int>(tools::ExitStatus::done);
constexpr int not_right = 1;  ///< the doctor found a fault, a test failed, a measured result was wrong
constexpr int usage = static_cast<int>(tools::ExitStatus::usage);
constexpr int no_device = 3;  ///< no GPU, or not the one that --device names
constexpr int files =
    static_cast<int>(tools::ExitStatus::files);  ///< a file is not readable, not writable or malformed
constexpr int runtime = 5;                       ///< the HSA runtime failed
}  // namespace exit_status

}  // namespace hsadrv_tool
