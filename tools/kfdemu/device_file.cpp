#include "device_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kfdemu {
namespace {
// Offset 0 stays unused, so that no valid mmap offset is 0. The file is sparse: only touched pages take
// memory.
constexpr std::uint64_t kFirstOffset = 1 << 20;
constexpr std::uint64_t kFileSize = std::uint64_t{1} << 44;
constexpr std::uint64_t kPage = 4096;
}  // namespace

DeviceFile::DeviceFile(const char* name) {
    fd_ = memfd_create(name, MFD_CLOEXEC);
    if (fd_ < 0) return;
    struct stat status {};
    if (ftruncate(fd_, static_cast<off_t>(kFileSize)) != 0 || fstat(fd_, &status) != 0) {
        ::close(fd_);
        fd_ = -1;
        return;
    }
    device_ = status.st_dev;
    inode_ = status.st_ino;
    free_.emplace(kFirstOffset, kFileSize - kFirstOffset);
}

DeviceFile::~DeviceFile() {
    if (fd_ >= 0) ::close(fd_);
}

int DeviceFile::open(int flags) const { return fcntl(fd_, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0); }

std::optional<DeviceFile::Range> DeviceFile::allocate(std::uint64_t size, std::uint64_t alignment) {
    size = (size + kPage - 1) & ~(kPage - 1);
    if (size == 0) return {};
    Range range;
    {
        std::lock_guard lock{mutex_};
        auto at = free_.begin();
        std::uint64_t offset = 0;
        for (; at != free_.end(); ++at) {
            offset = (at->first + alignment - 1) & ~(alignment - 1);
            if (offset - at->first <= at->second && size <= at->second - (offset - at->first)) break;
        }
        if (at == free_.end()) return {};
        const auto [begin, length] = *at;
        free_.erase(at);
        if (offset > begin) free_.emplace(begin, offset - begin);
        if (const auto end = offset + size; end < begin + length) free_.emplace(end, begin + length - end);
        range = {offset, size, nullptr};
    }
    // The bare system call: the program's mappings are counted, and may be made to fail; this one is not the
    // program's.
    auto* host = reinterpret_cast<void*>(syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                                                 fd_, static_cast<off_t>(range.offset)));
    if (host == MAP_FAILED) {
        release(range);
        return {};
    }
    madvise(host, size, MADV_DONTDUMP);
    range.host = static_cast<std::byte*>(host);
    return range;
}

void DeviceFile::release(const Range& range) {
    if (range.host) ::munmap(range.host, range.size);
    fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(range.offset),
              static_cast<off_t>(range.size));
    std::lock_guard lock{mutex_};
    auto after = free_.lower_bound(range.offset);
    std::uint64_t begin = range.offset, end = range.offset + range.size;
    if (after != free_.begin()) {
        auto before = std::prev(after);
        if (before->first + before->second == begin) {
            begin = before->first;
            free_.erase(before);
        }
    }
    if (after != free_.end() && after->first == end) {
        end += after->second;
        free_.erase(after);
    }
    free_.emplace(begin, end - begin);
}

}  // namespace kfdemu
