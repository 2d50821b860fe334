// The libc calls on a descriptor that may be the device's: fstat and ioctl. Which file a descriptor is of,
// its inode tells, because descriptors are duplicated, inherited and sent.
#undef _FILE_OFFSET_BITS  // fstat and fstat64 are both defined here

#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdarg>

#include "device_status.hpp"
#include "drm.hpp"
#include "libc.hpp"

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

EXPORT int ioctl(int fd, unsigned long request, ...) noexcept {
    va_list list;
    va_start(list, request);
    void* argument = va_arg(list, void*);
    va_end(list);
    const auto magic = static_cast<char>(_IOC_TYPE(request));
    struct stat status;
    if ((magic != abi::kKfdMagic && magic != kDrmMagic) || !Device::ever_made() || NEXT(fstat)(fd, &status) != 0)
        return NEXT(ioctl)(fd, request, argument);
    // The kernel's device belongs to the process that opened it, too ("Using KFD FD in wrong process").
    if (Device::inherited(status)) return errno = EBADF, -1;
    Device* device = Device::existing();
    const Gpu* gpu = device ? device->gpu_of(status) : nullptr;
    if (!device || (!gpu && !device->is_kfd(status))) return NEXT(ioctl)(fd, request, argument);
    const int saved = errno;
    const int error = gpu ? drm_ioctl(*gpu, request, argument) : device->kfd().ioctl(request, argument);
    errno = error ? error : saved;
    return error ? -1 : 0;
}
