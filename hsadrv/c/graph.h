/* Graphs: work of a stream that is recorded once and replayed many times. */
#ifndef HSADRV_C_GRAPH_H
#define HSADRV_C_GRAPH_H

#include "hsadrv/c/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_graph_handle* hsadrv_graph;

/* From here on the stream's calls are recorded instead of executed. Calls that cannot be recorded, such as
 * hsadrv_stream_synchronize, fail and record nothing. Use the stream from one thread until the capture ends. Another
 * stream that waits for an event recorded in the capture takes part in it from then on. Errors:
 * HSADRV_ERROR_INVALID_ARGUMENT if a capture is active. */
HSADRV_API hsadrv_result hsadrv_stream_begin_capture(hsadrv_stream stream) HSADRV_NOEXCEPT;

/* Ends the capture and returns what was recorded, ready to be launched. The graph holds kernels and `memory` of
 * arguments; other memory that its copies and pointers use must stay valid (hsadrv_stream_hold() during the capture).
 * Errors: HSADRV_ERROR_INVALID_ARGUMENT without a capture, and naming the streams that took part and whose work this
 * one does not wait for; the capture then goes on. */
HSADRV_API hsadrv_result hsadrv_stream_end_capture(hsadrv_stream stream, hsadrv_graph* graph) HSADRV_NOEXCEPT;

/* Replays in flight are unaffected. */
HSADRV_API hsadrv_result hsadrv_graph_destroy(hsadrv_graph graph) HSADRV_NOEXCEPT;

/* The number of recorded operations, and of kernels among them. Either pointer may be null. */
HSADRV_API hsadrv_result hsadrv_graph_size(hsadrv_graph graph, size_t* nodes, size_t* kernels) HSADRV_NOEXCEPT;

/* Replays it on a stream of the same GPU, in the stream's order. Returns once it is submitted. */
HSADRV_API hsadrv_result hsadrv_graph_launch(hsadrv_graph graph, hsadrv_stream stream,
                                             uint64_t timeout_ns) HSADRV_NOEXCEPT;

/* Replaces the launch of a recorded kernel, numbered from zero in the order of recording, from the next replay on:
 * its arguments, its sizes, or the kernel itself. Checked as hsadrv_kernel_launch does; if it fails, the graph is
 * unchanged. Waits only if replays of both of the last two updates are in flight, and for an update by another thread.
 * Launches meanwhile are as before it. The graph holds `memory` of the arguments until another update has replaced it
 * and no replay uses it. */
HSADRV_API hsadrv_result hsadrv_graph_update(hsadrv_graph graph, size_t index, hsadrv_kernel kernel,
                                             const hsadrv_launch_config* config, const hsadrv_argument* arguments,
                                             size_t argument_count, uint64_t timeout_ns) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
