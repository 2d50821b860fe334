#include "tests/conformance/areas.hpp"

namespace conformance {
namespace {

struct Row {
    std::string_view file;
    const char* area;
};

constexpr Row table[] = {
    {"hsadrv/driver.cpp", "discovery"},
    {"hsadrv/call_log.cpp", "discovery"},
    {"hsadrv/process.cpp", "discovery"},
    {"hsadrv/fork.cpp", "discovery"},
    {"hsadrv/device_file.cpp", "discovery"},
    {"hsadrv/agent.cpp", "discovery"},
    {"hsadrv/context.cpp", "discovery"},
    {"hsadrv/optional_api.cpp", "discovery"},

    {"hsadrv/mem_pool.cpp", "memory"},
    {"hsadrv/memory.cpp", "memory"},
    {"hsadrv/registration.cpp", "memory"},
    {"hsadrv/copies.cpp", "memory"},
    {"hsadrv/rectangles.cpp", "memory"},
    {"hsadrv/copy_engine.cpp", "memory"},
    {"hsadrv/dma_copy.cpp", "memory"},
    {"hsadrv/allocator.cpp", "memory"},
    {"hsadrv/ipc.cpp", "memory"},
    {"hsadrv/dmabuf.cpp", "memory"},
    {"hsadrv/managed_memory.cpp", "memory"},
    {"hsadrv/memory_resource.cpp", "memory"},
    {"hsadrv/virtual_memory.cpp", "memory"},

    {"hsadrv/signal.cpp", "signals"},
    {"hsadrv/signal_wait.cpp", "signals"},
    {"hsadrv/signal_callbacks.cpp", "signals"},

    {"hsadrv/queue.cpp", "queues"},
    {"hsadrv/write_index.cpp", "queues"},
    {"hsadrv/queue_attributes.cpp", "queues"},
    {"hsadrv/shared_queue.cpp", "queues"},

    {"hsadrv/stream.cpp", "streams"},
    {"hsadrv/stream_options.cpp", "streams"},
    {"hsadrv/stream_copies.cpp", "streams"},
    {"hsadrv/stream_kernels.cpp", "streams"},
    {"hsadrv/thread_stream.cpp", "streams"},
    {"hsadrv/event.cpp", "streams"},
    {"hsadrv/host_function.cpp", "streams"},
    {"hsadrv/graph.cpp", "streams"},
    {"hsadrv/graph_branches.cpp", "streams"},
    {"hsadrv/graph_losses.cpp", "streams"},
    {"hsadrv/awaited.cpp", "streams"},
    {"hsadrv/profile.cpp", "streams"},

    {"hsadrv/executable.cpp", "code-objects"},
    {"hsadrv/executable_builder.cpp", "code-objects"},
    {"hsadrv/executable_cache.cpp", "code-objects"},
    {"hsadrv/kernel.cpp", "code-objects"},
    {"hsadrv/cooperative.cpp", "code-objects"},
    {"hsadrv/c_handles.cpp", "negative"},
    {"hsadrv/c_graph_builder.cpp", "streams"},
    {"hsadrv/c_memory.cpp", "memory"},
    {"hsadrv/c_sharing.cpp", "memory"},
    {"hsadrv/c_launch.cpp", "code-objects"},
    {"hsadrv/c_stream.cpp", "streams"},
    {"hsadrv/launch_argument.cpp", "code-objects"},
    {"hsadrv/kernel_occupancy_on_device.cpp", "code-objects"},
    {"hsadrv/hidden_on_device.cpp", "code-objects"},
    {"hsadrv/device_global.cpp", "code-objects"},
    {"hsadrv/kernel_services.cpp", "code-objects"},
    {"hsadrv/kernel_heap.cpp", "code-objects"},
    {"hsadrv/opencl_printf.cpp", "code-objects"},

    {"devicearray/device_ndarray.cpp", "arrays"},
    {"devicearray/device_record.cpp", "arrays"},
    {"devicearray/numba_arguments.cpp", "arrays"},
    {"devicearray/array_lifetime.cpp", "arrays"},
    {"devicearray/array_arguments.cpp", "arrays"},
    {"devicearray/array_promises.cpp", "arrays"},
    {"devicearray/transfers.cpp", "arrays"},
    {"devicearray/transfer_host.cpp", "arrays"},
    {"devicearray/transfer_property.cpp", "arrays"},
    {"devicearray/host_arrays.cpp", "arrays"},
    {"devicearray/registered_arrays.cpp", "arrays"},
    {"devicearray/nd_span.cpp", "arrays"},
    {"devicearray/ipc_array.cpp", "arrays"},
    {"devicearray/memory_resource.cpp", "arrays"},
    {"devicearray/c_arrays.cpp", "arrays"},
    {"devicearray/dlpack_export.cpp", "arrays"},
    {"devicearray/dlpack_import.cpp", "arrays"},
    {"devicearray/dlpack_streams.cpp", "arrays"},

    {"shared/arrays.cpp", "lds"},
    {"shared/device.cpp", "lds"},
    {"shared/wave.cpp", "lds"},
    {"shared/math.cpp", "lds"},
    {"shared/atomics.cpp", "lds"},

    {"hsadrv/allocator_limits.cpp", "negative"},
    {"hsadrv/queue_errors.cpp", "negative"},
    {"hsadrv/memory_fault.cpp", "negative"},
    {"hsadrv/stream_failure.cpp", "negative"},
    {"hsadrv/stream_losses.cpp", "negative"},
    {"hsadrv/stream_threads.cpp", "negative"},
    {"hsadrv/whole_operations.cpp", "negative"},
    {"hsadrv/calls_at_close.cpp", "negative"},
    {"hsadrv/full_streams.cpp", "negative"},
    {"hsadrv/host_between.cpp", "negative"},
    {"hsadrv/stream_ends.cpp", "negative"},
    {"hsadrv/stream_out_of_memory.cpp", "negative"},
    {"hsadrv/host_failures.cpp", "negative"},
    {"hsadrv/lost_copies.cpp", "negative"},
    {"hsadrv/stream_promises.cpp", "negative"},
    {"hsadrv/autopsy.cpp", "negative"},
    {"hsadrv/executable_failures.cpp", "negative"},
    {"devicearray/dlpack_failing.cpp", "negative"},
    {"devicearray/dlpack_malformed.cpp", "negative"},

    {"hsadrv/stress.cpp", "stress"},
    {"hsadrv/everything.cpp", "stress"},
};

}  // namespace

std::string short_file(std::string_view file) {
    const std::size_t name = file.rfind('/');
    const std::size_t folder = name == file.npos || name == 0 ? file.npos : file.rfind('/', name - 1);
    return std::string(folder == file.npos ? file : file.substr(folder + 1));
}

const char* area_of(std::string_view file, std::string_view tags) {
    const std::string key = short_file(file);
    for (const Row& row : table)
        if (row.file == key) return tags.find("[stress]") != tags.npos ? "stress" : row.area;
    return nullptr;
}

}  // namespace conformance
