/* A graph with a fork and a join that is built node by node, in C. Argument: stream.hsaco. */
#define _POSIX_C_SOURCE 200809L

#include <string.h>
#include <time.h>

#include "tests/hsadrv/c/machine.h"

struct steps {
    int calls, releases;
    const uint32_t *left, *right;
    int right_data;
};

static int joined(void* user) {
    struct steps* steps = user;
    ++steps->calls;
    steps->right_data += all_are(steps->left, 31) && all_are(steps->right, 44);
    return 0;
}
static void released(void* user) { __atomic_add_fetch(&((struct steps*)user)->releases, 1, __ATOMIC_RELEASE); }

/* A thread of the library releases what a stream has held, when the stream is destroyed. */
static int release_count(const struct steps* steps) {
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int n = 0; n < 10000 && __atomic_load_n(&steps->releases, __ATOMIC_ACQUIRE) == 0; ++n) nanosleep(&pause, NULL);
    return __atomic_load_n(&steps->releases, __ATOMIC_ACQUIRE);
}

static hsadrv_result add_kernel(const struct machine* m, hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                size_t count, hsadrv_memory data, uint32_t factor, uint32_t summand,
                                hsadrv_graph_node* node) {
    struct scale_add_launch launch;
    describe(&launch, data, factor, summand);
    return hsadrv_graph_builder_add_kernel(builder, after, count, m->scale_add, &launch.config, launch.arguments, 4,
                                           node);
}

/* fill ─ copy ─┬─ left × 3 + 1 ──┬─ call ─ left × 2
 *              └─ right × 4 + 4 ─┘ */
static hsadrv_graph fork_and_join(const struct machine* m, hsadrv_graph_builder builder, hsadrv_memory left,
                                  hsadrv_memory right, struct steps* steps, hsadrv_graph_node* kernel) {
    hsadrv_graph graph = NULL;
    hsadrv_graph_node fill, copy, sides[2], call, join;
    const uint32_t ten = 10;
    void* const to = (void*)(uintptr_t)steps->left;
    OK(hsadrv_graph_builder_add_fill(builder, NULL, 0, to, COUNT * sizeof ten, &ten, sizeof ten, &fill));
    OK(hsadrv_graph_builder_add_copy(builder, &fill, 1, (void*)(uintptr_t)steps->right, to, COUNT * sizeof ten, &copy));
    OK(add_kernel(m, builder, &copy, 1, left, 3, 1, &sides[0]));
    OK(add_kernel(m, builder, &copy, 1, right, 4, 4, &sides[1]));
    OK(hsadrv_graph_builder_add_empty(builder, sides, 2, &join));
    OK(hsadrv_graph_builder_add_call(builder, &join, 1, joined, steps, released, &call));
    OK(add_kernel(m, builder, &call, 1, left, 2, 0, NULL));
    CHECK(hsadrv_graph_builder_add_call(builder, &call, 1, NULL, steps, released, NULL) ==
          HSADRV_ERROR_INVALID_ARGUMENT);
    OK(hsadrv_graph_builder_finish(builder, &graph));
    CHECK(hsadrv_graph_builder_add_empty(builder, &call, 1, NULL) == HSADRV_ERROR_INVALID_ARGUMENT);
    *kernel = sides[1];
    return graph;
}

static void graphs(const struct machine* m, struct steps* steps) {
    hsadrv_memory left, right;
    hsadrv_graph_builder builder;
    hsadrv_graph_node kernel, whole;
    size_t nodes = 0, kernels = 0, index = 0;
    struct scale_add_launch launch;
    uint32_t* const a = host_words(m, &left, 0);
    uint32_t* const b = host_words(m, &right, 0);
    steps->left = a;
    steps->right = b;
    OK(hsadrv_graph_builder_create(m->gpu, &builder));
    const hsadrv_graph graph = fork_and_join(m, builder, left, right, steps, &kernel);
    OK(hsadrv_graph_size(graph, &nodes, &kernels));
    CHECK(nodes == 7 && kernels == 3 && steps->calls == 0 && all_are(a, 0));
    for (int i = 0; i < 3; ++i) OK(hsadrv_graph_launch(graph, m->stream, patience_ns));
    OK(hsadrv_stream_synchronize(m->stream, patience_ns));
    CHECK(steps->calls == 3 && steps->right_data == 3 && steps->releases == 0);
    CHECK(all_are(a, 62) && all_are(b, 44));

    OK(hsadrv_graph_kernel_index(graph, &kernel, &index));
    describe(&launch, right, 7, 0);
    OK(hsadrv_graph_update(graph, index, m->scale_add, &launch.config, launch.arguments, 4, patience_ns));
    OK(hsadrv_graph_launch(graph, m->stream, patience_ns));
    OK(hsadrv_stream_synchronize(m->stream, patience_ns));
    CHECK(all_are(b, 70) && steps->calls == 4 && steps->right_data == 3);

    /* A graph in a graph, which holds it, the memory and the kernel. */
    hsadrv_graph outer;
    OK(hsadrv_graph_builder_add_graph(builder, NULL, 0, graph, &whole));
    OK(add_kernel(m, builder, &whole, 1, right, 2, 1, NULL));
    OK(hsadrv_graph_builder_hold(builder, left));
    OK(hsadrv_graph_builder_finish(builder, &outer));
    OK(hsadrv_graph_destroy(graph));
    OK(hsadrv_memory_destroy(left));
    OK(hsadrv_graph_builder_destroy(builder));
    OK(hsadrv_graph_launch(outer, m->stream, patience_ns));
    OK(hsadrv_stream_synchronize(m->stream, patience_ns));
    CHECK(all_are(b, 141) && steps->calls == 5 && steps->releases == 0);
    OK(hsadrv_graph_destroy(outer));
    OK(hsadrv_memory_destroy(right));
}

int main(int argc, char** argv) {
    struct machine m;
    struct steps steps = {0, 0, NULL, NULL, 0};
    if (argc != 2) return 2;
    memset(&m, 0, sizeof m);
    open_machine(&m, argv[1]);
    if (failed == 0) graphs(&m, &steps);
    close_machine(&m);
    CHECK(release_count(&steps) == 1);
    return !all_passed();
}
