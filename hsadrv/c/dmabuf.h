/* Device memory as a file descriptor, for other processes, drivers and libraries: hsadrv/dmabuf.hpp in C. */
#ifndef HSADRV_C_DMABUF_H
#define HSADRV_C_DMABUF_H

#include "hsadrv/c/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A dma-buf that contains size_bytes bytes of the memory, from offset_bytes on. It keeps the memory itself after
 * hsadrv_memory_destroy(). descriptor: the caller closes it; -1 if the function fails. dmabuf_offset_bytes: of the
 * first byte in the dma-buf. Errors: HSADRV_ERROR_NOT_OFFERED before ROCm 5.6; HSADRV_ERROR_INVALID_ARGUMENT for a
 * range that extends past the memory, and for memory that was not allocated from a pool. */
HSADRV_API hsadrv_result hsadrv_memory_export_dmabuf(hsadrv_memory memory, size_t offset_bytes, size_t size_bytes,
                                                     int* descriptor, uint64_t* dmabuf_offset_bytes) HSADRV_NOEXCEPT;

/* Maps all of a dma-buf for these GPUs, at least one: this library's, Vulkan's, another process's. The descriptor stays
 * the caller's and is not needed after the call; hsadrv_memory_destroy() unmaps the memory. Errors:
 * HSADRV_ERROR_INVALID_ARGUMENT for a descriptor of anything else, or of memory that these GPUs cannot reach. */
HSADRV_API hsadrv_result hsadrv_memory_import_dmabuf(const hsadrv_device* devices, size_t device_count, int descriptor,
                                                     hsadrv_memory* memory) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
