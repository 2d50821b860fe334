// The ways to launch a kernel that hsadrv bench launch compares.
//
//     LaunchWays ways(gpu, options);
//     for (const std::unique_ptr<LaunchWay>& way : ways.all()) way->launch(256), way->wait();
//
// The kernel takes 56 bytes of arguments and stores their sum, which verifies launches. "raw AQL" writes packets into
// its own queue, as an author of a runtime would: reserve, arguments, packet, doorbell, through hsadrv's Queue, which
// makes no call into the runtime for these steps. Owns: streams, queue, memory. Thread safety: one thread. Throws:
// Failure if the device hangs.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "hsadrv/hsadrv.hpp"

namespace hsadrv_bench {

/// One kernel and the memory that its launches write to.
struct LaunchTarget {
    hsadrv::AgentRef gpu;
    hsadrv::Kernel kernel;
    std::uint32_t* out;
    unsigned batch;
    std::chrono::nanoseconds timeout;

    static constexpr std::uint32_t workitems = 64;
    static constexpr std::uint64_t rest[] = {2, 3, 4, 5, 6};  ///< of the arguments
    static constexpr std::uint64_t rest_sum = 20;
};

class LaunchWay {
  public:
    virtual ~LaunchWay() = default;
    virtual const char* word() const = 0;
    virtual const char* name() const = 0;
    /// Launches once, or a whole batch. The last launch sets `out` to its argument plus rest_sum.
    virtual void launch_one(std::uint64_t argument) = 0;
    virtual void launch_batch(std::uint64_t argument) = 0;
    virtual void wait() = 0;
};

/// The first is the baseline of the others.
std::vector<std::unique_ptr<LaunchWay>> launch_ways(const LaunchTarget& target);

}  // namespace hsadrv_bench
