// Internal: the kind of an argument by the name of its type in the metadata.
//
//   value_class("float");            // floating
//   element_of_pointer("uint4*");    // integers of 4 bytes
//
// Names are those of OpenCL C and C++ scalars. Others, for example typedefs, may be any type. Thread safety: pure
// functions. Source: LLVM AMDGPUUsage, `.type_name`; OpenCL C 2.0, built-in scalar and vector data types.
#pragma once

#include <string_view>

#include "hsadrv/kernel_args.hpp"

namespace hsadrv::detail {

/// The values that an argument of this type accepts; any_value if the name is unknown or empty.
ArgumentClass value_class(std::string_view type_name) noexcept;

/// What a pointer of this type points to; unknown for pointers to pointers, and for names that are unknown.
ElementType element_of_pointer(std::string_view type_name) noexcept;

}  // namespace hsadrv::detail
