/* Results of the C interface's functions, the last error of each thread, and the library's version. */
#ifndef HSADRV_C_ERROR_H
#define HSADRV_C_ERROR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HSADRV_API __attribute__((visibility("default")))
#else
#define HSADRV_API
#endif

#ifdef __cplusplus
#define HSADRV_NOEXCEPT noexcept
extern "C" {
#else
#define HSADRV_NOEXCEPT
#endif

/* The version that a program was compiled with: major, minor, patch, as in hsadrv_version(). */
#define HSADRV_VERSION_MAJOR 0
#define HSADRV_VERSION_MINOR 1
#define HSADRV_VERSION_PATCH 0
#define HSADRV_VERSION (HSADRV_VERSION_MAJOR << 16 | HSADRV_VERSION_MINOR << 8 | HSADRV_VERSION_PATCH)

/* As a timeout_ns: no deadline. */
#define HSADRV_FOREVER UINT64_MAX

typedef enum hsadrv_result {
    HSADRV_SUCCESS = 0,
    HSADRV_ERROR = 1,                     /* the runtime refused a call; see hsadrv_last_error_status() */
    HSADRV_ERROR_INVALID_ARGUMENT = 2,    /* nothing was enqueued */
    HSADRV_ERROR_INVALID_HANDLE = 3,      /* null, destroyed, of another kind, or never a handle */
    HSADRV_ERROR_OUT_OF_MEMORY = 4,       /* of a device or the runtime: memory, queues or another resource */
    HSADRV_ERROR_OUT_OF_HOST_MEMORY = 5,  /* of the process's heap */
    HSADRV_ERROR_INVALID_CODE_OBJECT = 6, /* malformed, or compiled for another target */
    HSADRV_ERROR_QUEUE = 7,               /* the packet processor stopped a queue; the stream has failed */
    HSADRV_ERROR_MEMORY_FAULT = 8,        /* see hsadrv_last_error_address(); the device is lost */
    HSADRV_ERROR_DEVICE_LOST = 9,         /* to a memory fault or a reset, until the process ends */
    HSADRV_ERROR_STREAM_ENDED = 10,       /* the stream was destroyed before the work was complete */
    HSADRV_ERROR_TIMEOUT = 11,            /* the deadline passed; the wait may be repeated */
    HSADRV_ERROR_NO_DEVICE = 12,          /* no usable GPU, or none of that name */
    HSADRV_ERROR_NOT_OFFERED = 13,        /* this HSA runtime is too old */
    HSADRV_ERROR_FORKED_CHILD = 14,       /* HSA cannot be used after fork(); exec() instead */
    HSADRV_ERROR_HOST_FUNCTION = 15,      /* a host function of the stream returned non-zero; the stream has failed */
    HSADRV_ERROR_UNKNOWN = 16,            /* an exception that is not of this library */
    HSADRV_ERROR_COMPILE = 17,            /* a source does not compile; the message is the compiler's */
    HSADRV_ERROR_NO_COMPILER = 18         /* no suitable clang; the message lists what to install */
} hsadrv_result;

/* The name of a hsadrv_result, "HSADRV_ERROR_TIMEOUT"; "unknown result" for other numbers. Static storage. */
HSADRV_API const char* hsadrv_result_name(int result) HSADRV_NOEXCEPT;

/* The last error of the calling thread; HSADRV_SUCCESS if no call of it has failed. Calls that succeed do not change
 * it. */
HSADRV_API hsadrv_result hsadrv_last_error(void) HSADRV_NOEXCEPT;

/* Its message; empty if no call has failed. Valid until the thread's next call that fails, or the thread's end. */
HSADRV_API const char* hsadrv_last_error_message(void) HSADRV_NOEXCEPT;

/* The hsa_status_t that caused it; 0 if no call of the HSA runtime did. */
HSADRV_API uint32_t hsadrv_last_error_status(void) HSADRV_NOEXCEPT;

/* The faulting address of HSADRV_ERROR_MEMORY_FAULT, at page granularity; 0 for other errors. */
HSADRV_API uint64_t hsadrv_last_error_address(void) HSADRV_NOEXCEPT;

/* The version of the library in use: compare it with HSADRV_VERSION. */
HSADRV_API uint32_t hsadrv_version(void) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
