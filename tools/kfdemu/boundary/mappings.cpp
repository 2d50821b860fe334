// Interposed mmap(), mremap() and munmap(). mmap() of a device file is counted, can be made to fail, and is redirected
// if the bytes are elsewhere: a dma-buf starts at an offset of a device file, and an imported buffer is in another
// process's file. A device file is a memfd, so the mapping itself is ordinary. SVM attributes end with the pages.
#undef _FILE_OFFSET_BITS

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/base/injection.hpp"
#include "tools/kfdemu/base/shared_range.hpp"
#include "tools/kfdemu/boundary/host_pages.hpp"
#include "tools/kfdemu/boundary/libc.hpp"
#include "tools/kfdemu/kfd/device.hpp"

namespace kfdemu {
namespace {

/// The file and offset to map: mmap's arguments, or those of the shared buffer that they denote.
struct Target {
    int fd;
    off_t offset;
    bool of_device = false;  ///< it is the program's mapping of a device file of this process
    const std::byte* doorbells = nullptr;
    bool hidden = false;  ///< the host may not access it
};

/// The emulator's own mapping of doorbells; null: it is something else.
const std::byte* doorbells_at(Device& device, std::uint64_t offset) {
    for (const Gpu& gpu : Device::topology()->gpus) {
        const DeviceFile::Range& range = device.memory().doorbells(gpu.index);
        if (offset >= range.offset && offset - range.offset < range.size) return range.host + (offset - range.offset);
    }
    return nullptr;
}

/// Redirects `target` if it denotes a shared buffer; 0 or an errno value.
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
    if (range) {  // as in dma_buf_mmap: must be within the buffer
        if (offset > range->size || size > range->size - offset) return EINVAL;
        target.offset = static_cast<off_t>(range->offset + offset);
    } else if (gpu && offset >= DeviceFile::kFileSize) {
        const auto place = device->memory().imported_at(gpu->index, offset, size);
        if (place.file < 0) return EINVAL;
        target = {.fd = place.file, .offset = static_cast<off_t>(place.offset), .hidden = place.hidden};
    } else {
        target.of_device = true;
        if (!gpu) target.doorbells = doorbells_at(*device, offset);
    }
    return 0;
}

/// As the kernel's MMU notifier: the pages in this range will be unmapped. Not afterwards: another thread may have
/// mapped pages there, and given a GPU access to them.
void forget(std::uint64_t begin, std::size_t size) {
    constexpr std::uint64_t kLastInPage = 4095;
    const std::uint64_t end = (begin + size + kLastInPage) & ~kLastInPage;
    if (Device* device = end > begin ? Device::existing() : nullptr)
        device->svm().forget((begin + kLastInPage) & ~kLastInPage, end);
}

bool is_page(const void* address) { return reinterpret_cast<std::uint64_t>(address) % 4096 == 0; }

// libc's functions, as other libraries patch them to follow mappings (UCX does, in a constructor). A lookup may
// allocate, and so map.
void* libc_map(void* address, std::size_t size, int protection, int flags, const Target& target) {
    if (const auto next = NEXT_OUTSIDE_LOOKUP(mmap))
        return next(address, size, protection, flags, target.fd, target.offset);
    return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, target.fd, target.offset));
}

int libc_unmap(void* address, std::size_t size) {
    if (const auto next = NEXT_OUTSIDE_LOOKUP(munmap)) return next(address, size);
    return static_cast<int>(syscall(SYS_munmap, address, size));
}

void* map(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
    const int saved = errno;
    Target target{fd, offset};
    if (const int error = redirect(size, target)) return errno = error, MAP_FAILED;
    errno = saved;
    if (target.hidden) protection = PROT_NONE;
    if ((flags & MAP_FIXED) != 0) host_pages::unmapping(reinterpret_cast<std::uint64_t>(address), size);
    void* result = libc_map(address, size, protection, flags, target);
    if (result == MAP_FAILED) return result;
    const auto va = reinterpret_cast<std::uint64_t>(result);
    forget(va, size);
    const int type = flags & MAP_TYPE;
    if (target.of_device && (type == MAP_SHARED || type == MAP_SHARED_VALIDATE))
        host_pages::mapped(va, size, target.doorbells);
    return result;
}

int unmap(void* address, std::size_t size) {
    host_pages::unmapping(reinterpret_cast<std::uint64_t>(address), size);
    if (is_page(address)) forget(reinterpret_cast<std::uint64_t>(address), size);
    return libc_unmap(address, size);
}

void* libc_remap(void* address, std::size_t old_size, std::size_t new_size, int flags, void* wanted) {
    if (const auto next = NEXT_OUTSIDE_LOOKUP(mremap)) return next(address, old_size, new_size, flags, wanted);
    return reinterpret_cast<void*>(syscall(SYS_mremap, address, old_size, new_size, flags, wanted));
}

/// Pages that move lose their attributes, and so do those that they replace. Whether they move is known afterwards.
void* remap(void* address, std::size_t old_size, std::size_t new_size, int flags, void* wanted) {
    const auto old_va = reinterpret_cast<std::uint64_t>(address);
    host_pages::unmapping(old_va, old_size);
    if ((flags & MREMAP_FIXED) != 0) {
        host_pages::unmapping(reinterpret_cast<std::uint64_t>(wanted), new_size);
        forget(reinterpret_cast<std::uint64_t>(wanted), new_size);
    }
    if (is_page(address) && new_size < old_size) forget(old_va + new_size, old_size - new_size);
    void* const result = libc_remap(address, old_size, new_size, flags, wanted);
    if (result != MAP_FAILED && result != address) forget(old_va, old_size);
    return result;
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

EXPORT void* mremap(void* address, std::size_t old_size, std::size_t new_size, int flags, ...) noexcept {
    va_list rest;
    va_start(rest, flags);
    void* const wanted = va_arg(rest, void*);  // absent without MREMAP_FIXED and MREMAP_DONTUNMAP, and then not used
    va_end(rest);
    return kfdemu::remap(address, old_size, new_size, flags, wanted);
}
