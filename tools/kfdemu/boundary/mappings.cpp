// mmap() of device files: it is counted, can be made to fail, and finds the file that really has the bytes
// where that is not the one of the descriptor: a dma-buf begins in the middle of a device file, and a buffer
// of another process lies in that process's. Nothing else about those is interposed: a device file is a
// memfd, whose mappings are the kernel's own business. And munmap(): pages that go take their attributes of
// shared virtual memory with them.
#undef _FILE_OFFSET_BITS

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/counters.hpp"
#include "base/injection.hpp"
#include "base/shared_range.hpp"
#include "boundary/libc.hpp"
#include "kfd/device.hpp"

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

/// What the kernel's notifier of changed mappings tells its driver: the pages that were there are gone.
void forget(std::uint64_t begin, std::size_t size) {
    constexpr std::uint64_t kLastInPage = 4095;
    if (Device* device = Device::existing()) device->svm().forget(begin, (begin + size + kLastInPage) & ~kLastInPage);
}

/// The system call itself: allocators call mmap() before libc's own function could be looked up, and it adds nothing.
void* map(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
    const int saved = errno;
    Target target{fd, offset};
    if (const int error = redirect(size, target)) return errno = error, MAP_FAILED;
    errno = saved;
    const long result = syscall(SYS_mmap, address, size, protection, flags, target.fd, target.offset);
    if (result != -1) forget(static_cast<std::uint64_t>(result), size);
    return reinterpret_cast<void*>(result);
}

int unmap(void* address, std::size_t size) {
    const long result = syscall(SYS_munmap, address, size);
    if (result == 0) forget(reinterpret_cast<std::uint64_t>(address), size);
    return static_cast<int>(result);
}

}  // namespace
}  // namespace kfdemu

EXPORT void* mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
    return kfdemu::map(address, size, protection, flags, fd, offset);
}

EXPORT void* mmap64(void* address, std::size_t size, int protection, int flags, int fd, off64_t offset) noexcept {
    return kfdemu::map(address, size, protection, flags, fd, offset);
}

EXPORT int munmap(void* address, std::size_t size) noexcept { return kfdemu::unmap(address, size); }
