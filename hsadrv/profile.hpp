// Begin and end times of kernels and copies, on the device's clock and on the host's.
//
//   hsadrv::Stream stream = gpu.stream({.profile = true});
//   …
//   hsadrv::Profile profile = stream.take_profile();
//   for (const hsadrv::ProfileRecord& r : profile.records)
//       std::printf("%s %ld ns\n", r.name.c_str(), r.duration().count());
//
// Thread safety: plain values. Source: hsa_ext_amd.h, hsa_amd_profiling_get_dispatch_time and
// hsa_amd_profiling_get_async_copy_time. For a trace of a whole program, see hsadrv trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "hsadrv/packet.hpp"

namespace hsadrv {

enum class CopyDirection : std::uint8_t { host_to_host, host_to_device, device_to_host, device_to_device };

/// "host to device"
const char* text_of(CopyDirection direction) noexcept;

struct ProfileRecord {
    enum class Kind : std::uint8_t { kernel, copy };
    Kind kind = Kind::kernel;
    bool failed = false;  ///< lost with its stream, or its engine reported an error: no times
    CopyDirection direction = CopyDirection::host_to_host;  ///< of a copy
    std::string name = {};                                  ///< the kernel's; of a copy, its direction
    Dim3 grid = {}, workgroup = {};                         ///< of a kernel: work-items
    std::uint64_t bytes = 0;                                ///< of a copy
    /// Device times on the runtime's clock, Driver::timestamp(). Both zero: the device reported no times.
    std::uint64_t begin_ticks = 0, end_ticks = 0;
    std::chrono::steady_clock::time_point begin = {}, end = {};  ///< the same times on the host's clock

    std::chrono::nanoseconds duration() const noexcept { return end - begin; }
};

/// The records of a stream, in its order.
struct Profile {
    std::string stream = {};  ///< its name in messages
    std::vector<ProfileRecord> records = {};
    std::uint64_t dropped = 0;  ///< older records, for lack of room since the last take_profile()
};

}  // namespace hsadrv
