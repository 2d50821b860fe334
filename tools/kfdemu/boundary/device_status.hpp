// Makes stat() report device files as character devices with the kernel's device numbers.
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tools/kfdemu/kfd/device.hpp"

namespace kfdemu {

inline void describe_device(struct stat& status, unsigned major_number, unsigned minor_number) {
    status.st_mode = S_IFCHR | 0666;
    status.st_rdev = makedev(major_number, minor_number);
    status.st_size = 0;
}

/// Corrects the result of fstat() if it describes a device file. Returns whether it does.
inline bool correct(struct stat* status) {
    Device* device = Device::existing();
    if (!device || !S_ISREG(status->st_mode)) return false;
    if (device->is_kfd(*status)) return describe_device(*status, kKfdMajor, 0), true;
    const Gpu* gpu = device->gpu_of(*status);
    if (gpu) describe_device(*status, kDrmMajor, gpu->render_minor);
    return gpu != nullptr;
}

}  // namespace kfdemu
