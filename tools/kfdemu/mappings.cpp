// mmap() of device files: it is counted, can be made to fail, and finds the file that really has the bytes
// where that is not the one of the descriptor: a dma-buf begins in the middle of a device file, and a buffer
// of another process lies in that process's. Nothing else about mappings is interposed: a device file is a
// memfd, whose mappings are the kernel's own business.
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
#include "shared_range.hpp"

namespace kfdemu {
namespace {

/// Where a mapping goes: the arguments of mmap as they are, or those that stand for a shared buffer.
struct Target {
    int fd;
    off_t offset;
};

/// 0 and where the mapping goes, or why it is refused.
int redirect(std::size_t size, Target& target) {
    Device* device = target.fd >= 0 ? Device::existing() : nullptr;
    struct stat status;
    if (!device || syscall(SYS_fstat, target.fd, &status) != 0) return 0;
    const auto offset = static_cast<std::uint64_t>(target.offset);
    const auto range = SharedRange::of(target.fd);
    const Gpu* gpu = device->gpu_of(status);
    if (!range && !gpu && !device->is_kfd(status)) return 0;
    counters.mappings += 1;
    if (const int error = injection().failure(Point::mapping)) return error;
    if (range) {  // as dma_buf_mmap: nothing beyond the buffer
        if (offset > range->size || size > range->size - offset) return EINVAL;
        target.offset = static_cast<off_t>(range->offset + offset);
    } else if (gpu && offset >= DeviceFile::kFileSize) {
        const auto place = device->memory().imported_at(gpu->index, offset, size);
        if (place.file < 0) return EINVAL;
        target = {place.file, static_cast<off_t>(place.offset)};
    }
    return 0;
}

/// The system call itself: allocators call mmap() before libc's own function could be looked up, and it adds
/// nothing.
void* map(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
    const int saved = errno;
    Target target{fd, offset};
    if (const int error = redirect(size, target)) return errno = error, MAP_FAILED;
    errno = saved;
    return reinterpret_cast<void*>(
        syscall(SYS_mmap, address, size, protection, flags, target.fd, target.offset));
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
