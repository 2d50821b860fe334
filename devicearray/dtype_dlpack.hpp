// Types as DLPack describes them: a code, bits and lanes (DLDataType of dlpack.h, whose fields these are).
//
//     dtype_from_dlpack({2, 32, 1});          // float32
//     dtype_from_dlpack({2, 32, 4});          // a subarray of four float32: a vector type
//     dlpack_type(dtypes::bfloat16);          // {4, 16, 1}
//
// No state; dlpack.h is not needed. Throws InvalidArgument for unsupported codes and widths, such as opaque handles and
// 8-bit floats, and for types that DLPack has no code for.
#pragma once

#include <cstdint>

#include "devicearray/dtype.hpp"

namespace hsadrv {

struct DLPackType {
    std::uint8_t code = 0;  ///< DLDataTypeCode: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool
    std::uint8_t bits = 0;  ///< of one lane
    std::uint16_t lanes = 1;

    friend bool operator==(const DLPackType&, const DLPackType&) = default;
};

DType dtype_from_dlpack(DLPackType type);

/// A one-dimensional subarray becomes lanes.
DLPackType dlpack_type(const DType& type);

}  // namespace hsadrv
