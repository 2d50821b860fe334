// The stream of an array operation: the last argument of the arrays' functions.
//
//     d_a.copy_to_host(a, stream);      // in the order of that stream
//     d_a.copy_to_host(a);              // on the array's bound stream, else on this thread's, with a wait
//     to_device(a, gpu);                // on this thread's stream of that device, with a wait
//
// Borrows the stream for the duration of the call.
#pragma once

#include <concepts>

#include "hsadrv/agent.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

class OnStream {
  public:
    /// Default: the stream that the array is bound to (DeviceNDArray::bind). An unbound array uses the calling thread's
    /// stream on the array's device, whichever device is current, and the call returns when the work is done. New
    /// arrays are created on the current Context's device. A thread without a Context must give a stream or a device.
    OnStream() = default;
    OnStream(Stream& stream) : stream_(&stream) {}  // NOLINT: as numba's stream=…
    OnStream(Stream&&) = delete;
    /// A Context or an AgentRef, as numba.roc's `context`: the calling thread's stream on that device, and the call
    /// returns when the work is done. New arrays are created on that device. A thread without a Context of the device
    /// makes a stream for the call.
    template <std::convertible_to<AgentRef> Device>
    OnStream(const Device& device) : agent_(device) {}  // NOLINT: as numba.roc's context

    Stream* get() const { return stream_; }
    /// Null unless a device was given.
    AgentRef agent() const { return agent_; }

  private:
    Stream* stream_ = nullptr;
    AgentRef agent_;
};

}  // namespace hsadrv
