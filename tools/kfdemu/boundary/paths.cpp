// Interposed libc calls that take a path: open, stat, access, readlink and so on.
//
// The library is linked into a program or preloaded, so the dynamic linker binds the program's and the runtimes' calls
// of these functions to it. Each first checks the prefix of the path and calls libc's function unless the path is
// emulated. None changes errno on success or starts a thread before the program opens /dev/kfd. Functions are defined
// under both names, such as open and open64; with this macro, the headers would make them one.
#undef _FILE_OFFSET_BITS

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "tools/kfdemu/base/injection.hpp"
#include "tools/kfdemu/boundary/device_status.hpp"
#include "tools/kfdemu/boundary/folders.hpp"
#include "tools/kfdemu/boundary/libc.hpp"
#include "tools/kfdemu/boundary/memory_file.hpp"

namespace kfdemu {
namespace {

/// A descriptor from which `text` can be read.
int open_text(const std::string& text, int flags) {
    if ((flags & O_ACCMODE) != O_RDONLY) return errno = EACCES, -1;
    return open_memory_file("kfdemu-sysfs", text, 0444, flags);
}

/// The content of the host's file, or empty.
std::string host_text(const char* path) {
    std::string text;
    const int fd = NEXT(open)(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        char buffer[4096];
        for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
        ::close(fd);
    }
    return text;
}

/// Whether the entry can be opened with O_DIRECTORY.
bool is_folder(const sysfs::Entry& entry) {
    return std::holds_alternative<sysfs::Directory>(entry) || std::holds_alternative<sysfs::Link>(entry);
}

struct Open {
    int flags;

    int operator()(const sysfs::Text& text) const { return open_text(text.content, flags); }
    int operator()(const sysfs::Modules& m) const { return open_text(host_text("/proc/modules") + m.line, flags); }
    int operator()(const sysfs::Maps&) const {
        return open_text(sysfs::with_device_names(host_text("/proc/self/maps")), flags);
    }
    int operator()(const sysfs::Directory& directory) const { return open_folder(directory, flags); }
    int operator()(const sysfs::Link& link) const {  // all emulated links point to directories
        return flags & O_NOFOLLOW ? (errno = ELOOP, -1) : open_folder(link.folder, flags);
    }
    int operator()(const sysfs::Missing&) const { return errno = ENOENT, -1; }
    int operator()(const sysfs::Denied&) const { return errno = EPERM, -1; }
    int operator()(const sysfs::KfdDevice&) const {
        Device* device = Device::get();
        if (const int error = injection().failure(Point::open)) return errno = error, -1;
        return device ? device->open_kfd(flags) : (errno = ENXIO, -1);
    }
    int operator()(const sysfs::RenderDevice& render) const {
        if (Device::topology()->gpus[render.gpu].hidden) return errno = EPERM, -1;
        Device* device = Device::get();
        return device ? device->open_render(render.gpu, flags) : (errno = ENXIO, -1);
    }
};

int open_entry(const sysfs::Entry& entry, int flags) {
    if ((flags & O_DIRECTORY) && !is_folder(entry) && !std::holds_alternative<sysfs::Missing>(entry))
        return errno = ENOTDIR, -1;
    return std::visit(Open{flags}, entry);
}

struct Stat {
    struct stat& status;

    int regular(std::size_t size) const {
        status.st_mode = S_IFREG | 0444;
        status.st_size = static_cast<off_t>(size);
        return 0;
    }
    int operator()(const sysfs::Text& text) const { return regular(text.content.size()); }
    int operator()(const sysfs::Modules&) const { return regular(0); }
    int operator()(const sysfs::Maps&) const { return regular(0); }
    int operator()(const sysfs::Denied&) const { return regular(4096); }
    int operator()(const sysfs::Directory& directory) const {
        status.st_mode = S_IFDIR | 0555;
        status.st_ino = directory.inode;
        return 0;
    }
    int operator()(const sysfs::Link& link) const { return (*this)(link.folder); }
    int operator()(const sysfs::Missing&) const { return errno = ENOENT, -1; }
    int operator()(const sysfs::KfdDevice&) const { return describe_device(status, kKfdMajor, 0), 0; }
    int operator()(const sysfs::RenderDevice& render) const {
        return describe_device(status, kDrmMajor, Device::topology()->gpus[render.gpu].render_minor), 0;
    }
};

int stat_entry(const sysfs::Entry& entry, struct stat* status) {
    std::memset(status, 0, sizeof *status);
    status->st_nlink = 1;
    status->st_blksize = 4096;
    return std::visit(Stat{*status}, entry);
}

int stat_link(const sysfs::Entry& entry, struct stat* status) {
    const int result = stat_entry(entry, status);
    if (std::holds_alternative<sysfs::Link>(entry)) status->st_mode = S_IFLNK | 0777;
    return result;
}

ssize_t read_link(const sysfs::Entry& entry, char* buffer, std::size_t size) {
    if (std::holds_alternative<sysfs::Missing>(entry)) return errno = ENOENT, -1;
    const auto* link = std::get_if<sysfs::Link>(&entry);
    if (!link || size == 0) return errno = EINVAL, -1;
    return static_cast<ssize_t>(link->target.copy(buffer, size));
}

int access_entry(const sysfs::Entry& entry, int mode) {
    if (std::holds_alternative<sysfs::Missing>(entry)) return errno = ENOENT, -1;
    const bool device =
        std::holds_alternative<sysfs::KfdDevice>(entry) || std::holds_alternative<sysfs::RenderDevice>(entry);
    if (((mode & W_OK) && !device) || ((mode & X_OK) && !is_folder(entry))) return errno = EACCES, -1;
    return 0;
}

/// As in sysfs: the open succeeds and reads fail.
std::FILE* open_denied() {
    const auto refuse = [](void*, char*, std::size_t) -> ssize_t { return errno = EPERM, -1; };
    return fopencookie(nullptr, "r", {.read = refuse, .write = nullptr, .seek = nullptr, .close = nullptr});
}

std::FILE* open_stream(const sysfs::Entry& entry, const char* mode) {
    if (std::holds_alternative<sysfs::Denied>(entry)) return open_denied();
    const bool read_only = mode[0] == 'r' && !std::strchr(mode, '+');
    const int fd = std::visit(Open{(read_only ? O_RDONLY : O_RDWR) | (std::strchr(mode, 'e') ? O_CLOEXEC : 0)}, entry);
    if (fd < 0) return nullptr;
    std::FILE* file = fdopen(fd, mode);
    if (!file) ::close(fd);
    return file;
}

bool needs_mode(int flags) { return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE; }

}  // namespace
}  // namespace kfdemu

using namespace kfdemu;

#define MODE_ARGUMENT(flags)         \
    mode_t mode = 0;                 \
    if (needs_mode(flags)) {         \
        va_list list;                \
        va_start(list, flags);       \
        mode = va_arg(list, mode_t); \
        va_end(list);                \
    }

EXPORT int open(const char* path, int flags, ...) {
    MODE_ARGUMENT(flags)
    if (auto entry = find(path)) return open_entry(*entry, flags);
    return NEXT(open)(path, flags, mode);
}

EXPORT int open64(const char* path, int flags, ...) {
    MODE_ARGUMENT(flags)
    if (auto entry = find(path)) return open_entry(*entry, flags);
    return NEXT(open64)(path, flags, mode);
}

EXPORT int openat(int folder, const char* path, int flags, ...) {
    MODE_ARGUMENT(flags)
    const AtPath at{folder, path};
    if (at.entry) return open_entry(*at.entry, flags);
    return NEXT(openat)(folder, at.path, flags, mode);
}

EXPORT int openat64(int folder, const char* path, int flags, ...) {
    MODE_ARGUMENT(flags)
    const AtPath at{folder, path};
    if (at.entry) return open_entry(*at.entry, flags);
    return NEXT(openat64)(folder, at.path, flags, mode);
}

// _FORTIFY_SOURCE replaces open() and openat() without a mode by these.
extern "C" {
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);
}

EXPORT int __open_2(const char* path, int flags) {
    if (auto entry = find(path)) return open_entry(*entry, flags);
    return NEXT(__open_2)(path, flags);
}

EXPORT int __open64_2(const char* path, int flags) {
    if (auto entry = find(path)) return open_entry(*entry, flags);
    return NEXT(__open64_2)(path, flags);
}

EXPORT int __openat_2(int folder, const char* path, int flags) {
    const AtPath at{folder, path};
    if (at.entry) return open_entry(*at.entry, flags);
    return NEXT(__openat_2)(folder, at.path, flags);
}

EXPORT int __openat64_2(int folder, const char* path, int flags) {
    const AtPath at{folder, path};
    if (at.entry) return open_entry(*at.entry, flags);
    return NEXT(__openat64_2)(folder, at.path, flags);
}

EXPORT std::FILE* fopen(const char* path, const char* mode) {
    if (auto entry = find(path, __builtin_return_address(0))) return open_stream(*entry, mode);
    return NEXT(fopen)(path, mode);
}

EXPORT std::FILE* fopen64(const char* path, const char* mode) {
    if (auto entry = find(path, __builtin_return_address(0))) return open_stream(*entry, mode);
    return NEXT(fopen64)(path, mode);
}

EXPORT int access(const char* path, int mode) noexcept {
    if (auto entry = find(path)) return access_entry(*entry, mode);
    return NEXT(access)(path, mode);
}

EXPORT int faccessat(int folder, const char* path, int mode, int flags) noexcept {
    const AtPath at{folder, path};
    if (at.entry) return access_entry(*at.entry, mode);
    return NEXT(faccessat)(folder, at.path, mode, flags);
}

EXPORT int stat(const char* path, struct stat* status) noexcept {
    if (auto entry = find(path)) return stat_entry(*entry, status);
    return NEXT(stat)(path, status);
}

EXPORT int stat64(const char* path, struct stat64* status) noexcept {
    if (auto entry = find(path)) return stat_entry(*entry, reinterpret_cast<struct stat*>(status));
    return NEXT(stat64)(path, status);
}

EXPORT int lstat(const char* path, struct stat* status) noexcept {
    if (auto entry = find(path)) return stat_link(*entry, status);
    return NEXT(lstat)(path, status);
}

EXPORT int lstat64(const char* path, struct stat64* status) noexcept {
    if (auto entry = find(path)) return stat_link(*entry, reinterpret_cast<struct stat*>(status));
    return NEXT(lstat64)(path, status);
}

EXPORT int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
    const AtPath at{folder, path};
    if (at.entry) return (flags & AT_SYMLINK_NOFOLLOW ? stat_link : stat_entry)(*at.entry, status);
    const int result = NEXT(fstatat)(folder, at.path, status, flags);
    if (result == 0 && (flags & AT_EMPTY_PATH) && !correct(status)) correct_folder(folder, status);
    return result;
}

EXPORT int fstatat64(int folder, const char* path, struct stat64* status, int flags) noexcept {
    auto* plain = reinterpret_cast<struct stat*>(status);
    const AtPath at{folder, path};
    if (at.entry) return (flags & AT_SYMLINK_NOFOLLOW ? stat_link : stat_entry)(*at.entry, plain);
    const int result = NEXT(fstatat64)(folder, at.path, status, flags);
    if (result == 0 && (flags & AT_EMPTY_PATH) && !correct(plain)) correct_folder(folder, plain);
    return result;
}

EXPORT int statx(int folder, const char* path, int flags, unsigned mask, struct statx* status) noexcept {
    struct stat plain{};
    const AtPath at{folder, path};
    if (at.entry) {
        if ((flags & AT_SYMLINK_NOFOLLOW ? stat_link : stat_entry)(*at.entry, &plain) != 0) return -1;
        std::memset(status, 0, sizeof *status);
        status->stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_SIZE;
        status->stx_nlink = 1;
        status->stx_ino = plain.st_ino;
        status->stx_blksize = static_cast<std::uint32_t>(plain.st_blksize);
    } else {
        const int result = NEXT(statx)(folder, at.path, flags, mask, status);
        if (result != 0 || !(flags & AT_EMPTY_PATH) || !(status->stx_mask & STATX_INO)) return result;
        plain.st_mode = status->stx_mode;
        plain.st_ino = status->stx_ino;
        plain.st_size = static_cast<off_t>(status->stx_size);
        plain.st_dev = makedev(status->stx_dev_major, status->stx_dev_minor);
        if (!correct(&plain)) correct_folder(folder, &plain);
        status->stx_dev_major = major(plain.st_dev);
        status->stx_dev_minor = minor(plain.st_dev);
        status->stx_ino = plain.st_ino;
        if (S_ISREG(plain.st_mode)) return result;
    }
    status->stx_mode = static_cast<std::uint16_t>(plain.st_mode);
    status->stx_size = static_cast<std::uint64_t>(plain.st_size);
    status->stx_rdev_major = major(plain.st_rdev);
    status->stx_rdev_minor = minor(plain.st_rdev);
    return 0;
}

EXPORT ssize_t readlink(const char* path, char* buffer, std::size_t size) noexcept {
    if (auto entry = find(path)) return read_link(*entry, buffer, size);
    return NEXT(readlink)(path, buffer, size);
}

EXPORT ssize_t readlinkat(int folder, const char* path, char* buffer, std::size_t size) noexcept {
    const AtPath at{folder, path};
    if (at.entry) return read_link(*at.entry, buffer, size);
    return NEXT(readlinkat)(folder, at.path, buffer, size);
}

EXPORT char* realpath(const char* path, char* resolved) noexcept {
    auto entry = find(path);
    if (!entry) return NEXT(realpath)(path, resolved);
    if (std::holds_alternative<sysfs::Missing>(*entry)) return errno = ENOENT, nullptr;
    const Topology& topology = *Device::topology();
    const std::string target = sysfs::canonical(topology, sysfs::without_dots(topology, path));
    return resolved ? std::strcpy(resolved, target.c_str()) : strdup(target.c_str());
}
