/* Streams: operations that run in the order in which they were submitted. */
#ifndef HSADRV_C_STREAM_H
#define HSADRV_C_STREAM_H

#include "hsadrv/c/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_stream_handle* hsadrv_stream;

typedef enum hsadrv_priority {
    HSADRV_PRIORITY_NORMAL = 0,
    HSADRV_PRIORITY_LOW = 1,
    HSADRV_PRIORITY_HIGH = 2
} hsadrv_priority;

typedef struct hsadrv_stream_options {
    size_t struct_size;
    const char* name;        /* for messages; copied */
    uint32_t packets;        /* operations in flight, a power of two; 0: 1024 */
    uint32_t exclusive;      /* not 0: a hardware queue that no other stream uses */
    size_t kernarg_bytes;    /* of arguments in flight, a multiple of 256; 0: 512 KiB */
    const uint32_t* cu_mask; /* a bit for each compute unit that kernels may use; null: all. Copied */
    size_t cu_mask_words;
    uint32_t priority; /* hsadrv_priority */
    uint32_t reserved; /* 0 */
} hsadrv_stream_options;

/* Makes a stream. options may be null. Errors: HSADRV_ERROR_OUT_OF_MEMORY if the GPU has no queue left,
 * HSADRV_ERROR_DEVICE_LOST after a memory fault. */
HSADRV_API hsadrv_result hsadrv_stream_create(hsadrv_device device, const hsadrv_stream_options* options,
                                              hsadrv_stream* stream) HSADRV_NOEXCEPT;

/* Waits for the stream's work until the deadline, then ends what remains. The handle is destroyed whatever the result.
 * If another thread is in a call with the stream, that call is completed and then ends the stream, within 10 s. Do not
 * call it in a host function of the stream. Errors: HSADRV_ERROR_STREAM_ENDED if work was lost. */
HSADRV_API hsadrv_result hsadrv_stream_destroy(hsadrv_stream stream, uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* Returns when everything submitted before the call is complete. A failed stream returns its first error from this and
 * from every later call that submits or waits. */
HSADRV_API hsadrv_result hsadrv_stream_synchronize(hsadrv_stream stream, uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* *done is 1 if everything is complete, else 0. Does not wait. Errors: the stream's. */
HSADRV_API hsadrv_result hsadrv_stream_query(hsadrv_stream stream, int* done) HSADRV_NOEXCEPT;

/* Copies between device memory, pinned, registered and pageable host memory of any GPU, in the stream's order. Returns
 * at once for device, pinned and registered memory, which must stay valid until the copy is complete. A pageable source
 * may be reused on return; a pageable destination is complete on return. 0 bytes: nothing happens, whatever the
 * addresses. Errors: HSADRV_ERROR_INVALID_ARGUMENT for a range that extends past its allocation and for ranges that
 * overlap. */
HSADRV_API hsadrv_result hsadrv_stream_copy(hsadrv_stream stream, void* destination, const void* source,
                                            size_t size_bytes, uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* The same, complete on return. After HSADRV_ERROR_TIMEOUT it continues: synchronise before reusing the memory. */
HSADRV_API hsadrv_result hsadrv_stream_copy_and_wait(hsadrv_stream stream, void* destination, const void* source,
                                                     size_t size_bytes, uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* Repeats pattern_bytes bytes over size_bytes bytes of any memory, in the stream's order; the last repetition may be
 * cut short. The pattern is copied. */
HSADRV_API hsadrv_result hsadrv_stream_fill(hsadrv_stream stream, void* destination, size_t size_bytes,
                                            const void* pattern, size_t pattern_bytes,
                                            uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* Destroys the memory's handle now, and frees the memory when everything submitted to the stream so far is complete. */
HSADRV_API hsadrv_result hsadrv_memory_destroy_on(hsadrv_memory memory, hsadrv_stream stream) HSADRV_NOEXCEPT;

/* Holds the memory until everything submitted so far is complete, even if its handle is destroyed; during a capture,
 * for the life of the graph. */
HSADRV_API hsadrv_result hsadrv_stream_hold(hsadrv_stream stream, hsadrv_memory memory) HSADRV_NOEXCEPT;

/* A function of the host. It must not wait for another host function. Non-zero fails the stream with
 * HSADRV_ERROR_HOST_FUNCTION. */
typedef int (*hsadrv_host_function)(void* user);
/* Called once, on any thread, when the library no longer needs `user`: after the function has returned, or when it is
 * certain that it will not be called. Must not call functions that take the stream. */
typedef void (*hsadrv_release_function)(void* user);

/* Calls function(user) in the stream's order: after earlier operations and before later ones, on a thread of the
 * library. Not called if the stream has failed. release may be null; it is not called if this function fails. A capture
 * records the call: each replay makes it, and release is called with the graph's end. */
HSADRV_API hsadrv_result hsadrv_stream_call(hsadrv_stream stream, hsadrv_host_function function, void* user,
                                            hsadrv_release_function release, uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* result: HSADRV_SUCCESS, or the failure that lost the work. message: its text, empty for success; valid during the
 * call. */
typedef void (*hsadrv_completion_function)(hsadrv_result result, const char* message, void* user);

/* Calls function once, on a thread of the library, when everything submitted so far is complete or lost. Later
 * operations do not wait for it. It may free `user` itself. Not called if this function fails. */
HSADRV_API hsadrv_result hsadrv_stream_on_complete(hsadrv_stream stream, hsadrv_completion_function function,
                                                   void* user, uint64_t timeout_ns) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
