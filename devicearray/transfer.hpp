// Which copy a transfer between two arrays needs. Pure: types and layouts in, a size out.
//
//     stream.copy_async(to.data, from.data,
//                       transfer_bytes("to_device", to.dtype, to.layout, from.dtype, from.layout));
//
// Today that is one copy of all bytes, between arrays that both lie in C order or both in Fortran's. Throws
// InvalidArgument, naming both sides, for anything else: another element type, another shape, another or no
// order.
#pragma once

#include <cstddef>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"

namespace hsadrv {

std::size_t transfer_bytes(const char* call, DType to_dtype, const Layout& to, DType from_dtype,
                           const Layout& from);

}  // namespace hsadrv
