// The libc calls on a descriptor that may be the device's: fstat, lseek and ioctl. Which file a descriptor is
// of, its inode tells, because descriptors are duplicated, inherited and sent.
#undef _FILE_OFFSET_BITS  // fstat and fstat64 are both defined here

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "base/log.hpp"
#include "base/shared_range.hpp"
#include "boundary/device_status.hpp"
#include "boundary/libc.hpp"
#include "kfd/drm.hpp"

using namespace kfdemu;

// What programs that link the library need of it by name, so that the linker keeps it.
EXPORT const char* kfdemu_version() { return KFDEMU_VERSION; }

EXPORT int fstat(int fd, struct stat* status) noexcept {
    const int result = NEXT(fstat)(fd, status);
    if (result == 0) correct(status);
    return result;
}

EXPORT int fstat64(int fd, struct stat64* status) noexcept {
    const int result = NEXT(fstat64)(fd, status);
    if (result == 0) correct(reinterpret_cast<struct stat*>(status));
    return result;
}

namespace {

/// As the kernel's dma_buf_llseek: its end tells a dma-buf's size, and there is no other place to go to.
off_t seek_dmabuf(const SharedRange& range, off_t offset, int whence) {
    if (offset != 0 || (whence != SEEK_SET && whence != SEEK_END)) return errno = EINVAL, -1;
    return whence == SEEK_END ? static_cast<off_t>(range.size) : 0;
}

off_t seek(int fd, off_t offset, int whence) {
    if (Device::existing())
        if (const auto range = SharedRange::of(fd)) return seek_dmabuf(*range, offset, whence);
    return syscall(SYS_lseek, fd, offset, whence);
}

constexpr char kDmaBufMagic = 'b';

/// A dma-buf's own ioctls. Its only one that this device has a use for is SYNC, around what the host does
/// with the bytes: host and device caches are the same here.
int dmabuf_ioctl(unsigned long request) {
    if (static_cast<char>(_IOC_TYPE(request)) == kDmaBufMagic && _IOC_NR(request) == 0) return 0;
    log(LogLevel::warning, "dma-buf: ioctl {:#x} (number {:#x}) is not known", request, _IOC_NR(request));
    return ENOTTY;
}

int device_ioctl(Device& device, const Gpu* gpu, unsigned long request, void* argument) {
    const auto magic = static_cast<char>(_IOC_TYPE(request));
    if (gpu && magic == kDrmMagic) return drm_ioctl(*gpu, device.gem(gpu->index), request, argument);
    if (!gpu && magic == abi::kKfdMagic) return device.kfd().ioctl(request, argument);
    return ENOTTY;
}

}  // namespace

EXPORT off_t lseek(int fd, off_t offset, int whence) noexcept { return seek(fd, offset, whence); }
EXPORT off64_t lseek64(int fd, off64_t offset, int whence) noexcept { return seek(fd, offset, whence); }

EXPORT int ioctl(int fd, unsigned long request, ...) noexcept {
    va_list list;
    va_start(list, request);
    void* argument = va_arg(list, void*);
    va_end(list);
    // Nearly every request of a program has another letter than the kernel's three: 'K' of KFD, 'd' of DRM,
    // 'b' of dma-buf.
    const auto magic = static_cast<char>(_IOC_TYPE(request));
    const bool may_be_ours = magic == abi::kKfdMagic || magic == kDrmMagic || magic == kDmaBufMagic;
    struct stat status;
    if (!may_be_ours || !Device::ever_made() || NEXT(fstat)(fd, &status) != 0)
        return NEXT(ioctl)(fd, request, argument);
    const bool dmabuf = SharedRange::of(fd).has_value();  // it is the parent's file, too, but anybody may have it
    // The kernel's device belongs to the process that opened it, too ("Using KFD FD in wrong process").
    if (!dmabuf && magic != kDmaBufMagic && Device::inherited(status)) return errno = EBADF, -1;
    Device* device = Device::existing();
    const Gpu* gpu = device ? device->gpu_of(status) : nullptr;
    if (!dmabuf && (!device || (!gpu && !device->is_kfd(status)))) return NEXT(ioctl)(fd, request, argument);
    const int saved = errno;
    const int error = dmabuf ? dmabuf_ioctl(request) : device_ioctl(*device, gpu, request, argument);
    errno = error ? error : saved;
    return error ? -1 : 0;
}
