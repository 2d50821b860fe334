// Internal: a launch as the C interface's structures describe it, read and checked.
//
//   const LaunchRequest request("hsadrv_kernel_launch", config, arguments, argument_count, deadline);
//   kernel.launch(stream, request.config(), request.arguments());
//
// Borrows: the bytes of values, until the launch returns. Keeps alive: the memory of arguments. Thread safety: a value.
// Throws: InvalidArgument and InvalidHandle naming the argument.
#pragma once

#include <span>
#include <vector>

#include "hsadrv/c/launch.h"
#include "hsadrv/launch.hpp"
#include "hsadrv/launch_argument.hpp"

namespace hsadrv::c {

class LaunchRequest {
  public:
    LaunchRequest(const char* call, const hsadrv_launch_config* config, const hsadrv_argument* arguments,
                  std::size_t argument_count, Deadline deadline);

    const LaunchConfig& config() const noexcept { return config_; }
    std::span<const LaunchArgument> arguments() const noexcept { return arguments_; }

  private:
    LaunchConfig config_;
    std::vector<LaunchArgument> arguments_;
};

}  // namespace hsadrv::c
