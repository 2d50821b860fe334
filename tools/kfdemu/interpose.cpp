// The libc boundary: which paths and descriptors are ours. Everything else goes straight to libc.
//
// This object is linked into a program or preloaded; the dynamic linker then binds the program's and the runtimes' calls
// of the functions below to it. Each first asks a cheap question (does the path begin like one of ours? is the request
// number KFD's or DRM's?) and calls on unless the answer is yes. None of them keeps state in libc's way, changes errno on
// success, or starts anything before a program opens /dev/kfd.
// Each function is needed under both of its names: open and open64. With this macro the second name would hide the first.
#undef _FILE_OFFSET_BITS

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "device.hpp"
#include "drm.hpp"
#include "sysfs.hpp"

#define EXPORT extern "C" [[gnu::visibility("default")]]

namespace kfdemu {
namespace {

/// libc's own function of that name, behind ours.
void* next(std::atomic<void*>& known, const char* name) {
    void* function = known.load(std::memory_order_relaxed);  // any thread may look it up; all find the same
    if (function) return function;
    const int saved = errno;
    function = dlsym(RTLD_NEXT, name);
    known.store(function, std::memory_order_relaxed);
    errno = saved;
    return function;
}

#define NEXT(name)                                                              \
    ([] {                                                                       \
        static std::atomic<void*> known{};                                      \
        return reinterpret_cast<decltype(&::name)>(::kfdemu::next(known, #name)); \
    }())

std::optional<sysfs::Entry> find(const char* path) {
    if (!path || !sysfs::may_be_ours(path)) return {};
    const Topology* topology = Device::topology();
    if (!topology) return {};
    return sysfs::lookup(*topology, path);
}

/// A descriptor that reads `text`.
int open_text(const std::string& text, int flags) {
    if ((flags & O_ACCMODE) != O_RDONLY) return errno = EACCES, -1;
    const int fd = memfd_create("kfdemu-sysfs", flags & O_CLOEXEC ? MFD_CLOEXEC : 0u);
    if (fd < 0) return -1;
    if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()) || lseek(fd, 0, SEEK_SET) != 0) {
        ::close(fd);
        return errno = EIO, -1;
    }
    return fd;
}

/// The host's /proc/modules, which may be missing, with our line behind it.
std::string modules(const std::string& line) {
    std::string text;
    const int fd = NEXT(open)("/proc/modules", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        char buffer[4096];
        for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
        ::close(fd);
    }
    return text + line;
}

struct Open {
    int flags;

    int operator()(const sysfs::Text& text) const { return open_text(text.content, flags); }
    int operator()(const sysfs::Modules& m) const { return open_text(modules(m.line), flags); }
    int operator()(const sysfs::Directory&) const { return errno = EISDIR, -1; }
    int operator()(const sysfs::Missing&) const { return errno = ENOENT, -1; }
    int operator()(const sysfs::KfdDevice&) const {
        Device* device = Device::get();
        return device ? device->open_kfd(flags) : (errno = ENXIO, -1);
    }
    int operator()(const sysfs::RenderDevice& render) const {
        Device* device = Device::get();
        return device ? device->open_render(render.gpu, flags) : (errno = ENXIO, -1);
    }
};

// Numbers as the kernel gives them: DRM's major is 226; KFD's is dynamic.
constexpr unsigned kDrmMajor = 226, kKfdMajor = 236;

void describe_device(struct stat& status, unsigned major_number, unsigned minor_number) {
    status.st_mode = S_IFCHR | 0666;
    status.st_rdev = makedev(major_number, minor_number);
    status.st_size = 0;
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
    int operator()(const sysfs::Directory&) const {
        status.st_mode = S_IFDIR | 0555;
        return 0;
    }
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

/// After a successful fstat: a descriptor of ours is a character device.
void correct(struct stat* status) {
    Device* device = Device::existing();
    if (!device || !S_ISREG(status->st_mode)) return;
    if (device->is_kfd(*status)) return describe_device(*status, kKfdMajor, 0);
    if (const Gpu* gpu = device->gpu_of(*status)) describe_device(*status, kDrmMajor, gpu->render_minor);
}

int access_entry(const sysfs::Entry& entry, int mode) {
    if (std::holds_alternative<sysfs::Missing>(entry)) return errno = ENOENT, -1;
    const bool device = std::holds_alternative<sysfs::KfdDevice>(entry) ||
                        std::holds_alternative<sysfs::RenderDevice>(entry);
    const bool directory = std::holds_alternative<sysfs::Directory>(entry);
    if (((mode & W_OK) && !device) || ((mode & X_OK) && !directory)) return errno = EACCES, -1;
    return 0;
}

std::FILE* open_stream(const sysfs::Entry& entry, const char* mode) {
    const bool read_only = mode[0] == 'r' && !std::strchr(mode, '+');
    const int fd =
        std::visit(Open{(read_only ? O_RDONLY : O_RDWR) | (std::strchr(mode, 'e') ? O_CLOEXEC : 0)}, entry);
    if (fd < 0) return nullptr;
    std::FILE* file = fdopen(fd, mode);
    if (!file) ::close(fd);
    return file;
}

/// What opendir gives for a folder of ours. readdir and closedir know it by its address.
struct Listing {
    std::vector<std::string> names;
    std::size_t position = 0;
    struct dirent entry {};
};

std::atomic<int> open_listings{0};  // relaxed: a thread that reads a listing has seen its opendir return
std::mutex listings_mutex;
std::unordered_set<void*>& listings() {
    static auto* set = new std::unordered_set<void*>;  // outlives every exit handler
    return *set;
}

DIR* open_listing(const sysfs::Directory& directory) {
    auto* listing = new Listing{directory.names};
    listing->names.insert(listing->names.begin(), {".", ".."});
    std::lock_guard lock{listings_mutex};
    listings().insert(listing);
    open_listings.fetch_add(1, std::memory_order_relaxed);
    return reinterpret_cast<DIR*>(listing);
}

Listing* as_listing(DIR* directory) {
    if (open_listings.load(std::memory_order_relaxed) == 0) return nullptr;
    std::lock_guard lock{listings_mutex};
    return listings().count(directory) ? reinterpret_cast<Listing*>(directory) : nullptr;
}

struct dirent* next_name(Listing& listing) {
    if (listing.position >= listing.names.size()) return nullptr;
    const std::string& name = listing.names[listing.position++];
    listing.entry = {};
    listing.entry.d_ino = listing.position;
    listing.entry.d_off = static_cast<off_t>(listing.position);
    listing.entry.d_reclen = sizeof listing.entry;
    listing.entry.d_type = DT_UNKNOWN;
    name.copy(listing.entry.d_name, sizeof listing.entry.d_name - 1);
    return &listing.entry;
}

int close_listing(Listing* listing) {
    std::lock_guard lock{listings_mutex};
    listings().erase(listing);
    open_listings.fetch_sub(1, std::memory_order_relaxed);
    delete listing;
    return 0;
}

bool needs_mode(int flags) { return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE; }

}  // namespace
}  // namespace kfdemu

using namespace kfdemu;

// What programs that link the library need of it by name, so that the linker keeps it.
EXPORT const char* kfdemu_version() { return KFDEMU_VERSION; }

#define MODE_ARGUMENT(flags)               \
    mode_t mode = 0;                       \
    if (needs_mode(flags)) {               \
        va_list list;                      \
        va_start(list, flags);             \
        mode = va_arg(list, mode_t);       \
        va_end(list);                      \
    }

EXPORT int open(const char* path, int flags, ...) {
    MODE_ARGUMENT(flags)
    if (auto entry = find(path)) return std::visit(Open{flags}, *entry);
    return NEXT(open)(path, flags, mode);
}

EXPORT int open64(const char* path, int flags, ...) {
    MODE_ARGUMENT(flags)
    if (auto entry = find(path)) return std::visit(Open{flags}, *entry);
    return NEXT(open64)(path, flags, mode);
}

EXPORT int openat(int folder, const char* path, int flags, ...) {
    MODE_ARGUMENT(flags)
    if (auto entry = find(path)) return std::visit(Open{flags}, *entry);
    return NEXT(openat)(folder, path, flags, mode);
}

EXPORT int openat64(int folder, const char* path, int flags, ...) {
    MODE_ARGUMENT(flags)
    if (auto entry = find(path)) return std::visit(Open{flags}, *entry);
    return NEXT(openat64)(folder, path, flags, mode);
}

// What _FORTIFY_SOURCE makes of open() and openat() when there is no mode.
extern "C" {
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);
}

EXPORT int __open_2(const char* path, int flags) {
    if (auto entry = find(path)) return std::visit(Open{flags}, *entry);
    return NEXT(__open_2)(path, flags);
}

EXPORT int __open64_2(const char* path, int flags) {
    if (auto entry = find(path)) return std::visit(Open{flags}, *entry);
    return NEXT(__open64_2)(path, flags);
}

EXPORT int __openat_2(int folder, const char* path, int flags) {
    if (auto entry = find(path)) return std::visit(Open{flags}, *entry);
    return NEXT(__openat_2)(folder, path, flags);
}

EXPORT int __openat64_2(int folder, const char* path, int flags) {
    if (auto entry = find(path)) return std::visit(Open{flags}, *entry);
    return NEXT(__openat64_2)(folder, path, flags);
}

EXPORT std::FILE* fopen(const char* path, const char* mode) {
    if (auto entry = find(path)) return open_stream(*entry, mode);
    return NEXT(fopen)(path, mode);
}

EXPORT std::FILE* fopen64(const char* path, const char* mode) {
    if (auto entry = find(path)) return open_stream(*entry, mode);
    return NEXT(fopen64)(path, mode);
}

EXPORT int access(const char* path, int mode) noexcept {
    if (auto entry = find(path)) return access_entry(*entry, mode);
    return NEXT(access)(path, mode);
}

EXPORT int faccessat(int folder, const char* path, int mode, int flags) noexcept {
    if (auto entry = find(path)) return access_entry(*entry, mode);
    return NEXT(faccessat)(folder, path, mode, flags);
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
    if (auto entry = find(path)) return stat_entry(*entry, status);
    return NEXT(lstat)(path, status);
}

EXPORT int lstat64(const char* path, struct stat64* status) noexcept {
    if (auto entry = find(path)) return stat_entry(*entry, reinterpret_cast<struct stat*>(status));
    return NEXT(lstat64)(path, status);
}

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

EXPORT int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
    if (auto entry = find(path)) return stat_entry(*entry, status);
    return NEXT(fstatat)(folder, path, status, flags);
}

EXPORT int fstatat64(int folder, const char* path, struct stat64* status, int flags) noexcept {
    if (auto entry = find(path)) return stat_entry(*entry, reinterpret_cast<struct stat*>(status));
    return NEXT(fstatat64)(folder, path, status, flags);
}

EXPORT int statx(int folder, const char* path, int flags, unsigned mask, struct statx* status) noexcept {
    auto entry = find(path);
    if (!entry) return NEXT(statx)(folder, path, flags, mask, status);
    struct stat plain;
    if (stat_entry(*entry, &plain) != 0) return -1;
    std::memset(status, 0, sizeof *status);
    status->stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_SIZE;
    status->stx_mode = static_cast<std::uint16_t>(plain.st_mode);
    status->stx_nlink = 1;
    status->stx_blksize = static_cast<std::uint32_t>(plain.st_blksize);
    status->stx_size = static_cast<std::uint64_t>(plain.st_size);
    status->stx_rdev_major = major(plain.st_rdev);
    status->stx_rdev_minor = minor(plain.st_rdev);
    return 0;
}

EXPORT DIR* opendir(const char* path) {
    auto entry = find(path);
    if (!entry) return NEXT(opendir)(path);
    if (auto* directory = std::get_if<sysfs::Directory>(&*entry)) return open_listing(*directory);
    errno = std::holds_alternative<sysfs::Missing>(*entry) ? ENOENT : ENOTDIR;
    return nullptr;
}

EXPORT struct dirent* readdir(DIR* directory) {
    if (Listing* listing = as_listing(directory)) return next_name(*listing);
    return NEXT(readdir)(directory);
}

EXPORT struct dirent64* readdir64(DIR* directory) {
    if (Listing* listing = as_listing(directory)) return reinterpret_cast<struct dirent64*>(next_name(*listing));
    return NEXT(readdir64)(directory);
}

EXPORT void rewinddir(DIR* directory) noexcept {
    if (Listing* listing = as_listing(directory)) {
        listing->position = 0;
        return;
    }
    NEXT(rewinddir)(directory);
}

EXPORT int dirfd(DIR* directory) noexcept {
    if (as_listing(directory)) return errno = ENOTSUP, -1;
    return NEXT(dirfd)(directory);
}

EXPORT int closedir(DIR* directory) {
    if (Listing* listing = as_listing(directory)) return close_listing(listing);
    return NEXT(closedir)(directory);
}

EXPORT int ioctl(int fd, unsigned long request, ...) noexcept {
    va_list list;
    va_start(list, request);
    void* argument = va_arg(list, void*);
    va_end(list);
    const auto magic = static_cast<char>(_IOC_TYPE(request));
    Device* device = magic == abi::kKfdMagic || magic == kDrmMagic ? Device::existing() : nullptr;
    struct stat status;
    if (!device || NEXT(fstat)(fd, &status) != 0) return NEXT(ioctl)(fd, request, argument);
    const Gpu* gpu = device->gpu_of(status);
    if (!gpu && !device->is_kfd(status)) return NEXT(ioctl)(fd, request, argument);
    const int saved = errno;
    const int error = gpu ? drm_ioctl(*gpu, request, argument) : device->kfd().ioctl(request, argument);
    errno = error ? error : saved;
    return error ? -1 : 0;
}
