// Ranges of a device file that other descriptors and other processes may hold: what a dma-buf and an IPC
// handle are made of.
//
//     int fd = shared.open(index);                        // in the exporter: a descriptor of that range
//     alone auto range = SharedRange::of(fd);                   // in any process that has the descriptor
//     auto other = SharedRange::open({pid, file, index, nonce});   // in any process of the same user
//
// The file's unused first mebibyte has a table of the ranges that were exported. A dma-buf is a descriptor of
// the device file itself whose position, far beyond the end of any file, says which entry it stands for. It
// has a shared lock on the range, which belongs to the descriptor wherever it is duplicated, sent or
// inherited, and which the kernel drops with the last of them, also when a process is killed: so the exporter
// can tell whether a range is still in use, and nothing is left behind.
//
// Thread safety: every function, any thread and process. An entry is written before its index is told to anybody.
#pragma once

#include <cstdint>
#include <optional>

namespace kfdemu {

struct SharedRange {
    std::uint64_t offset = 0, size = 0;  ///< in the device file; size 0: an entry that is free
    std::uint32_t gpu_id = 0;            ///< whose memory it is
    std::uint32_t flags = 0;             ///< as it was allocated (abi::AllocFlags)
    std::uint32_t ipc_flags = 0;         ///< what the runtime wants told to whoever attaches
    std::uint32_t nonce = 0;             ///< of its IPC handle; 0: it has none, or none any more
    std::uint32_t index = 0;             ///< where in the table this is
    std::uint32_t unused[7] = {};

    /// What `fd` is a dma-buf of, or nothing if it is anything else. Leaves the descriptor as it is.
    static std::optional<SharedRange> of(int fd);
};
static_assert(sizeof(SharedRange) == 64, "a table of 64-byte entries");

/// The name of an exported range that crosses to another process as four words.
struct SharedHandle {
    std::uint32_t pid, file, index, nonce;
};

/// A dma-buf of the range, or -1 with errno: EINVAL if there is no such range any more.
int open_shared(const SharedHandle& handle);

namespace shared_table {

inline constexpr std::uint64_t kBytes = 1 << 20;
inline constexpr std::uint32_t kEntries = kBytes / sizeof(SharedRange);  ///< entry 0 marks the file as ours

/// Marks a new device file as one with a table; false: errno.
bool create(int file);
bool write(int file, std::uint32_t index, const SharedRange& range);
std::optional<SharedRange> read(int file, std::uint32_t index);
/// A descriptor of its own on `file`, which is locked and positioned as the dma-buf of entry `index`; -1: errno.
int open(const char* path, std::uint32_t index, const SharedRange& range);
/// Whether any descriptor but `file` itself has [offset, offset + size) locked.
bool is_held(int file, std::uint64_t offset, std::uint64_t size);

}  // namespace shared_table
}  // namespace kfdemu
