// A piece of memory that a GPU can reach: pages, however many names they have (a KFD handle, a GEM handle, a dma-buf).
//
// Owned by shared_ptr: the last name to go gives the pages back. Thread safety: a Buffer does not change, but
// for `shared`, which Memory's lock guards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/counters.hpp"
#include "resources/device_file.hpp"

namespace kfdemu {

struct Buffer {
    unsigned gpu = 0;
    std::uint32_t flags = 0;  ///< abi::AllocFlags
    std::uint64_t size = 0;
    std::byte* host = nullptr;
    std::uint64_t mmap_offset = 0;  ///< in the GPU's render node; 0: the host cannot map it

    DeviceFile* file = nullptr;  ///< whose range it is; nullptr: pages of somebody else
    DeviceFile::Range range{};
    std::uint32_t shared = 0;                    ///< its entry in the file's table, once it was exported
    std::atomic<std::uint64_t>* used = nullptr;  ///< where it counts; relaxed: a number to show and to compare

    int import = -1;  ///< of another process's file, or of a range that its exporter has freed: a dma-buf
    std::uint64_t import_offset = 0;  ///< where in that file

    Buffer() { counters.buffers += 1; }
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

}  // namespace kfdemu
