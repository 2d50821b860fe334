// A buffer that a GPU can access. It may have several names: a KFD handle, a GEM handle, dma-bufs.
//
// Lifetime: owned by shared_ptr; the pages are freed with the last name. Thread safety: immutable, except for `shared`,
// which Memory's mutex guards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/resources/device_file.hpp"

namespace kfdemu {

struct Buffer {
    unsigned gpu = 0;
    std::uint32_t flags = 0;  ///< abi::AllocFlags
    std::uint64_t size = 0;
    std::byte* host = nullptr;
    std::uint64_t mmap_offset = 0;  ///< in the GPU's render node; 0: the host cannot map it

    DeviceFile* file = nullptr;  ///< the file that contains the range; nullptr: user pages or an import
    DeviceFile::Range range{};
    std::uint32_t shared = 0;                    ///< entry in the file's table; 0: never exported
    std::atomic<std::uint64_t>* used = nullptr;  ///< counter of used bytes to which it adds; relaxed: it orders nothing

    int import = -1;  ///< an imported dma-buf: of another process, or of a range that its exporter has freed
    std::uint64_t import_offset = 0;  ///< in that file

    Buffer() { counters.buffers += 1; }
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

}  // namespace kfdemu
