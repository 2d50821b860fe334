// The attributes that make a C++ function a kernel and a variable or pointer one in LDS, for freestanding
// C++20 compiled by clang for amdgcn, with no HIP and no device libraries.
//
//     #include <shared/device/device.hpp>
//     HSADRV_KERNEL void twice(float* p) { p[hsadrv::get_global_id(0)] *= 2; }
//
//     clang++ -x c++ -std=c++20 -ffreestanding -fno-exceptions -fno-rtti -Xclang -fconvergent-functions
//         --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib ...
//
// Before clang 20 C++ for a GPU takes functions for those of a CPU unless -fconvergent-functions is said: a call that
// speaks to other lanes is then copied into both sides of a branch, and lanes meet in neither (LLVM LangRef,
// `convergent`). The functions of these headers say themselves what they are; a kernel's own that call them cannot.
#pragma once

#include <stdint.h>

#if !defined(__AMDGCN__)
#error "shared/device/ is for kernels: compile with clang and --target=amdgcn-amd-amdhsa"
#endif

/// A kernel: the host finds it by its unmangled name. Pointer arguments point to global memory.
#define HSADRV_KERNEL extern "C" __attribute__((amdgpu_kernel, visibility("protected")))

/// LDS, AMDGPU's address space 3. A kernel's pointer argument into it is a `dynamic_shared_pointer`: sized at launch.
#define HSADRV_LDS __attribute__((address_space(3)))

/// Global memory, address space 1. Pointers to it may stay plain: clang finds out where they come from.
#define HSADRV_GLOBAL __attribute__((address_space(1)))

/// Device functions are always inlined: a call costs a stack frame in scratch, and static LDS belongs to kernels.
#define HSADRV_DEVICE [[gnu::always_inline]] inline
/// Those that speak to other lanes are not moved into branches, or out of them (LLVM LangRef, `convergent`).
#define HSADRV_CONVERGENT [[clang::convergent, gnu::always_inline]] inline
/// The same behind a lambda's parameters.
#define HSADRV_LAMBDA __attribute__((always_inline, convergent))
