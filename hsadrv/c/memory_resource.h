/* Memory from an allocator of the program's, such as rmm's or a framework's. hsadrv/memory_resource.hpp in C. */
#ifndef HSADRV_C_MEMORY_RESOURCE_H
#define HSADRV_C_MEMORY_RESOURCE_H

#include "hsadrv/c/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_memory_resource_handle* hsadrv_memory_resource;

/* At least size_bytes bytes at a multiple of alignment_bytes, which the stream's GPU accesses at that address; null if
 * there are none. Other streams may use them at once. Called by hsadrv_memory_create_from(), in its thread. */
typedef void* (*hsadrv_allocate_function)(size_t size_bytes, size_t alignment_bytes, hsadrv_stream stream, void* user);
/* With the numbers of the allocation. All work that was given the memory is complete: another stream may use it at
 * once. Called once for each allocation, on any thread. Must not use streams, or wait. */
typedef void (*hsadrv_deallocate_function)(void* address, size_t size_bytes, size_t alignment_bytes, void* user);

typedef struct hsadrv_memory_callbacks {
    size_t struct_size;
    hsadrv_allocate_function allocate;     /* from any thread, several at once */
    hsadrv_deallocate_function deallocate; /* likewise */
    hsadrv_release_function release;       /* after the last deallocation, once; may be null */
    void* user;
} hsadrv_memory_callbacks;

/* A resource of the program's functions, which must not leave by an exception or longjmp. The structure is copied.
 * release is not called if this function fails. */
HSADRV_API hsadrv_result hsadrv_memory_resource_create(hsadrv_driver driver, const hsadrv_memory_callbacks* callbacks,
                                                       hsadrv_memory_resource* resource) HSADRV_NOEXCEPT;

/* A caching allocator of this library over memory of a hsadrv_memory_kind: it makes no call of the runtime for memory
 * that was freed before. limit_bytes: the most that it holds; 0: no limit. Alignments are at most 256 bytes. */
HSADRV_API hsadrv_result hsadrv_memory_resource_create_cache(hsadrv_device device, uint32_t kind, size_t limit_bytes,
                                                             hsadrv_memory_resource* resource) HSADRV_NOEXCEPT;

/* Memory that was allocated from it keeps it. */
HSADRV_API hsadrv_result hsadrv_memory_resource_destroy(hsadrv_memory_resource resource) HSADRV_NOEXCEPT;

/* Allocates from the resource, for a stream's GPU. alignment_bytes: a power of two, or 0: 256. 0 bytes give memory
 * whose address is null, and call no function. The memory is used and destroyed as any other; it is given back when its
 * handle is destroyed, and kernels, graphs and hsadrv_stream_hold() hold it no longer. Errors:
 * HSADRV_ERROR_OUT_OF_MEMORY if the resource returns null. */
HSADRV_API hsadrv_result hsadrv_memory_create_from(hsadrv_memory_resource resource, hsadrv_stream stream,
                                                   size_t size_bytes, size_t alignment_bytes,
                                                   hsadrv_memory* memory) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
