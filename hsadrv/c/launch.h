/* Kernel launches, with arguments described at run time.
 *
 *   hsadrv_launch_config config = {.struct_size = sizeof config, .grid = {1 << 20}, .workgroup = {256}};
 *   hsadrv_argument arguments[] = {
 *       hsadrv_argument_memory(memory, HSADRV_ARGUMENT_FLOATING, sizeof(float)),
 *       hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, &n, sizeof n)};
 *   hsadrv_kernel_launch(kernel, stream, &config, arguments, 2, HSADRV_FOREVER);
 */
#ifndef HSADRV_C_LAUNCH_H
#define HSADRV_C_LAUNCH_H

#include "hsadrv/c/executable.h"
#include "hsadrv/c/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_launch_config {
    size_t struct_size;
    uint32_t grid[3];         /* work-items; 0 in y or z counts as 1. Work-groups at the end may be partial */
    uint32_t workgroup[3];    /* work-items; 0 in y or z counts as 1; {0}: what the kernel requires, if it does */
    uint32_t lds_bytes;       /* LDS sized at launch, after the kernel's static LDS */
    uint32_t lds_align_bytes; /* a power of two; 0: 16, enough for every access */
    uint32_t stack_bytes;     /* of a work-item, for kernels with a dynamic stack; 0: 16384 */
    uint32_t lds_count;       /* LDS arrays; 0: one if lds_bytes is not 0. At most 16 */
    const uint32_t* lds_offsets_bytes; /* of each array, ascending; may be null for one array */
    uint32_t cooperative; /* not 0: all work-groups are resident at once, for grid_barrier() of the device headers;
                           * refused for a larger grid than the GPU holds. Not for hsadrv_graph_update */
    uint32_t groups[3];   /* in place of `grid`: whole work-groups; 0 in y or z counts as 1. Both is an error */
} hsadrv_launch_config;

/* One argument. Zero what is not used. The size of this structure does not change. */
typedef struct hsadrv_argument {
    uint32_t kind;          /* hsadrv_argument_kind */
    uint32_t element_kind;  /* of what a pointer points to: INTEGER, FLOATING, or UNKNOWN, which is not compared */
    uint32_t element_bytes; /* the size of one element; for vectors and complex numbers, of one component */
    uint32_t reserved;      /* 0 */
    const void* value;      /* POINTER: the pointer. Else the address of the value, read during the call */
    size_t size_bytes;      /* of the value; POINTER: 0 or sizeof(void*) */
    /* POINTER, if not null: the argument is the memory's address plus offset_bytes, `value` is null, and the memory is
     * held until the kernel is complete. */
    hsadrv_memory memory;
    size_t offset_bytes;
} hsadrv_argument;

/* A number or a structure of size_bytes bytes at `bytes`, which must stay valid until the launch has returned. */
static inline hsadrv_argument hsadrv_argument_value(hsadrv_argument_kind kind, const void* bytes, size_t size_bytes) {
    hsadrv_argument argument = {0, 0, 0, 0, NULL, 0, NULL, 0};
    argument.kind = (uint32_t)kind;
    argument.value = bytes;
    argument.size_bytes = size_bytes;
    return argument;
}

/* An address on the GPU: of a registration, of a variable, within memory of any origin. */
static inline hsadrv_argument hsadrv_argument_pointer(const void* pointer, hsadrv_argument_kind element_kind,
                                                      size_t element_bytes) {
    hsadrv_argument argument = {0, 0, 0, 0, NULL, 0, NULL, 0};
    argument.kind = HSADRV_ARGUMENT_POINTER;
    argument.element_kind = (uint32_t)element_kind;
    argument.element_bytes = (uint32_t)element_bytes;
    argument.value = pointer;
    return argument;
}

/* The address of memory that the launch then holds. The launch refuses a null handle, HSADRV_ERROR_INVALID_HANDLE. */
static inline hsadrv_argument hsadrv_argument_memory(hsadrv_memory memory, hsadrv_argument_kind element_kind,
                                                     size_t element_bytes) {
    hsadrv_argument argument = hsadrv_argument_pointer(NULL, element_kind, element_bytes);
    argument.memory = memory ? memory : (hsadrv_memory)1; /* which is no handle */
    return argument;
}

/* Enqueues the kernel. Checks everything against the kernel's metadata before anything is enqueued: the number of
 * arguments, their sizes and kinds, what pointers point to where the metadata state it, whether the GPU can access a
 * `memory`, and grid, work-group and LDS against the limits of kernel and GPU. timeout_ns: for room in the queue.
 * arguments may be null if argument_count is 0. Errors: HSADRV_ERROR_INVALID_ARGUMENT names the argument or the limit;
 * HSADRV_ERROR_INVALID_HANDLE; the stream's. */
HSADRV_API hsadrv_result hsadrv_kernel_launch(hsadrv_kernel kernel, hsadrv_stream stream,
                                              const hsadrv_launch_config* config, const hsadrv_argument* arguments,
                                              size_t argument_count, uint64_t timeout_ns) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
