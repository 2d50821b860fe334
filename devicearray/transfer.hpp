// Internal: transfers between two arrays, carried out on a stream as transfer_plan.hpp plans them.
//
//     transfer("DeviceNDArray::copy_to_host", {host.data, host.dtype, host.layout, {}},
//              {array.data(), array.dtype(), array.layout(), array.keep_alive()}, stream, deadline);
//
// Happens in the stream's order. The stream keeps alive what the sides own, and temporaries, until the
// transfer is complete. Returns at once, but where pageable memory is the destination: then when it is filled;
// and where the CPU has to move elements between host memories: then when it is done, after waiting for what
// the stream holds. A pageable source may be reused on return. Throws what plan_transfer throws, nothing
// enqueued; what the stream throws, and then elements of the destination may have been written.
// What goes through a large temporary is cut into pieces, so that it needs a few tens of MiB at most, unless the sides
// overlap.
#pragma once

#include <memory>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv::detail {

/// Borrows, for the call.
struct TransferEnd {
    const void* data;
    const DType& dtype;
    const Layout& layout;
    const std::shared_ptr<const void>& keep_alive;  ///< may be null: the caller's memory
};

/// `to.data` is written.
void transfer(const char* call, const TransferEnd& to, const TransferEnd& from, Stream& stream, Deadline deadline);

}  // namespace hsadrv::detail
