// The type of an array's elements, as launches compare it with a kernel's metadata.
//
//     element_type_of(dtypes::float64)      // floating, 8 bytes: refused for a kernel's uint*
//     element_type_of(dtypes::complex64)    // floating, 4 bytes: accepted for float2*
//
// Thread safety: a pure function.
#pragma once

#include "devicearray/dtype.hpp"
#include "hsadrv/kernel_args.hpp"

namespace hsadrv {

/// Unknown, so that it matches every type, for records, subarrays and raw bytes.
constexpr ElementType element_type_of(const DType& dtype) {
    const auto size_bytes = static_cast<std::uint32_t>(dtype.itemsize());
    if (!dtype.is_scalar()) return {};
    switch (dtype.kind()) {
        case Kind::boolean:
        case Kind::signed_integer:
        case Kind::unsigned_integer:
            return {ArgumentClass::integer, size_bytes};
        case Kind::floating:
            return {ArgumentClass::floating, size_bytes};
        case Kind::complex:
            return {ArgumentClass::floating, size_bytes / 2};
        default:  // bfloat16 and 8-bit floats, whose bits OpenCL C keeps in ushort and uchar
            return {ArgumentClass::any_value, size_bytes};
    }
}

}  // namespace hsadrv
