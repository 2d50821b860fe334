// Where an operation on an array happens: the last argument of its functions.
//
//     d_a.copy_to_host(a, stream);      // in the order of that stream
//     d_a.copy_to_host(a);              // of the one it is bound to, else of this thread's own; then it waits
//
// Borrows the stream for the call.
#pragma once

#include "hsadrv/stream.hpp"

namespace hsadrv {

class OnStream {
  public:
    /// Left out: the stream that the array is bound to (DeviceNDArray::bind). An array that is bound to none uses the
    /// calling thread's stream on its own device, whichever is current, and the call returns when the work is done. New
    /// arrays are on the current Context's device. A thread without a Context has to give a stream.
    OnStream() = default;
    OnStream(Stream& stream) : stream_(&stream) {}  // NOLINT: as numba's stream=…
    OnStream(Stream&&) = delete;

    Stream* get() const { return stream_; }

  private:
    Stream* stream_ = nullptr;
};

}  // namespace hsadrv
