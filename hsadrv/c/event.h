/* Events: points in a stream, to wait for and to measure the time between. */
#ifndef HSADRV_C_EVENT_H
#define HSADRV_C_EVENT_H

#include "hsadrv/c/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_event_handle* hsadrv_event;

typedef enum hsadrv_event_flags {
    HSADRV_EVENT_PLAIN = 0,
    HSADRV_EVENT_TIMING = 1 /* the device records the time: one more packet */
} hsadrv_event_flags;

/* Makes an event that completes when everything submitted to the stream so far is complete. flags:
 * hsadrv_event_flags. */
HSADRV_API hsadrv_result hsadrv_stream_record(hsadrv_stream stream, uint32_t flags, uint64_t timeout_ns,
                                              hsadrv_event* event) HSADRV_NOEXCEPT;

/* Waits that were enqueued for it are unaffected. */
HSADRV_API hsadrv_result hsadrv_event_destroy(hsadrv_event event) HSADRV_NOEXCEPT;

/* Later operations of the stream wait for the event, on the device: the host does not wait. If the event's stream
 * fails, this one fails with the same error. */
HSADRV_API hsadrv_result hsadrv_stream_wait(hsadrv_stream stream, hsadrv_event event,
                                            uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* Returns when the event is complete. Errors: those of its stream; HSADRV_ERROR_TIMEOUT names what it waits for. */
HSADRV_API hsadrv_result hsadrv_event_synchronize(hsadrv_event event, uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* *done is 1 if the event is complete, else 0. Does not wait. Errors: its stream's. */
HSADRV_API hsadrv_result hsadrv_event_query(hsadrv_event event, int* done) HSADRV_NOEXCEPT;

/* Nanoseconds from begin to end, both complete and recorded with HSADRV_EVENT_TIMING; by the device's clock, or by the
 * host's if they are of different devices. Does not wait. Errors: HSADRV_ERROR if one is not complete,
 * HSADRV_ERROR_INVALID_ARGUMENT if one has no time. */
HSADRV_API hsadrv_result hsadrv_event_elapsed(hsadrv_event begin, hsadrv_event end,
                                              int64_t* elapsed_ns) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
