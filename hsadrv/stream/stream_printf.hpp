// Internal: the memory in which the kernels of a stream leave what OpenCL C's printf prints.
//
//   const std::shared_ptr<PrintfBuffer> buffer = stream.printf().buffer(formats, filling);   // made when first needed
//   // … launch the kernel with buffer->address(), then, as a host function in the stream's order:
//   std::vector<std::byte> records = buffer->take();
//
// There is one for each code object, whose formats its records refer to: between a kernel and its host function, other
// threads may have launched kernels of other code objects on the stream. What take() returns may be of several kernels.
//
// The layout is that of ROCm's device library: two dwords, the bytes in use and the bytes of room, and then the
// records. Thread safety: buffer() any thread; address() and take() from the host function or while no kernel of the
// stream runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hsadrv/memory.hpp"

namespace hsadrv::detail {

class PrintfBuffer {
  public:
    /// Of the records of the kernels between two host functions. What finds no room is not printed.
    static constexpr std::uint32_t room_bytes = 1u << 20;

    /// `unwritten`: what the room is filled with. Throws OutOfMemory.
    explicit PrintfBuffer(std::uint32_t unwritten);
    std::uint64_t address() const noexcept { return reinterpret_cast<std::uint64_t>(memory_.data()); }
    /// The records, which are removed.
    std::vector<std::byte> take();

  private:
    struct Header {
        std::uint32_t used_bytes, room_bytes;
    };
    void empty(std::size_t used_bytes) noexcept;

    Allocation memory_;
    std::uint32_t unwritten_;
};

class StreamPrintf {
  public:
    /// The buffer of the kernels with these formats; kept until they are gone, and by the caller for work in flight.
    std::shared_ptr<PrintfBuffer> buffer(const std::shared_ptr<const void>& formats, std::uint32_t unwritten);

  private:
    struct Entry {
        std::weak_ptr<const void> formats;
        std::shared_ptr<PrintfBuffer> buffer;
    };
    std::mutex mutex_;  // guards entries_
    std::vector<Entry> entries_;
};

}  // namespace hsadrv::detail
