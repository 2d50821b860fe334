// Internal: NumPy's to[...] = from: with broadcasting, and conversion where it is asked for.
//
//     assign("hsadrv_array_assign", to, from, Casting::same_kind, stream, deadline);
//
// A transfer (transfer.hpp), unless the types differ: then the CPU converts, in pieces, and the call waits for the
// stream's earlier work and is complete on return. Throws InvalidArgument, with nothing enqueued, for shapes that
// cannot be broadcast, types that `casting` does not allow, and destinations whose elements share memory.
#pragma once

#include "devicearray/conversion.hpp"
#include "devicearray/transfer.hpp"

namespace hsadrv::detail {

/// Sets every element to `value`, of the type of the elements.
void fill(const char* call, const TransferEnd& to, const void* value, Stream& stream, Deadline deadline);

void assign(const char* call, const TransferEnd& to, const TransferEnd& from, Casting casting, Stream& stream,
            Deadline deadline);

}  // namespace hsadrv::detail
