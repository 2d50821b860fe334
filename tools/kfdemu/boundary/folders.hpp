// Descriptors of emulated directories, as open() with O_DIRECTORY returns them: memfds that hold the directory's path.
// A descriptor carries all that is known of it, so dup(), fork() and close() need no interposition.
//
// Thread safety: every function, any thread.
#pragma once

#include <sys/stat.h>

#include <string>

#include "tools/kfdemu/boundary/sysfs.hpp"

namespace kfdemu {

/// A descriptor of the directory, or -1 with errno.
int open_folder(const sysfs::Directory& directory, int flags);

/// The path of the emulated directory that `fd` refers to, or "". Costs one load if none was ever opened.
std::string folder_path(int fd);

/// Corrects the result of fstat() if `fd` refers to an emulated directory.
void correct_folder(int fd, struct stat* status);

/// What a path relative to a descriptor names.
struct AtPath {
    std::string absolute;  ///< if the descriptor is of an emulated directory
    const char* path;      ///< for libc's function
    std::optional<sysfs::Entry> entry;

    AtPath(int folder, const char* path);
};

}  // namespace kfdemu
