// A device file: a memfd whose ranges a program maps with plain mmap, and of which the emulator keeps mappings of its
// own. Because it is a real descriptor, mmap, dup, fork, SCM_RIGHTS and close need no interposing.
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

#include <sys/stat.h>
#include <sys/types.h>

namespace kfdemu {

class DeviceFile {
  public:
    struct Range {
        std::uint64_t offset = 0, size = 0;  ///< in the file; whole pages
        std::byte* host = nullptr;           ///< the emulator's own mapping
    };

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
    void release(const Range& range);

  private:
    int fd_ = -1;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::mutex mutex_;
    std::map<std::uint64_t, std::uint64_t> free_;  // offset → size, disjoint and not adjacent
};

}  // namespace kfdemu
