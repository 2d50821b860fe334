// Attributes for kernels and for variables and pointers in LDS, for freestanding C++20 compiled by clang for amdgcn,
// without HIP and device libraries.
//
//     #include <shared/device/device.hpp>
//     HSADRV_KERNEL void twice(float* p) { p[hsadrv::get_global_id(0)] *= 2; }
//
//     clang++ -x c++ -std=c++20 -ffreestanding -fno-exceptions -fno-rtti -Xclang -fconvergent-functions
//         --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib ...
//
// Before clang 20, C++ functions for a GPU are not convergent unless -fconvergent-functions is given: the compiler may
// copy a cross-lane call into both sides of a branch, where the lanes no longer meet (LLVM LangRef, `convergent`). The
// functions of these headers are marked; a kernel's own functions that call them are not.
#pragma once

#include "../cpp20.hpp"

#include <stdint.h>

#if !defined(__AMDGCN__)
#error "shared/device/ is for kernels: compile with clang and --target=amdgcn-amd-amdhsa"
#endif

/// A kernel: the host finds it by its unmangled name. Pointer arguments point to global memory.
#define HSADRV_KERNEL extern "C" __attribute__((amdgpu_kernel, visibility("protected")))

/// LDS, AMDGPU's address space 3. A kernel's pointer argument into it is a `dynamic_shared_pointer`, sized at launch.
#define HSADRV_LDS __attribute__((address_space(3)))

/// Global memory, address space 1. Pointers to it may stay generic: clang infers the address space.
#define HSADRV_GLOBAL __attribute__((address_space(1)))

/// Device functions are always inlined: a call needs a stack frame in scratch, and static LDS belongs to kernels.
#define HSADRV_DEVICE [[gnu::always_inline]] inline
/// For functions that exchange values between lanes: they are not moved into or out of branches (LLVM LangRef,
/// `convergent`).
#define HSADRV_CONVERGENT [[clang::convergent, gnu::always_inline]] inline
/// The same, for use after a lambda's parameters.
#define HSADRV_LAMBDA __attribute__((always_inline, convergent))
