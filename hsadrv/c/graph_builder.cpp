#include "hsadrv/graph_builder.hpp"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/graph_builder.h"
#include "hsadrv/c/host_function.hpp"
#include "hsadrv/c/launch_request.hpp"
#include "hsadrv/c/objects.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

GraphNode node_of(const hsadrv_graph_node& node) { return {node.graph, node.number}; }

GraphBuilder::Nodes nodes_of(const char* call, const hsadrv_graph_node* after, std::size_t count) {
    constexpr std::size_t most_nodes = 1u << 20;
    if (count > most_nodes)
        throw InvalidArgument(std::string(call) + ": follows " + std::to_string(count) + " nodes, the limit is " +
                              std::to_string(most_nodes));
    if (count) required(call, "after", after);
    GraphBuilder::Nodes nodes;
    for (std::size_t i = 0; i < count; ++i) nodes.push_back(node_of(after[i]));
    return nodes;
}

/// The node that a function returns; zero unless it succeeds. Written last: it may be one of those that it follows.
class ReturnedNode {
  public:
    explicit ReturnedNode(hsadrv_graph_node* to) noexcept : to_(to) {}
    ReturnedNode(const ReturnedNode&) = delete;
    ReturnedNode& operator=(const ReturnedNode&) = delete;
    ~ReturnedNode() {
        if (to_) *to_ = {node_.graph, node_.number, 0};
    }
    void set(const GraphNode& node) noexcept { node_ = node; }

  private:
    hsadrv_graph_node* const to_;
    GraphNode node_;
};

/// What the functions that add a node have in common: what it follows, the lock, and the node that is returned.
struct Addition {
    const hsadrv_graph_builder builder;
    const hsadrv_graph_node* const after;
    const size_t after_count;
    hsadrv_graph_node* const node;

    template <class Add>
    void operator()(const char* call, Add&& add) const {
        ReturnedNode returned(node);
        const auto held = object<GraphBuilderObject>(call, "builder", builder);
        const GraphBuilder::Nodes nodes = nodes_of(call, after, after_count);
        const std::lock_guard lock(held->mutex);
        returned.set(add(held->builder, nodes));
    }
};

}  // namespace

hsadrv_result hsadrv_graph_builder_create(hsadrv_device device, hsadrv_graph_builder* builder) noexcept {
    return call("hsadrv_graph_builder_create", [&](const char* name) {
        output(name, "builder", builder) = nullptr;
        const AgentRef gpu = object<DeviceObject>(name, "device", device)->agent;
        *builder = handle_of<hsadrv_graph_builder>(std::make_shared<GraphBuilderObject>(gpu));
    });
}

hsadrv_result hsadrv_graph_builder_destroy(hsadrv_graph_builder builder) noexcept {
    return call("hsadrv_graph_builder_destroy",
                [&](const char* name) { take_object<GraphBuilderObject>(name, "builder", builder).reset(); });
}

hsadrv_result hsadrv_graph_builder_add_kernel(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                              size_t after_count, hsadrv_kernel kernel,
                                              const hsadrv_launch_config* config, const hsadrv_argument* arguments,
                                              size_t argument_count, hsadrv_graph_node* node) noexcept {
    return call("hsadrv_graph_builder_add_kernel", [&](const char* name) {
        const Addition addition{builder, after, after_count, node};
        addition(name, [&](GraphBuilder& build, const GraphBuilder::Nodes& nodes) {
            const auto launched = object<KernelObject>(name, "kernel", kernel);
            const LaunchRequest request(name, config, arguments, argument_count, {});
            build.keep_alive(launched);  // a graph outlives the handle of its kernels
            return build.add(
                nodes, [&](Stream& stream) { launched->kernel.launch(stream, request.config(), request.arguments()); });
        });
    });
}

hsadrv_result hsadrv_graph_builder_add_copy(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                            size_t after_count, void* destination, const void* source,
                                            size_t size_bytes, hsadrv_graph_node* node) noexcept {
    return call("hsadrv_graph_builder_add_copy", [&](const char* name) {
        const Addition addition{builder, after, after_count, node};
        addition(name, [&](GraphBuilder& build, const GraphBuilder::Nodes& nodes) {
            return build.copy(nodes, destination, source, size_bytes);
        });
    });
}

hsadrv_result hsadrv_graph_builder_add_fill(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                            size_t after_count, void* destination, size_t size_bytes,
                                            const void* pattern, size_t pattern_bytes,
                                            hsadrv_graph_node* node) noexcept {
    return call("hsadrv_graph_builder_add_fill", [&](const char* name) {
        const Addition addition{builder, after, after_count, node};
        addition(name, [&](GraphBuilder& build, const GraphBuilder::Nodes& nodes) {
            const std::span bytes(static_cast<const std::byte*>(required(name, "pattern", pattern)), pattern_bytes);
            return build.fill(nodes, destination, size_bytes, bytes);
        });
    });
}

hsadrv_result hsadrv_graph_builder_add_call(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                            size_t after_count, hsadrv_host_function function, void* user,
                                            hsadrv_release_function release, hsadrv_graph_node* node) noexcept {
    return call("hsadrv_graph_builder_add_call", [&](const char* name) {
        const Addition addition{builder, after, after_count, node};
        addition(name, [&](GraphBuilder& build, const GraphBuilder::Nodes& nodes) {
            if (!function) refuse_null(name, "function");
            const auto host = std::make_shared<HostFunction>(name, function, user);
            const GraphNode added = build.call(nodes, [host] { (*host)(); });
            host->release = release;
            return added;
        });
    });
}

hsadrv_result hsadrv_graph_builder_add_graph(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                             size_t after_count, hsadrv_graph graph, hsadrv_graph_node* node) noexcept {
    return call("hsadrv_graph_builder_add_graph", [&](const char* name) {
        const Addition addition{builder, after, after_count, node};
        addition(name, [&](GraphBuilder& build, const GraphBuilder::Nodes& nodes) {
            const auto whole = object<GraphObject>(name, "graph", graph);
            return build.graph(nodes, whole->graph);
        });
    });
}

hsadrv_result hsadrv_graph_builder_add_empty(hsadrv_graph_builder builder, const hsadrv_graph_node* after,
                                             size_t after_count, hsadrv_graph_node* node) noexcept {
    return call("hsadrv_graph_builder_add_empty", [&](const char* name) {
        const Addition addition{builder, after, after_count, node};
        addition(name, [&](GraphBuilder& build, const GraphBuilder::Nodes& nodes) { return build.empty(nodes); });
    });
}

hsadrv_result hsadrv_graph_builder_hold(hsadrv_graph_builder builder, hsadrv_memory memory) noexcept {
    return call("hsadrv_graph_builder_hold", [&](const char* name) {
        const auto held = object<GraphBuilderObject>(name, "builder", builder);
        const std::lock_guard lock(held->mutex);
        held->builder.keep_alive(object<MemoryObject>(name, "memory", memory));
    });
}

hsadrv_result hsadrv_graph_builder_finish(hsadrv_graph_builder builder, hsadrv_graph* graph) noexcept {
    return call("hsadrv_graph_builder_finish", [&](const char* name) {
        output(name, "graph", graph) = nullptr;
        const auto held = object<GraphBuilderObject>(name, "builder", builder);
        const auto built = std::make_shared<GraphObject>();
        const std::lock_guard lock(held->mutex);
        built->graph = held->builder.finish();
        *graph = handle_of<hsadrv_graph>(built);
    });
}

hsadrv_result hsadrv_graph_kernel_index(hsadrv_graph graph, const hsadrv_graph_node* node, size_t* index) noexcept {
    return call("hsadrv_graph_kernel_index", [&](const char* name) {
        output(name, "index", index) = 0;
        const auto found = object<GraphObject>(name, "graph", graph);
        *index = found->graph.kernel(node_of(*required(name, "node", node)));
    });
}
