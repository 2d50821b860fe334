// Internal: the memory in which the kernels of a stream leave what OpenCL C's printf prints.
//
//   const std::shared_ptr<PrintfBuffer> buffer = stream.printf().buffer(stream, filling);   // made when first needed
//   // … launch the kernel with buffer->address(), then, as a host function in the stream's order:
//   std::vector<std::byte> records = buffer->take();
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

class StreamCore;

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
    /// Attached to the stream: its packets may outlive it.
    std::shared_ptr<PrintfBuffer> buffer(StreamCore& stream, std::uint32_t unwritten);

  private:
    std::mutex mutex_;  // guards buffer_
    std::shared_ptr<PrintfBuffer> buffer_;
};

}  // namespace hsadrv::detail
