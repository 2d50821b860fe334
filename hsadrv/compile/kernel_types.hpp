// Internal: the types of the arguments of C++ kernels, by a pass over their source.
//
//     kernel_types("extern \"C\" __attribute__((amdgpu_kernel)) void f(const int* p, float x) {}")    // "f\0int*,float\0"
//
// For the macro HSADRV_KERNEL_TYPES of shared/device/kernel_types.hpp, which describes the format. The source is
// preprocessed: macros define kernels, and headers do. extern "C" kernels alone: a mangled name has its types. Type
// names are followed if the source has one meaning of them, whatever its scope; what is not certain is not stated.
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace hsadrv::detail {

/// As a string literal writes it, without its quotes; empty if there is nothing to state.
std::string kernel_types(std::string_view preprocessed);

}  // namespace hsadrv::detail
