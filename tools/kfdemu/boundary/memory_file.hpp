// A descriptor with a given content, which can only be read.
//
//     int fd = open_memory_file("kfdemu-sysfs", "1\n", 0444, O_CLOEXEC);     // -1: errno
//
// Thread safety: any thread.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace kfdemu {

/// `flags`: O_CLOEXEC, or not. The file's permissions are `mode`.
int open_memory_file(const char* name, std::string_view content, mode_t mode, int flags);

}  // namespace kfdemu
