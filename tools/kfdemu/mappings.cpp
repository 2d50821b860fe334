// mmap() of device files, as far as it is counted and can be made to fail. Nothing else about mappings is
// interposed: a device file is a memfd, whose mappings are the kernel's own business.
#undef _FILE_OFFSET_BITS

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "counters.hpp"
#include "device.hpp"
#include "injection.hpp"
#include "libc.hpp"


namespace kfdemu {
namespace {

/// 0, or why this mapping is refused.
int count_mapping(int fd) {
    Device* device = fd >= 0 ? Device::existing() : nullptr;
    struct stat status;
    if (!device || syscall(SYS_fstat, fd, &status) != 0) return 0;
    if (!device->is_kfd(status) && !device->gpu_of(status)) return 0;
    counters.mappings += 1;
    return injection().failure(Point::mapping);
}

/// The system call itself: allocators call mmap() before libc's own function could be looked up, and it adds
/// nothing.
void* map(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
    const int saved = errno;
    if (const int error = count_mapping(fd)) return errno = error, MAP_FAILED;
    errno = saved;
    return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, fd, offset));
}

}  // namespace
}  // namespace kfdemu

EXPORT void* mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
    return kfdemu::map(address, size, protection, flags, fd, offset);
}

EXPORT void* mmap64(void* address, std::size_t size, int protection, int flags, int fd,
                    off64_t offset) noexcept {
    return kfdemu::map(address, size, protection, flags, fd, offset);
}
