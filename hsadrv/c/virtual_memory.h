/* Virtual memory: addresses and memory that are separate, and mapped to each other. hsadrv/virtual_memory.hpp in C.
 *
 *   hsadrv_physical_memory_granule(gpu, HSADRV_MEMORY_DEVICE, &granule);
 *   hsadrv_virtual_range_create(driver, 64 * granule, &range);                        // addresses without memory
 *   hsadrv_physical_memory_create(gpu, HSADRV_MEMORY_DEVICE, granule, &part);         // memory without an address
 *   hsadrv_virtual_range_map(range, 0, part, &gpu, 1, &memory);                       // hsadrv_memory_destroy() unmaps
 *
 * For arrays that grow in place, and memory that processes share. Before ROCm 6.0 the functions that create give
 * HSADRV_ERROR_NOT_OFFERED. */
#ifndef HSADRV_C_VIRTUAL_MEMORY_H
#define HSADRV_C_VIRTUAL_MEMORY_H

#include "hsadrv/c/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_physical_memory_handle* hsadrv_physical_memory;
typedef struct hsadrv_virtual_range_handle* hsadrv_virtual_range;

/* Sizes of physical memory are multiples of this many bytes. kind: hsadrv_memory_kind. */
HSADRV_API hsadrv_result hsadrv_physical_memory_granule(hsadrv_device device, uint32_t kind,
                                                        size_t* granule_bytes) HSADRV_NOEXCEPT;

/* Allocates memory without an address. kind: hsadrv_memory_kind. Errors: HSADRV_ERROR_INVALID_ARGUMENT unless the size
 * is a multiple of the granule, and not 0; HSADRV_ERROR_OUT_OF_MEMORY. */
HSADRV_API hsadrv_result hsadrv_physical_memory_create(hsadrv_device device, uint32_t kind, size_t size_bytes,
                                                       hsadrv_physical_memory* physical) HSADRV_NOEXCEPT;

/* A descriptor for hsadrv_physical_memory_import(), also in another process. The caller closes it; -1 if the function
 * fails. */
HSADRV_API hsadrv_result hsadrv_physical_memory_share(hsadrv_physical_memory physical, int* descriptor) HSADRV_NOEXCEPT;

/* What was shared, of the same size. The descriptor stays the caller's. */
HSADRV_API hsadrv_result hsadrv_physical_memory_import(hsadrv_driver driver, int descriptor, size_t size_bytes,
                                                       hsadrv_physical_memory* physical) HSADRV_NOEXCEPT;

/* Frees it, after what it is mapped to was unmapped. */
HSADRV_API hsadrv_result hsadrv_physical_memory_destroy(hsadrv_physical_memory physical) HSADRV_NOEXCEPT;

/* Reserves addresses for the host and all GPUs. Errors: HSADRV_ERROR_INVALID_ARGUMENT unless the size is a multiple of
 * 4096, and not 0; HSADRV_ERROR_OUT_OF_MEMORY if there is no such range. */
HSADRV_API hsadrv_result hsadrv_virtual_range_create(hsadrv_driver driver, size_t size_bytes,
                                                     hsadrv_virtual_range* range) HSADRV_NOEXCEPT;

/* Its first address. */
HSADRV_API hsadrv_result hsadrv_virtual_range_address(hsadrv_virtual_range range, void** address) HSADRV_NOEXCEPT;

/* Maps all of the memory at that offset, readable and writable for these GPUs, at least one. `memory` keeps the range
 * and the physical memory; hsadrv_memory_destroy() unmaps it. Memory that is mapped twice is the same memory. Errors:
 * HSADRV_ERROR_INVALID_ARGUMENT if it does not fit, if the offset is not a multiple of 4096, and if something is mapped
 * there. */
HSADRV_API hsadrv_result hsadrv_virtual_range_map(hsadrv_virtual_range range, size_t offset_bytes,
                                                  hsadrv_physical_memory physical, const hsadrv_device* devices,
                                                  size_t device_count, hsadrv_memory* memory) HSADRV_NOEXCEPT;

/* Gives the addresses back, after what is mapped there was unmapped. */
HSADRV_API hsadrv_result hsadrv_virtual_range_destroy(hsadrv_virtual_range range) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
