#include "tools/kfdemu/boundary/memory_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace kfdemu {
namespace {

/// A sealed file, which no descriptor can write.
int make(const char* name, std::string_view content, mode_t mode) {
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()) && fchmod(fd, mode) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
        return fd;
    ::close(fd);
    return errno = EIO, -1;
}

}  // namespace

int open_memory_file(const char* name, std::string_view content, mode_t mode, int flags) {
    const int saved = errno;
    const int fd = make(name, content, mode);
    if (fd < 0) return -1;
    // memfd_create() returns a descriptor for writing, also of a sealed file: then write() fails with EPERM instead of
    // EBADF, and fcntl() tells O_RDWR. Without /proc it remains.
    const std::string path = fmt::format("/proc/self/fd/{}", fd);
    const auto again = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | (flags & O_CLOEXEC)));
    // The lowest free descriptor is promised: the first one, which the new open file takes over.
    const bool moved = again >= 0 && dup3(again, fd, flags & O_CLOEXEC) == fd;
    if (again >= 0) ::close(again);
    errno = saved;
    if (moved) return fd;
    if (!(flags & O_CLOEXEC)) fcntl(fd, F_SETFD, 0);
    return lseek(fd, 0, SEEK_SET) == 0 ? fd : (::close(fd), errno = EIO, -1);
}

}  // namespace kfdemu
