/* Memory of GPUs, pinned host memory, and registrations of the program's own memory. */
#ifndef HSADRV_C_MEMORY_H
#define HSADRV_C_MEMORY_H

#include "hsadrv/c/driver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_memory_handle* hsadrv_memory;
typedef struct hsadrv_registration_handle* hsadrv_registration;

typedef enum hsadrv_memory_kind {
    HSADRV_MEMORY_DEVICE = 0,      /* of the GPU, coarse-grained: other GPUs and the host see writes between kernels */
    HSADRV_MEMORY_DEVICE_FINE = 1, /* of the GPU, fine-grained; not every GPU has it */
    HSADRV_MEMORY_HOST = 2,        /* pinned and fine-grained: the host and all GPUs use it in place */
    HSADRV_MEMORY_HOST_COARSE = 3  /* pinned and coarse-grained */
} hsadrv_memory_kind;

/* Allocates size_bytes bytes of a hsadrv_memory_kind, aligned to 4096, uninitialised. Host memory is accessible to
 * the host and all GPUs, device memory to `device`. 0 bytes give memory whose address is null. Errors:
 * HSADRV_ERROR_OUT_OF_MEMORY with what the pool has; HSADRV_ERROR_NOT_OFFERED if the GPU has no memory of that kind.
 * */
HSADRV_API hsadrv_result hsadrv_memory_create(hsadrv_device device, uint32_t kind, size_t size_bytes,
                                              hsadrv_memory* memory) HSADRV_NOEXCEPT;

/* Frees it, after kernels that were launched with it as an argument (hsadrv_argument::memory) and graphs that hold it.
 * Other work that uses its address must be complete: see hsadrv_memory_destroy_on(). */
HSADRV_API hsadrv_result hsadrv_memory_destroy(hsadrv_memory memory) HSADRV_NOEXCEPT;

/* The address, for kernels and copies; also for the host if it is host memory. */
HSADRV_API hsadrv_result hsadrv_memory_address(hsadrv_memory memory, void** address) HSADRV_NOEXCEPT;

/* The size in bytes, as requested. */
HSADRV_API hsadrv_result hsadrv_memory_size(hsadrv_memory memory, size_t* size_bytes) HSADRV_NOEXCEPT;

/* Lets another GPU use device memory in its kernels. Copies need no permission. Errors: HSADRV_ERROR_INVALID_ARGUMENT
 * if it cannot. */
HSADRV_API hsadrv_result hsadrv_memory_allow_access(hsadrv_memory memory, hsadrv_device device) HSADRV_NOEXCEPT;

/* Pins memory of the program, and maps it for `device`, or for all GPUs if that is null. Copies of it are not staged
 * then, and kernels use it at the registration's address. kind: HSADRV_MEMORY_HOST or HSADRV_MEMORY_HOST_COARSE. The
 * memory must stay mapped until the registration is destroyed. Ranges may overlap. Errors:
 * HSADRV_ERROR_INVALID_ARGUMENT for an empty range, pages that are not mapped, and memory of this library;
 * HSADRV_ERROR_OUT_OF_MEMORY. */
HSADRV_API hsadrv_result hsadrv_registration_create(hsadrv_device device, void* host, size_t size_bytes, uint32_t kind,
                                                    hsadrv_registration* registration) HSADRV_NOEXCEPT;

/* Work that uses it must be complete. */
HSADRV_API hsadrv_result hsadrv_registration_destroy(hsadrv_registration registration) HSADRV_NOEXCEPT;

/* The GPUs' address of the beginning of the range. */
HSADRV_API hsadrv_result hsadrv_registration_address(hsadrv_registration registration, void** address) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
