/* Signals: numbers that the host and devices change, and wait for. */
#ifndef HSADRV_C_SIGNAL_H
#define HSADRV_C_SIGNAL_H

#include "hsadrv/c/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_signal_handle* hsadrv_signal;

typedef enum hsadrv_signal_flags {
    HSADRV_SIGNAL_PLAIN = 0,
    HSADRV_SIGNAL_SHARED = 1 /* other processes can attach it (c/ipc.h); its waiters spin */
} hsadrv_signal_flags;

/* Of the signal's value, which is signed, and a number. */
typedef enum hsadrv_condition {
    HSADRV_EQUAL = 0,
    HSADRV_NOT_EQUAL = 1,
    HSADRV_LESS = 2,
    HSADRV_GREATER_EQUAL = 3
} hsadrv_condition;

/* Makes a signal of that value. flags: hsadrv_signal_flags. Errors: HSADRV_ERROR_OUT_OF_MEMORY. */
HSADRV_API hsadrv_result hsadrv_signal_create(hsadrv_driver driver, int64_t initial, uint32_t flags,
                                              hsadrv_signal* signal) HSADRV_NOEXCEPT;

/* Streams that wait for it or decrement it, and calls of other threads that wait for it, keep it until then. */
HSADRV_API hsadrv_result hsadrv_signal_destroy(hsadrv_signal signal) HSADRV_NOEXCEPT;

/* Its value. What its writer wrote before is visible after the call. */
HSADRV_API hsadrv_result hsadrv_signal_load(hsadrv_signal signal, int64_t* value) HSADRV_NOEXCEPT;

/* Sets it. What the caller wrote before is visible to those that see the value. */
HSADRV_API hsadrv_result hsadrv_signal_store(hsadrv_signal signal, int64_t value) HSADRV_NOEXCEPT;

/* Adds to it, atomically; a negative number subtracts. Ordered as hsadrv_signal_store(). */
HSADRV_API hsadrv_result hsadrv_signal_add(hsadrv_signal signal, int64_t value) HSADRV_NOEXCEPT;

/* Returns when the value meets the hsadrv_condition, for example HSADRV_LESS than 1. value: what met it; may be null.
 * Errors: HSADRV_ERROR_TIMEOUT; HSADRV_ERROR_INVALID_ARGUMENT for another condition. */
HSADRV_API hsadrv_result hsadrv_signal_wait(hsadrv_signal signal, uint32_t condition, int64_t than, uint64_t timeout_ns,
                                            int64_t* value) HSADRV_NOEXCEPT;

/* Later operations of the stream wait until the signal's value meets the hsadrv_condition; the host does not wait.
 * timeout_ns: for room in the queue. */
HSADRV_API hsadrv_result hsadrv_stream_wait_signal(hsadrv_stream stream, hsadrv_signal signal, uint32_t condition,
                                                   int64_t than, uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* Subtracts one from the signal when everything submitted to the stream so far is complete. timeout_ns: for room in the
 * queue. */
HSADRV_API hsadrv_result hsadrv_stream_decrement(hsadrv_stream stream, hsadrv_signal signal,
                                                 uint64_t timeout_ns) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
