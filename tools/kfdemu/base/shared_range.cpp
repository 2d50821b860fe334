#include "tools/kfdemu/base/shared_range.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kfdemu {
namespace {

constexpr std::uint64_t kMagic = 0x31756d6564666b7f;  // "\x7fkfdemu1"
// File positions of dma-bufs start here. No read or write reaches them: the file's size is sealed.
constexpr std::uint64_t kFirstPosition = std::uint64_t{1} << 62;

/// A direct system call, because this library interposes lseek.
off_t seek(int fd, off_t offset, int whence) { return syscall(SYS_lseek, fd, offset, whence); }

struct flock lock_of(short type, std::uint64_t offset, std::uint64_t size) {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(offset);
    lock.l_len = static_cast<off_t>(size);
    return lock;
}

off_t metadata_offset(std::uint32_t index) {
    return static_cast<off_t>(shared_table::kBytes + index * sizeof(BufferMetadata));
}

/// A new descriptor of the file that has locked the entry's metadata, or -1 with errno. A lock belongs to an open file
/// description, so a new one excludes all others, also of this thread's process. Holders only read or write once.
int open_metadata(int file, std::uint32_t index, short lock_type) {
    const int fd = ::open(fmt::format("/proc/self/fd/{}", file).c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return -1;
    struct flock lock = lock_of(lock_type, static_cast<std::uint64_t>(metadata_offset(index)), sizeof(BufferMetadata));
    while (fcntl(fd, F_OFD_SETLKW, &lock) != 0) {
        if (errno == EINTR) continue;
        const int error = errno;
        ::close(fd);
        return errno = error, -1;
    }
    return fd;
}

bool has_table(int fd) {
    std::uint64_t magic = 0;
    return pread(fd, &magic, sizeof magic, 0) == sizeof magic && magic == kMagic;
}

}  // namespace

std::optional<SharedRange> SharedRange::of(int fd) {
    const int saved = errno;
    const auto position = static_cast<std::uint64_t>(seek(fd, 0, SEEK_CUR));  // -1 on error: not an entry
    std::optional<SharedRange> range;
    if (position > kFirstPosition && position < kFirstPosition + shared_table::kEntries && has_table(fd))
        range = shared_table::read(fd, static_cast<std::uint32_t>(position - kFirstPosition));
    errno = saved;
    return range;
}

int open_shared(const SharedHandle& handle) {
    if (handle.nonce == 0 || handle.index == 0 || handle.index >= shared_table::kEntries) return errno = EINVAL, -1;
    const std::string path = fmt::format("/proc/{}/fd/{}", handle.pid, handle.file);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return errno = EINVAL, -1;
    const auto named = [&]() -> std::optional<SharedRange> {
        auto range = has_table(file) ? shared_table::read(file, handle.index) : std::nullopt;
        return range && range->nonce == handle.nonce ? range : std::nullopt;
    };
    const auto range = named();
    const int fd = range ? shared_table::open(path.c_str(), handle.index, *range) : -1;
    // The exporter clears the nonce before it tests for locks. If the nonce is still valid, the lock was taken in time.
    const bool in_time = fd >= 0 && named();
    ::close(file);
    if (in_time) return fd;
    if (fd >= 0) ::close(fd);
    return errno = EINVAL, -1;
}

namespace shared_table {

bool create(int file) { return pwrite(file, &kMagic, sizeof kMagic, 0) == sizeof kMagic; }

bool write(int file, std::uint32_t index, const SharedRange& range) {
    return pwrite(file, &range, sizeof range, static_cast<off_t>(index * sizeof range)) == sizeof range;
}

std::optional<SharedRange> read(int file, std::uint32_t index) {
    SharedRange range;
    if (pread(file, &range, sizeof range, static_cast<off_t>(index * sizeof range)) != sizeof range) return {};
    if (range.size == 0) return {};
    range.index = index;
    return range;
}

bool erase(int file, std::uint32_t index) {
    const BufferMetadata none{};
    return pwrite(file, &none, sizeof none, metadata_offset(index)) == sizeof none && write(file, index, {});
}

std::optional<BufferMetadata> read_metadata(int file, std::uint32_t index) {
    const int fd = open_metadata(file, index, F_RDLCK);
    if (fd < 0) return {};
    BufferMetadata metadata;
    const bool whole = pread(fd, &metadata, sizeof metadata, metadata_offset(index)) == sizeof metadata;
    ::close(fd);
    return whole ? std::optional{metadata} : std::nullopt;
}

bool write_metadata(int file, std::uint32_t index, const BufferMetadata& metadata) {
    const int fd = open_metadata(file, index, F_WRLCK);
    if (fd < 0) return false;
    const bool whole = pwrite(fd, &metadata, sizeof metadata, metadata_offset(index)) == sizeof metadata;
    ::close(fd);
    return whole;
}

int open(const char* path, std::uint32_t index, const SharedRange& range) {
    const int fd = ::open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return -1;
    struct flock lock = lock_of(F_RDLCK, range.offset, range.size);
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0 && seek(fd, static_cast<off_t>(kFirstPosition + index), SEEK_SET) >= 0)
        return fd;
    const int error = errno;
    ::close(fd);
    return errno = error, -1;
}

bool is_held(int file, std::uint64_t offset, std::uint64_t size) {
    struct flock lock = lock_of(F_WRLCK, offset, size);
    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace shared_table
}  // namespace kfdemu
