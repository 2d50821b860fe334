// Internal: diagnoses from the kernel's device file why the runtime finds no GPU.
//
//   throw NoDevice("hsa_init(): …; " + no_device_advice(DeviceFile::probe()));
//
// probe() opens /dev/kfd and queries its version; the rest formats text. Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>

namespace hsadrv::detail {

struct DeviceFile {
    int open_error = 0;  ///< errno of open("/dev/kfd"), or 0
    int ioctl_error = 0;
    std::uint32_t version_major = 0, version_minor = 0;  ///< of the kernel's KFD interface

    static DeviceFile probe() noexcept;
    /// The result and the remedy: "/dev/kfd: Permission denied (add this user to the groups render and video)".
    std::string text() const;
};

/// "tried: …, ROCR_VISIBLE_DEVICES=…. On a machine without an AMD GPU, …"
std::string no_device_advice(const DeviceFile& file);

/// The set environment variables that hide devices, each with its value; empty if none is set.
std::string hiding_variables();

}  // namespace hsadrv::detail
