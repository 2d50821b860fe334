#include "tools/kfdemu/resources/device_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tools/kfdemu/base/abi.hpp"
#include "tools/kfdemu/base/page.hpp"

namespace kfdemu {
namespace {
// Ranges start after the table, so that no valid mmap offset is 0. The file is sparse: only accessed pages take memory.
constexpr std::uint64_t kFirstOffset = shared_table::kBytes + shared_table::kMetadataBytes;
}  // namespace

std::byte* map_for_emulator(int fd, std::uint64_t offset, std::uint64_t size) {
    // A direct system call: the emulator's own mappings must not pass through the interposed mmap.
    const long host = syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (host == -1) return nullptr;
    auto* bytes = reinterpret_cast<std::byte*>(host);
    madvise(bytes, size, MADV_DONTDUMP);
    return bytes;
}

DeviceFile::DeviceFile(const char* name) {
    fd_ = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd_ < 0) return;
    struct stat status{};
    if (ftruncate(fd_, static_cast<off_t>(kFileSize)) != 0 ||
        fcntl(fd_, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0 || !shared_table::create(fd_) ||
        fstat(fd_, &status) != 0) {
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
        give_back_held();
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
    range.host = map_for_emulator(fd_, range.offset, size);
    if (range.host) return range;
    release(range);
    return {};
}

void DeviceFile::release(const Range& range, std::uint32_t shared) {
    if (range.host) ::munmap(range.host, range.size);
    std::lock_guard lock{mutex_};
    if (!shared) return give_back(range);
    // The nonce is cleared first: an importer that locks the range afterwards sees no valid nonce and gives up; one
    // that saw it valid after locking holds the lock.
    if (auto entry = shared_table::read(fd_, shared)) {
        entry->nonce = 0;
        shared_table::write(fd_, shared, *entry);
    }
    held_.push_back({range, shared});
    give_back_held();
}

void DeviceFile::give_back_held() {
    const auto gone = [&](const Held& held) {
        if (shared_table::is_held(fd_, held.range.offset, held.range.size)) return false;
        shared_table::erase(fd_, held.index);
        entries_[held.index] = false;
        give_back(held.range);
        return true;
    };
    held_.erase(std::remove_if(held_.begin(), held_.end(), gone), held_.end());
}

void DeviceFile::give_back(const Range& range) {
    fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(range.offset),
              static_cast<off_t>(range.size));
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

std::uint32_t DeviceFile::share(const SharedRange& range) {
    std::lock_guard lock{mutex_};
    give_back_held();
    if (entries_.empty()) entries_.push_back(true);  // entry 0 marks the file
    const auto free = std::find(entries_.begin(), entries_.end(), false);
    const auto index = static_cast<std::uint32_t>(free - entries_.begin());
    if (index >= shared_table::kEntries || !shared_table::write(fd_, index, range)) return 0;
    if (free == entries_.end()) entries_.push_back(true);
    entries_[index] = true;
    return index;
}

int DeviceFile::open_shared(std::uint32_t index) const {
    const auto range = shared_table::read(fd_, index);
    if (!range) return errno = EINVAL, -1;
    return shared_table::open(fmt::format("/proc/self/fd/{}", fd_).c_str(), index, *range);
}

std::optional<SharedHandle> DeviceFile::name(std::uint32_t index, std::uint32_t ipc_flags) {
    std::lock_guard lock{mutex_};
    auto range = shared_table::read(fd_, index);
    if (!range) return errno = EINVAL, std::nullopt;
    while (range->nonce == 0)
        if (getrandom(&range->nonce, sizeof range->nonce, 0) < 0) return {};
    range->ipc_flags = ipc_flags;
    if (!shared_table::write(fd_, index, *range)) return {};
    return SharedHandle{static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(fd_), index, range->nonce};
}

std::uint64_t DeviceFile::held_vram() {
    std::lock_guard lock{mutex_};
    give_back_held();
    std::uint64_t bytes = 0;
    for (const Held& held : held_)
        if (const auto entry = shared_table::read(fd_, held.index); entry && (entry->flags & abi::kVram))
            bytes += held.range.size;
    return bytes;
}

}  // namespace kfdemu
