// A device file: a memfd whose ranges the program maps with mmap, and which the emulator also maps for itself.
// It is a real descriptor, so mmap, dup, fork, SCM_RIGHTS and close work without interposition.
//
//     DeviceFile render{"kfdemu-renderD128"};
//     auto range = render.allocate(1 << 20);       // an mmap offset, and the emulator's mapping
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

#include "tools/kfdemu/base/shared_range.hpp"

namespace kfdemu {

/// Maps a range of a file for the emulator; nullptr on failure.
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
    /// Whether `status` (from fstat) describes this file, for any descriptor of it.
    bool is(const struct stat& status) const { return status.st_ino == inode_ && status.st_dev == device_; }

    /// `size` zeroed bytes at an offset aligned to `alignment`, or std::nullopt (ENOMEM).
    std::optional<Range> allocate(std::uint64_t size, std::uint64_t alignment = 4096);
    /// Frees the pages. Remaining mappings of the program read zeroes afterwards.
    /// With an index returned by share(): deferred until no process has a descriptor of the range.
    void release(const Range& range, std::uint32_t shared = 0);

    /// Adds a range to the table of exported ranges. Returns its index, or 0 if the table is full.
    std::uint32_t share(const SharedRange& range);
    /// A dma-buf of the entry, or -1 with errno. The range exists as long as the dma-buf is open in any process.
    int open_shared(std::uint32_t index) const;
    /// A handle for kfdemu::open_shared() in another process of this user, which receives `ipc_flags`. std::nullopt:
    /// errno.
    std::optional<SharedHandle> name(std::uint32_t index, std::uint32_t ipc_flags);
    /// Of an entry. std::nullopt and false: errno.
    std::optional<BufferMetadata> metadata(std::uint32_t index) const {
        return shared_table::read_metadata(fd_, index);
    }
    bool set_metadata(std::uint32_t index, const BufferMetadata& metadata) const {
        return shared_table::write_metadata(fd_, index, metadata);
    }
    /// Identifies the file: equal for every descriptor of it, in any process.
    std::pair<dev_t, ino_t> identity() const { return {device_, inode_}; }
    /// Bytes of released VRAM ranges that a dma-buf still holds.
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
    std::vector<bool> entries_;                    // table entries in use; never shrinks
    std::vector<Held> held_;                       // released here, held by a dma-buf
};

}  // namespace kfdemu
