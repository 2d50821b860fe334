/* OpenCL C's printf, for kernels compiled without device libraries.
 *
 *     #include "shared/device/opencl_printf.h"
 *     __kernel void hello(void) { printf("%v2d\n", (int2)(1, 2)); }
 *
 * The compiler turns each call into a record in a buffer, for which it takes memory from the function below. The host
 * provides the buffer as a hidden argument and prints it when the kernel is complete. printf returns 0, or -1 if the
 * buffer is full. Source: LLVM, AMDGPUPrintfRuntimeBinding.cpp, and AMDGPUUsage, Code Object V5 Metadata;
 * ROCm-Device-Libs, opencl/src/misc. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_PRINTF_H
#define HSADRV_SHARED_DEVICE_OPENCL_PRINTF_H

/* -mcode-object-version, which the compiler does not tell; hsadrv-cc defines it if it is not 5 or newer. */
#if defined(HSADRV_CODE_OBJECT_VERSION) && HSADRV_CODE_OBJECT_VERSION < 5
#define HSADRV_PRINTF_BUFFER_OFFSET 24
#else
#define HSADRV_PRINTF_BUFFER_OFFSET 72
#endif

struct hsadrv_printf_buffer {
    atomic_uint used; /* bytes that follow */
    uint size;
    char records[];
};

/* Null if there is no room. The compiler finds it by name: used, because nothing calls it yet; static, so that it is
 * inlined, and a kernel lists only the hidden arguments that it needs. */
static __attribute__((used)) __global char* __printf_alloc(uint bytes) {
    __constant char* implicit = (__constant char*)__builtin_amdgcn_implicitarg_ptr();
    __global struct hsadrv_printf_buffer* buffer =
        *(__global struct hsadrv_printf_buffer * __constant*)(implicit + HSADRV_PRINTF_BUFFER_OFFSET);
    if (!buffer) return 0;
    uint used = __opencl_atomic_load(&buffer->used, memory_order_relaxed, memory_scope_device);
    do {
        if (bytes > buffer->size - used) return 0;
    } while (!__opencl_atomic_compare_exchange_weak(&buffer->used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed, memory_scope_device));
    return buffer->records + used;
}

#undef HSADRV_PRINTF_BUFFER_OFFSET
#endif
