/* Arrays in memory of GPUs and of the host, as NumPy describes them: transfers between any two layouts, views, and
 * exchange with other processes and libraries. In libdevicearray.
 *
 *   float host[480][640];
 *   hsadrv_array image = HSADRV_ARRAY("<f4", host, 480, 640), gpu_image = HSADRV_ARRAY("<f4", NULL, 480, 640), rows;
 *   hsadrv_array_create(stream, &gpu_image);                              // memory of the GPU
 *   hsadrv_array_copy_and_wait(stream, &gpu_image, &image, HSADRV_FOREVER);
 *   hsadrv_index every_second[] = {{.kind = HSADRV_INDEX_SLICE, .step = 2, .given = HSADRV_INDEX_STEP}};
 *   hsadrv_array_slice(&gpu_image, every_second, 1, &rows);               // rows 0, 2, 4, …
 *   hsadrv_array_copy_and_wait(stream, &rows, &other, HSADRV_FOREVER);
 *   hsadrv_memory_destroy(gpu_image.memory);                              // views need no end of their own
 *
 * A hsadrv_array is a value that describes an array: it owns nothing. Copying it copies the description. */
#ifndef HSADRV_ARRAY_H
#define HSADRV_ARRAY_H

#include "hsadrv/hsadrv.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HSADRV_ARRAY_MAX_RANK = 64 };

typedef enum hsadrv_array_flags {
    HSADRV_ARRAY_STRIDED = 1,   /* strides_bytes count; otherwise the elements are in C order, without gaps */
    HSADRV_ARRAY_READ_ONLY = 2, /* not a destination */
    HSADRV_ARRAY_ON_GPU = 4     /* in memory of the GPU that hsadrv_driver_device() numbers `gpu` */
} hsadrv_array_flags;

typedef struct hsadrv_array {
    size_t struct_size;
    void* data;           /* the first element, whose indices are all zero; null if there are no elements */
    hsadrv_memory memory; /* what the elements are in; operations keep it until they are complete. Null: memory of the
                             program, which stays valid until then */
    const char* dtype;    /* as NumPy writes it: "<f4", "float32", "[('x', '<f4'), ('y', '<i2', (3,))]". In what a
                             function returns: valid until the process ends */
    uint32_t rank;
    uint32_t flags; /* hsadrv_array_flags */
    uint32_t gpu;   /* with HSADRV_ARRAY_ON_GPU, which transfers do not need: they find out where the memory is */
    uint32_t reserved;
    int64_t shape[HSADRV_ARRAY_MAX_RANK];
    int64_t strides_bytes[HSADRV_ARRAY_MAX_RANK]; /* may be zero or negative */
} hsadrv_array;

/* The type of elements at their first element, and up to 64 extents; in C order. */
#define HSADRV_ARRAY(type, first, ...)                                         \
    {                                                                          \
        .struct_size = sizeof(hsadrv_array), .data = (first), .dtype = (type), \
        .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .shape = { \
            __VA_ARGS__                                                        \
        }                                                                      \
    }

/* Allocates memory of the stream's GPU for the array that is described, uninitialised, from the pool of all arrays;
 * sets data, memory, gpu and its flag. hsadrv_memory_destroy(memory) frees it, when the work that uses it is complete.
 * An empty array gets no memory. Errors: HSADRV_ERROR_INVALID_ARGUMENT for a type, shape or strides that are none;
 * HSADRV_ERROR_OUT_OF_MEMORY. */
HSADRV_API hsadrv_result hsadrv_array_create(hsadrv_stream stream, hsadrv_array* array) HSADRV_NOEXCEPT;

/* to[...] = from, for equal shapes and types and any layouts, in the stream's order. If they overlap, the result is as
 * if `from` had been copied first. Returns at once, but for two cases: pageable memory of the host is filled, or may be
 * reused, on return; and if the CPU moves elements, it waits for the stream's earlier work. Errors, with nothing
 * enqueued: HSADRV_ERROR_INVALID_ARGUMENT for another shape or type, and for a destination that is read-only or whose
 * elements share memory. */
HSADRV_API hsadrv_result hsadrv_array_copy(hsadrv_stream stream, const hsadrv_array* to, const hsadrv_array* from,
                                           uint64_t timeout_ns) HSADRV_NOEXCEPT;
/* The same; it is complete on return. */
HSADRV_API hsadrv_result hsadrv_array_copy_and_wait(hsadrv_stream stream, const hsadrv_array* to,
                                                    const hsadrv_array* from, uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* Which conversions of types are allowed: NumPy's casting of the same names. */
typedef enum hsadrv_casting {
    HSADRV_CASTING_NO = 0,        /* none */
    HSADRV_CASTING_SAFE = 1,      /* those that keep every value */
    HSADRV_CASTING_SAME_KIND = 2, /* those, and within a kind: float64 to float32 */
    HSADRV_CASTING_UNSAFE = 3     /* any */
} hsadrv_casting;

/* NumPy's to[...] = from: `from` is broadcast to the shape of `to`, and converted as hsadrv_casting allows. Conversions
 * are made by the CPU: the call then waits for the stream's earlier work, and is complete on return; otherwise as
 * hsadrv_array_copy(). Errors, too, for shapes that cannot be broadcast, and for types that cannot be converted. */
HSADRV_API hsadrv_result hsadrv_array_assign(hsadrv_stream stream, const hsadrv_array* to, const hsadrv_array* from,
                                             uint32_t casting, uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* Sets every element to the one at `value`, of the array's type, in the stream's order. */
HSADRV_API hsadrv_result hsadrv_array_fill(hsadrv_stream stream, const hsadrv_array* to, const void* value,
                                           uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* ---- views: descriptions of the same memory. `view` may be `array` itself. Nothing is accessed. */

typedef enum hsadrv_index_kind {
    HSADRV_INDEX_INTEGER = 0,  /* array[start]; negative: from the end */
    HSADRV_INDEX_SLICE = 1,    /* array[start:stop:step], of which `given` says what is there */
    HSADRV_INDEX_NEW_AXIS = 2, /* array[None] */
    HSADRV_INDEX_ELLIPSIS = 3  /* array[...] */
} hsadrv_index_kind;

enum { HSADRV_INDEX_START = 1, HSADRV_INDEX_STOP = 2, HSADRV_INDEX_STEP = 4 };

typedef struct hsadrv_index {
    uint32_t kind;  /* hsadrv_index_kind */
    uint32_t given; /* HSADRV_INDEX_START | HSADRV_INDEX_STOP | HSADRV_INDEX_STEP */
    int64_t start, stop, step;
} hsadrv_index;

/* Python's array[indices]. */
HSADRV_API hsadrv_result hsadrv_array_slice(const hsadrv_array* array, const hsadrv_index* indices, size_t count,
                                            hsadrv_array* view) HSADRV_NOEXCEPT;
/* The same elements in another shape, counted in `order`: 'C', 'F' or 'A'; one extent may be -1. Errors:
 * HSADRV_ERROR_INVALID_ARGUMENT if that needs a copy. */
HSADRV_API hsadrv_result hsadrv_array_reshape(const hsadrv_array* array, const int64_t* shape, uint32_t rank,
                                              char order, hsadrv_array* view) HSADRV_NOEXCEPT;
/* axes: array->rank numbers; null: the reverse order. */
HSADRV_API hsadrv_result hsadrv_array_transpose(const hsadrv_array* array, const int32_t* axes,
                                                hsadrv_array* view) HSADRV_NOEXCEPT;
/* Not a destination, if elements then share memory. */
HSADRV_API hsadrv_result hsadrv_array_broadcast(const hsadrv_array* array, const int64_t* shape, uint32_t rank,
                                                hsadrv_array* view) HSADRV_NOEXCEPT;
/* One field of every record. */
HSADRV_API hsadrv_result hsadrv_array_field(const hsadrv_array* array, const char* name,
                                            hsadrv_array* view) HSADRV_NOEXCEPT;
/* The same bytes as elements of another type. */
HSADRV_API hsadrv_result hsadrv_array_view(const hsadrv_array* array, const char* dtype,
                                           hsadrv_array* view) HSADRV_NOEXCEPT;

/* The bytes that the elements take, with gaps: size_bytes from begin_bytes on, relative to the first element. */
HSADRV_API hsadrv_result hsadrv_array_extent(const hsadrv_array* array, int64_t* begin_bytes,
                                             size_t* size_bytes) HSADRV_NOEXCEPT;

/* ---- exchange */

/* An array of a GPU as a line of text for another process, which attaches it. The exporter keeps the array until that
 * process is done. text: room for `capacity` bytes, or null with 0; *size: the bytes that are needed, with the last
 * zero. Errors: HSADRV_ERROR_INVALID_ARGUMENT for other memory, and if the text does not fit (*size is set). */
HSADRV_API hsadrv_result hsadrv_array_export_ipc(const hsadrv_array* array, char* text, size_t capacity,
                                                 size_t* size) HSADRV_NOEXCEPT;
/* Sets all of *array; hsadrv_memory_destroy(array->memory) detaches it. Trust the process that made the text. */
HSADRV_API hsadrv_result hsadrv_array_attach_ipc(hsadrv_device device, const char* text,
                                                 hsadrv_array* array) HSADRV_NOEXCEPT;

/* A DLManagedTensor, or with versioned != 0 a DLManagedTensorVersioned, that shares the array's memory and keeps
 * array->memory; call its deleter. Order the work: DLPack has no stream here. Errors: HSADRV_ERROR_INVALID_ARGUMENT for
 * types and strides that DLPack cannot describe, and for a read-only array without `versioned`;
 * HSADRV_ERROR_NOT_OFFERED if the library was built without DLPack. */
HSADRV_API hsadrv_result hsadrv_array_export_dlpack(const hsadrv_array* array, uint32_t versioned,
                                                    void** tensor) HSADRV_NOEXCEPT;
/* Calls the deleter of a tensor that was not imported. */
HSADRV_API hsadrv_result hsadrv_array_release_dlpack(void* tensor, uint32_t versioned) HSADRV_NOEXCEPT;
/* For bindings of Python: the destructor of a PyCapsule that is named "dltensor" or "dltensor_versioned" and holds such
 * a tensor. It uses the interpreter's own functions, and leaves an exception that is being raised as it is. */
HSADRV_API void hsadrv_array_end_capsule(void* capsule) HSADRV_NOEXCEPT;
/* Takes such a tensor, of a GPU or of the host: sets all of *array. hsadrv_memory_destroy(array->memory) calls the
 * tensor's deleter, when the work that uses it is complete. If it fails, the tensor is not taken. */
HSADRV_API hsadrv_result hsadrv_array_import_dlpack(void* tensor, uint32_t versioned,
                                                    hsadrv_array* array) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
