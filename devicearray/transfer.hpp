// Internal: executes transfers between two arrays on a stream, as planned by transfer_plan.hpp.
//
//     transfer("DeviceNDArray::copy_to_host", {host.data, host.dtype, host.layout, {}},
//              {array.data(), array.dtype(), array.layout(), array.keep_alive()}, stream, deadline);
//
// Runs in the stream's order. The stream keeps the sides' owners and temporaries alive until the transfer is complete.
// Returns at once, with two exceptions: a pageable destination is filled on return; if the CPU moves elements between
// host memories, it waits for the stream's earlier work and has finished on return. A pageable source may be reused on
// return. Throws what plan_transfer throws, with nothing enqueued, and the stream's errors, after which the destination
// may be partly written. A transfer that would need a large temporary is split into pieces, so that the temporary takes
// a few tens of MiB at most, unless the sides overlap.
#pragma once

#include <memory>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv::detail {

/// Borrows, for the duration of the call.
struct TransferEnd {
    const void* data;
    const DType& dtype;
    const Layout& layout;
    const std::shared_ptr<const void>& keep_alive;  ///< null for the caller's memory
};

/// Writes to `to.data`.
void transfer(const char* call, const TransferEnd& to, const TransferEnd& from, Stream& stream, Deadline deadline);

}  // namespace hsadrv::detail
