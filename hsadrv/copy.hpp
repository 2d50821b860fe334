// Synchronous copies and fills: complete on return.
//
//   hsadrv::copy(stream, device.data(), host.data(), bytes);
//   hsadrv::copy(stream, back.data(), device.data(), bytes, std::chrono::seconds(1));  // Timeout after a second
//   hsadrv::fill(stream, device.as<float>(), 1.0f, 1000);
//
// Each is ordered after earlier work of the stream. Otherwise it behaves, and fails, as the asynchronous operation of
// the same name in stream.hpp. After Timeout the operation continues and its memory must stay valid; wait for it with
// the stream's next synchronize(). Thread safety: any thread.
#pragma once

#include <cstddef>
#include <span>

#include "hsadrv/deadline.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

inline void copy(Stream& stream, void* destination, const void* source, std::size_t size_bytes,
                 Deadline deadline = {}) {
    stream.copy_async(destination, source, size_bytes, deadline);
    stream.synchronize(deadline);
}

inline void copy_rect(Stream& stream, const Rect& rect, Deadline deadline = {}) {
    stream.copy_rect_async(rect, deadline);
    stream.synchronize(deadline);
}

inline void fill(Stream& stream, void* destination, std::size_t size_bytes, std::span<const std::byte> pattern,
                 Deadline deadline = {}) {
    stream.fill_async(destination, size_bytes, pattern, deadline);
    stream.synchronize(deadline);
}

/// `count` times `value`.
template <class T>
void fill(Stream& stream, T* destination, const T& value, std::size_t count, Deadline deadline = {}) {
    stream.fill_async(destination, value, count, deadline);
    stream.synchronize(deadline);
}

}  // namespace hsadrv
