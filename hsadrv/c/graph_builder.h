/* Graphs that are built node by node, each with the nodes that it follows. hsadrv/graph_builder.hpp in C.
 *
 *   hsadrv_graph_node upload, sides[2];
 *   hsadrv_graph_builder_create(gpu, &builder);
 *   hsadrv_graph_builder_add_copy(builder, NULL, 0, in, host, size, &upload);
 *   hsadrv_graph_builder_add_kernel(builder, &upload, 1, f, &config, left, 3, &sides[0]);
 *   hsadrv_graph_builder_add_kernel(builder, &upload, 1, g, &config, right, 3, &sides[1]);
 *   hsadrv_graph_builder_add_kernel(builder, sides, 2, sum, &config, both, 3, NULL);
 *   hsadrv_graph_builder_finish(builder, &graph);
 *
 * A node starts when the nodes of its list `after` are complete, and sees what they wrote; the list may be null if
 * after_count is 0. Nodes that do not follow each other may overlap. Every function that adds one gives
 * HSADRV_ERROR_INVALID_ARGUMENT, and leaves the graph as it was, for a node of another or a finished graph and for what
 * the call of a stream refuses. `node` may be null, or one of `after`. */
#ifndef HSADRV_C_GRAPH_BUILDER_H
#define HSADRV_C_GRAPH_BUILDER_H

#include "hsadrv/c/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_graph_builder_handle* hsadrv_graph_builder;

/* A plain value; all zero is none. Its size does not change. */
typedef struct hsadrv_graph_node {
    uint64_t graph;
    uint32_t number;
    uint32_t reserved;
} hsadrv_graph_node;

/* An empty graph for the device. The builder has a stream, as hsadrv_stream_create() makes it, and fails like it. */
HSADRV_API hsadrv_result hsadrv_graph_builder_create(hsadrv_device device,
                                                     hsadrv_graph_builder* builder) HSADRV_NOEXCEPT;

/* Graphs that were finished remain. */
HSADRV_API hsadrv_result hsadrv_graph_builder_destroy(hsadrv_graph_builder builder) HSADRV_NOEXCEPT;

/* A launch, checked as hsadrv_kernel_launch() does. The graph holds the kernel and `memory` of the arguments. */
HSADRV_API hsadrv_result hsadrv_graph_builder_add_kernel(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                                         size_t after_count, hsadrv_kernel kernel,
                                                         const hsadrv_launch_config* config,
                                                         const hsadrv_argument* arguments, size_t argument_count,
                                                         hsadrv_graph_node* node) HSADRV_NOEXCEPT;

/* A copy, as hsadrv_stream_copy(). Each replay reads the source. Pageable memory makes launching the graph wait. */
HSADRV_API hsadrv_result hsadrv_graph_builder_add_copy(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                                       size_t after_count, void* destination, const void* source,
                                                       size_t size_bytes, hsadrv_graph_node* node) HSADRV_NOEXCEPT;

/* A fill, as hsadrv_stream_fill(). */
HSADRV_API hsadrv_result hsadrv_graph_builder_add_fill(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                                       size_t after_count, void* destination, size_t size_bytes,
                                                       const void* pattern, size_t pattern_bytes,
                                                       hsadrv_graph_node* node) HSADRV_NOEXCEPT;

/* A host function, as hsadrv_stream_call(): each replay calls it. release is called once, after the graph was
 * destroyed, when no stream that replayed it holds it. */
HSADRV_API hsadrv_result hsadrv_graph_builder_add_call(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                                       size_t after_count, hsadrv_host_function function, void* user,
                                                       hsadrv_release_function release,
                                                       hsadrv_graph_node* node) HSADRV_NOEXCEPT;

/* A whole graph of the same GPU, which the new one keeps. */
HSADRV_API hsadrv_result hsadrv_graph_builder_add_graph(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                                        size_t after_count, hsadrv_graph graph,
                                                        hsadrv_graph_node* node) HSADRV_NOEXCEPT;

/* No work: one node to follow in place of several. */
HSADRV_API hsadrv_result hsadrv_graph_builder_add_empty(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                                        size_t after_count, hsadrv_graph_node* node) HSADRV_NOEXCEPT;

/* Holds the memory for the life of the graph, even if its handle is destroyed: for copies, fills and pointers. */
HSADRV_API hsadrv_result hsadrv_graph_builder_hold(hsadrv_graph_builder builder, hsadrv_memory memory) HSADRV_NOEXCEPT;

/* The graph, ready for hsadrv_graph_launch(). The builder then begins an empty one. */
HSADRV_API hsadrv_result hsadrv_graph_builder_finish(hsadrv_graph_builder builder, hsadrv_graph* graph) HSADRV_NOEXCEPT;

/* The number of a kernel's node, for hsadrv_graph_update(). Errors: HSADRV_ERROR_INVALID_ARGUMENT for a node of another
 * graph, and for one that is not a kernel. */
HSADRV_API hsadrv_result hsadrv_graph_kernel_index(hsadrv_graph graph, const hsadrv_graph_node* node,
                                                   size_t* index) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
