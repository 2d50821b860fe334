// The types of a source's kernels, stated in the code object; clang states them for OpenCL C alone. hsadrv::compile and
// hsadrv-cc find them, define the macro and include this header before the source: nothing to write there.
//
// The section .hsadrv.types has texts that end in zero: a kernel's name, then its arguments' types as OpenCL C spells
// them, with commas between them, empty where it has no name for one. Zeros between such pairs are padding.
#pragma once
#pragma clang system_header

#ifdef HSADRV_KERNEL_TYPES
namespace hsadrv::detail {
__attribute__((used, section(".hsadrv.types"))) static constexpr char kernel_types[] = HSADRV_KERNEL_TYPES;
}
#endif
