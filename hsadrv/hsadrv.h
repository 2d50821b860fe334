/* The C interface of hsadrv: C99, for programs in C and for bindings of other languages.
 *
 *   hsadrv_driver driver;
 *   hsadrv_device gpu;
 *   hsadrv_stream stream;
 *   if (hsadrv_driver_create(&driver) != HSADRV_SUCCESS || hsadrv_driver_device(driver, 0, &gpu) != HSADRV_SUCCESS ||
 *       hsadrv_stream_create(gpu, NULL, &stream) != HSADRV_SUCCESS) {
 *       fprintf(stderr, "%s\n", hsadrv_last_error_message());
 *   }
 *
 * Results: every function that can fail returns a hsadrv_result. If that is not HSADRV_SUCCESS, the thread's message
 * (c/error.h) names the call, the object, the numbers and, if known, the remedy. A function that fails has enqueued
 * nothing, except where it says so and perhaps with HSADRV_ERROR_OUT_OF_HOST_MEMORY, and sets what it would have
 * returned to null or zero. No C++ exception leaves a function.
 *
 * Handles: each kind has its own type. A handle is a number of a table, not an address: null, a destroyed handle, one
 * of another kind and any other value give HSADRV_ERROR_INVALID_HANDLE. Destroying a handle while another thread is in
 * a call with it is safe: the object ends with that call. Handles that were not destroyed keep their objects until the
 * process ends. Objects hold what they need: they may be destroyed in any order.
 *
 * Pointers: a null pointer gives HSADRV_ERROR_INVALID_ARGUMENT where it is not said to be allowed. Addresses of memory
 * to be copied, filled or passed to kernels cannot be checked like handles: they must be valid, as for memcpy.
 *
 * Structures: those that begin with struct_size may grow in later versions. Set it to sizeof the structure, and the
 * rest to zero before filling in fields: zero means the default everywhere. A library that is older than the program
 * refuses fields that it does not know unless they are zero.
 *
 * Deadlines: each call that may wait takes timeout_ns, nanoseconds from now. 0 polls once, HSADRV_FOREVER does not end.
 * HSADRV_ERROR_TIMEOUT loses no work: the call may be repeated.
 *
 * Threads: every function may be called from any thread at any time, also with the same handles, except where it says
 * otherwise. Fork: in a child forked after hsadrv_driver_create, every function that takes or creates a handle gives
 * HSADRV_ERROR_FORKED_CHILD. */
#ifndef HSADRV_H
#define HSADRV_H

#include "hsadrv/c/agent.h"
#include "hsadrv/c/compile.h"
#include "hsadrv/c/dmabuf.h"
#include "hsadrv/c/driver.h"
#include "hsadrv/c/error.h"
#include "hsadrv/c/event.h"
#include "hsadrv/c/executable.h"
#include "hsadrv/c/graph.h"
#include "hsadrv/c/graph_builder.h"
#include "hsadrv/c/ipc.h"
#include "hsadrv/c/launch.h"
#include "hsadrv/c/managed_memory.h"
#include "hsadrv/c/memory.h"
#include "hsadrv/c/memory_resource.h"
#include "hsadrv/c/signal.h"
#include "hsadrv/c/stream.h"
#include "hsadrv/c/virtual_memory.h"

#endif
