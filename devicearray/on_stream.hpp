// The stream of an array operation: the last argument of the arrays' functions.
//
//     d_a.copy_to_host(a, stream);      // in the order of that stream
//     d_a.copy_to_host(a);              // on the array's bound stream, else on this thread's, with a wait
//
// Borrows the stream for the duration of the call.
#pragma once

#include "hsadrv/stream.hpp"

namespace hsadrv {

class OnStream {
  public:
    /// Default: the stream that the array is bound to (DeviceNDArray::bind). An unbound array uses the calling thread's
    /// stream on the array's device, whichever device is current, and the call returns when the work is done. New
    /// arrays are created on the current Context's device. A thread without a Context must give a stream.
    OnStream() = default;
    OnStream(Stream& stream) : stream_(&stream) {}  // NOLINT: as numba's stream=…
    OnStream(Stream&&) = delete;

    Stream* get() const { return stream_; }

  private:
    Stream* stream_ = nullptr;
};

}  // namespace hsadrv
