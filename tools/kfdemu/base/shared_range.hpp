// Ranges of a device file that are shared with other descriptors and processes: the basis of dma-bufs and IPC handles.
//
//     int fd = shared_table::open(path, index, range);       // in the exporter: a dma-buf of that range
//     auto range = SharedRange::of(fd);                      // in any process that has the descriptor
//     int other = open_shared({pid, file, index, nonce});    // in any process of the same user
//
// The first mebibyte of the file holds a table of the exported ranges, and after it is their metadata. A dma-buf is a
// descriptor of the device file itself, whose file position, far beyond the end of any file, encodes its table entry.
// It holds a shared lock (OFD) on the range. The lock belongs to the open file description, wherever it is duplicated,
// sent or inherited. The kernel drops it with the last descriptor, also when a process is killed. The exporter tests
// the lock to find out whether a range is still in use.
//
// Thread safety: every function, any thread and process. An entry is written before its index is published.
#pragma once

#include <cstdint>
#include <optional>

namespace kfdemu {

struct SharedRange {
    std::uint64_t offset = 0, size = 0;  ///< in the device file; size 0: a free entry
    std::uint32_t gpu_id = 0;            ///< the GPU that owns the memory
    std::uint32_t flags = 0;             ///< as it was allocated (abi::AllocFlags)
    std::uint32_t ipc_flags = 0;         ///< the runtime's flags, passed to importers
    std::uint32_t nonce = 0;             ///< of its IPC handle; 0: no valid handle
    std::uint32_t index = 0;             ///< of this entry in the table
    std::uint32_t unused[7] = {};

    /// The range of the dma-buf `fd`, or std::nullopt if it is not one. Does not change the descriptor.
    static std::optional<SharedRange> of(int fd);
};
static_assert(sizeof(SharedRange) == 64, "a table of 64-byte entries");

/// What programs attach to a buffer (GEM_METADATA). It belongs to the memory: every process that imports it sees it.
struct BufferMetadata {
    std::uint64_t flags = 0, tiling = 0;
    std::uint32_t size_bytes = 0;  ///< of data
    std::uint32_t data[64] = {};
};

/// Names an exported range for another process: the four words of an IPC handle.
struct SharedHandle {
    std::uint32_t pid, file, index, nonce;
};

/// A dma-buf of the range, or -1 with errno: EINVAL if the range no longer exists.
int open_shared(const SharedHandle& handle);

namespace shared_table {

inline constexpr std::uint64_t kBytes = 1 << 20;
inline constexpr std::uint32_t kEntries = kBytes / sizeof(SharedRange);  ///< entry 0 holds the magic number
inline constexpr std::uint64_t kMetadataBytes = kEntries * sizeof(BufferMetadata);
static_assert(kMetadataBytes % 4096 == 0, "ranges start on a page");

/// Writes the magic number to a new device file. False: errno.
bool create(int file);
bool write(int file, std::uint32_t index, const SharedRange& range);
std::optional<SharedRange> read(int file, std::uint32_t index);
/// Frees the entry and clears its metadata. False: errno.
bool erase(int file, std::uint32_t index);
/// Reads and writes exclude each other, in all threads and processes. std::nullopt and false: errno.
std::optional<BufferMetadata> read_metadata(int file, std::uint32_t index);
bool write_metadata(int file, std::uint32_t index, const BufferMetadata& metadata);
/// Opens `path` again, locked and positioned as the dma-buf of entry `index`; -1: errno.
int open(const char* path, std::uint32_t index, const SharedRange& range);
/// Whether any descriptor other than `file` has locked [offset, offset + size).
bool is_held(int file, std::uint64_t offset, std::uint64_t size);

}  // namespace shared_table
}  // namespace kfdemu
