// Interposed libc calls on descriptors: fstat, lseek and ioctl. A device file is identified by its inode, because
// descriptors are duplicated, inherited and sent.
#undef _FILE_OFFSET_BITS  // fstat and fstat64 are both defined here

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/shared_range.hpp"
#include "tools/kfdemu/boundary/device_status.hpp"
#include "tools/kfdemu/boundary/folders.hpp"
#include "tools/kfdemu/boundary/libc.hpp"
#include "tools/kfdemu/kfd/drm.hpp"

using namespace kfdemu;

// Programs that link the library refer to this symbol, so that the linker keeps the library.
EXPORT const char* kfdemu_version() { return KFDEMU_VERSION; }

EXPORT int fstat(int fd, struct stat* status) noexcept {
    const int result = NEXT(fstat)(fd, status);
    if (result == 0 && !correct(status)) correct_folder(fd, status);
    return result;
}

EXPORT int fstat64(int fd, struct stat64* status) noexcept {
    const int result = NEXT(fstat64)(fd, status);
    auto* plain = reinterpret_cast<struct stat*>(status);
    if (result == 0 && !correct(plain)) correct_folder(fd, plain);
    return result;
}

namespace {

/// As in the kernel's dma_buf_llseek: seeking to the end returns the size; only the start and the end are valid.
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

/// The ioctls of a dma-buf. SYNC, which brackets host access, succeeds and does nothing: host and device share caches
/// here. Others are not supported.
int dmabuf_ioctl(unsigned long request) {
    if (static_cast<char>(_IOC_TYPE(request)) == kDmaBufMagic && _IOC_NR(request) == 0) return 0;
    log(LogLevel::warning, "dma-buf: unknown ioctl {:#x} (number {:#x})", request, _IOC_NR(request));
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
    // Nearly all other ioctls have a different type than these three: 'K' (KFD), 'd' (DRM), 'b' (dma-buf).
    const auto magic = static_cast<char>(_IOC_TYPE(request));
    const bool may_be_ours = magic == abi::kKfdMagic || magic == kDrmMagic || magic == kDmaBufMagic;
    struct stat status;
    if (!may_be_ours || !Device::ever_made() || NEXT(fstat)(fd, &status) != 0)
        return NEXT(ioctl)(fd, request, argument);
    const bool dmabuf = SharedRange::of(fd).has_value();  // may refer to the parent's file, but any process may use it
    // As in the kernel, only the process that opened the device may use it ("Using KFD FD in wrong process").
    if (!dmabuf && magic != kDmaBufMagic && Device::inherited(status)) return errno = EBADF, -1;
    Device* device = Device::existing();
    const Gpu* gpu = device ? device->gpu_of(status) : nullptr;
    if (!dmabuf && (!device || (!gpu && !device->is_kfd(status)))) return NEXT(ioctl)(fd, request, argument);
    const int saved = errno;
    const int error = dmabuf ? dmabuf_ioctl(request) : device_ioctl(*device, gpu, request, argument);
    errno = error ? error : saved;
    return error ? -1 : 0;
}
