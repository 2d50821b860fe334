// A device file: a memfd whose ranges a program maps with plain mmap, and of which the emulator keeps
// mappings of its own. Because it is a real descriptor, mmap, dup, fork, SCM_RIGHTS and close need no interposing.
//
//     DeviceFile render{"kfdemu-renderD128"};
//     auto range = render.allocate(1 << 20);       // an offset to hand out, bytes to read and write
//     int fd = render.open(O_CLOEXEC);             // what open("/dev/dri/renderD128") returns
//
// Thread safety: every function, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <sys/stat.h>
#include <sys/types.h>

#include <vector>

#include "base/shared_range.hpp"

namespace kfdemu {

/// The emulator's own view of a part of a file, or nullptr.
std::byte* map_for_emulator(int fd, std::uint64_t offset, std::uint64_t size);

class DeviceFile {
  public:
    struct Range {
        std::uint64_t offset = 0, size = 0;  ///< in the file; whole pages
        std::byte* host = nullptr;           ///< the emulator's own mapping
    };

    static constexpr std::uint64_t kFileSize = std::uint64_t{1} << 44;

    explicit DeviceFile(const char* name);
    ~DeviceFile();
    DeviceFile(const DeviceFile&) = delete;
    DeviceFile& operator=(const DeviceFile&) = delete;

    bool valid() const { return fd_ >= 0; }
    /// A new descriptor of the file, or -1 with errno.
    int open(int flags) const;
    /// Whether `status` (from fstat) is of this file, whatever descriptor it came through.
    bool is(const struct stat& status) const { return status.st_ino == inode_ && status.st_dev == device_; }

    /// `size` bytes of zeroes at an offset aligned to `alignment`, or nothing (ENOMEM).
    std::optional<Range> allocate(std::uint64_t size, std::uint64_t alignment = 4096);
    /// Gives the pages back to the host. Mappings that the program still has read zeroes from then on.
    /// With the index that share() gave: only when no descriptor of the range is left in any process.
    void release(const Range& range, std::uint32_t shared = 0);

    /// Puts a range of ours on the table of those that may be shared; its index there, or 0 when the table is full.
    std::uint32_t share(const SharedRange& range);
    /// A dma-buf of the entry, or -1 with errno. It works without the program's help as long as it is open anywhere.
    int open_shared(std::uint32_t index) const;
    /// What another process of this user gives to kfdemu::open_shared(); `ipc_flags` are told to it. Nothing: errno.
    std::optional<SharedHandle> name(std::uint32_t index, std::uint32_t ipc_flags);
    /// Which file it is: equal for each descriptor of it, in any process.
    std::pair<dev_t, ino_t> identity() const { return {device_, inode_}; }
    /// Bytes of released ranges of VRAM that somebody still holds.
    std::uint64_t held_vram();

  private:
    struct Held {
        Range range;
        std::uint32_t index;
    };

    void give_back(const Range& range);
    void give_back_held();

    int fd_ = -1;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::mutex mutex_;
    std::map<std::uint64_t, std::uint64_t> free_;  // offset → size, disjoint and not adjacent
    std::vector<bool> entries_;                    // which of the table are taken; as long as the highest that ever was
    std::vector<Held> held_;                       // released, but not by everybody
};

}  // namespace kfdemu
