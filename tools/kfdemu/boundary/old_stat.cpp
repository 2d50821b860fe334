// Interposed __xstat() and its relatives: stat() and its relatives in programs that were linked to glibc before 2.33.
#undef _FILE_OFFSET_BITS  // stat and stat64 are both used here

#include <sys/stat.h>

#include <cerrno>

#include "tools/kfdemu/boundary/libc.hpp"

namespace {

/// On x86-64 both versions, the kernel's and libc's, have the layout of struct stat.
bool is_known(int version) { return version == 0 || version == 1 || (errno = EINVAL, false); }

}  // namespace

EXPORT int __xstat(int version, const char* path, struct stat* status) noexcept {
    return is_known(version) ? stat(path, status) : -1;
}

EXPORT int __xstat64(int version, const char* path, struct stat64* status) noexcept {
    return is_known(version) ? stat64(path, status) : -1;
}

EXPORT int __lxstat(int version, const char* path, struct stat* status) noexcept {
    return is_known(version) ? lstat(path, status) : -1;
}

EXPORT int __lxstat64(int version, const char* path, struct stat64* status) noexcept {
    return is_known(version) ? lstat64(path, status) : -1;
}

EXPORT int __fxstat(int version, int fd, struct stat* status) noexcept {
    return is_known(version) ? fstat(fd, status) : -1;
}

EXPORT int __fxstat64(int version, int fd, struct stat64* status) noexcept {
    return is_known(version) ? fstat64(fd, status) : -1;
}

EXPORT int __fxstatat(int version, int folder, const char* path, struct stat* status, int flags) noexcept {
    return is_known(version) ? fstatat(folder, path, status, flags) : -1;
}

EXPORT int __fxstatat64(int version, int folder, const char* path, struct stat64* status, int flags) noexcept {
    return is_known(version) ? fstatat64(folder, path, status, flags) : -1;
}
