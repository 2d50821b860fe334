#include "hsadrv/c/graph.h"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/launch_request.hpp"
#include "hsadrv/c/objects.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

hsadrv_result hsadrv_stream_begin_capture(hsadrv_stream stream) noexcept {
    return call("hsadrv_stream_begin_capture",
                [&](const char* name) { object<StreamObject>(name, "stream", stream)->stream.begin_capture(); });
}

hsadrv_result hsadrv_stream_end_capture(hsadrv_stream stream, hsadrv_graph* graph) noexcept {
    return call("hsadrv_stream_end_capture", [&](const char* name) {
        output(name, "graph", graph) = nullptr;
        const auto held = object<StreamObject>(name, "stream", stream);
        const auto recorded = std::make_shared<GraphObject>();
        recorded->graph = held->stream.end_capture();
        *graph = handle_of<hsadrv_graph>(recorded);
    });
}

hsadrv_result hsadrv_graph_destroy(hsadrv_graph graph) noexcept {
    return call("hsadrv_graph_destroy",
                [&](const char* name) { take_object<GraphObject>(name, "graph", graph).reset(); });
}

hsadrv_result hsadrv_graph_size(hsadrv_graph graph, size_t* nodes, size_t* kernels) noexcept {
    return call("hsadrv_graph_size", [&](const char* name) {
        if (nodes) *nodes = 0;
        if (kernels) *kernels = 0;
        const auto found = object<GraphObject>(name, "graph", graph);
        if (nodes) *nodes = found->graph.nodes();
        if (kernels) *kernels = found->graph.kernels();
    });
}

hsadrv_result hsadrv_graph_launch(hsadrv_graph graph, hsadrv_stream stream, uint64_t timeout_ns) noexcept {
    return call("hsadrv_graph_launch", [&](const char* name) {
        const auto found = object<GraphObject>(name, "graph", graph);
        const auto held = object<StreamObject>(name, "stream", stream);
        found->graph.launch(held->stream, deadline_of(timeout_ns));
    });
}

hsadrv_result hsadrv_graph_update(hsadrv_graph graph, size_t index, hsadrv_kernel kernel,
                                  const hsadrv_launch_config* config, const hsadrv_argument* arguments,
                                  size_t argument_count, uint64_t timeout_ns) noexcept {
    return call("hsadrv_graph_update", [&](const char* name) {
        const auto found = object<GraphObject>(name, "graph", graph);
        const auto launched = object<KernelObject>(name, "kernel", kernel);
        const Deadline deadline = deadline_of(timeout_ns);
        const LaunchRequest request(name, config, arguments, argument_count, deadline);
        std::unique_lock alone(found->mutex, std::defer_lock);
        if (deadline.is_never())
            alone.lock();
        else if (!alone.try_lock_for(deadline.remaining()))
            throw Timeout(std::string(name) + ": another thread updates the graph, " + deadline.text() + " long");
        found->graph.update(index, launched->kernel, request.config(), request.arguments());
    });
}
