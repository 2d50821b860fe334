#include "hsadrv/c/stream.h"

#include <optional>

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/structures.hpp"
#include "hsadrv/copy.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

QueuePriority priority_of(const char* call, uint32_t priority) {
    switch (priority) {
        case HSADRV_PRIORITY_NORMAL:
            return QueuePriority::normal;
        case HSADRV_PRIORITY_LOW:
            return QueuePriority::low;
        case HSADRV_PRIORITY_HIGH:
            return QueuePriority::high;
        default:
            throw InvalidArgument(std::string(call) + ": there is no priority " + std::to_string(priority) +
                                  "; use a hsadrv_priority");
    }
}

StreamOptions options_of(const char* call, const hsadrv_stream_options* given) {
    StreamOptions options;
    if (given == nullptr) return options;
    const auto read = read_structure(call, "options", given, sizeof *given);
    if (read.name) options.name = read.name;
    if (read.packets) options.packets = read.packets;
    if (read.kernarg_bytes) options.kernarg_bytes = read.kernarg_bytes;
    options.exclusive_queue = read.exclusive != 0;
    options.priority = priority_of(call, read.priority);
    if (read.reserved) throw InvalidArgument(std::string(call) + ": 'options.reserved' must be 0");
    if (read.cu_mask_words > 1024)
        throw InvalidArgument(std::string(call) + ": a cu_mask of " + std::to_string(read.cu_mask_words) +
                              " words; no GPU has as many compute units");
    if (read.cu_mask_words)
        options.cu_mask.assign(required(call, "options.cu_mask", read.cu_mask), read.cu_mask + read.cu_mask_words);
    return options;
}

Stream& stream_of(const std::shared_ptr<StreamObject>& object) { return object->stream; }

}  // namespace

hsadrv_result hsadrv_stream_create(hsadrv_device device, const hsadrv_stream_options* options,
                                   hsadrv_stream* stream) noexcept {
    return call("hsadrv_stream_create", [&](const char* name) {
        output(name, "stream", stream) = nullptr;
        const AgentRef gpu = object<DeviceObject>(name, "device", device)->agent;
        Stream made(gpu, options_of(name, options));
        *stream = handle_of<hsadrv_stream>(std::make_shared<StreamObject>(std::move(made)));
    });
}

hsadrv_result hsadrv_stream_destroy(hsadrv_stream stream, uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_destroy", [&](const char* name) {
        const Deadline deadline = deadline_of(timeout_ns);
        const auto taken = take_object<StreamObject>(name, "stream", stream);
        // The last reference: no other call has the stream, and none can get it any more. Acquire: what they did with
        // it is visible. (use_count() is relaxed.)
        if (taken.use_count() > 1) return;
        std::atomic_thread_fence(std::memory_order_acquire);
        if (!taken->stream.close(deadline))
            throw StreamEnded(std::string(name) +
                              ": the stream has failed, or its work was not complete by its deadline, " +
                              deadline.text() + "; what remained was ended");
    });
}

hsadrv_result hsadrv_stream_synchronize(hsadrv_stream stream, uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_synchronize", [&](const char* name) {
        stream_of(object<StreamObject>(name, "stream", stream)).synchronize(deadline_of(timeout_ns));
    });
}

hsadrv_result hsadrv_stream_query(hsadrv_stream stream, int* done) noexcept {
    return call("hsadrv_stream_query", [&](const char* name) {
        output(name, "done", done) = 0;
        *done = stream_of(object<StreamObject>(name, "stream", stream)).query();
    });
}

hsadrv_result hsadrv_stream_copy(hsadrv_stream stream, void* destination, const void* source, size_t size_bytes,
                                 uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_copy", [&](const char* name) {
        stream_of(object<StreamObject>(name, "stream", stream))
            .copy_async(destination, source, size_bytes, deadline_of(timeout_ns));
    });
}

hsadrv_result hsadrv_stream_copy_and_wait(hsadrv_stream stream, void* destination, const void* source,
                                          size_t size_bytes, uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_copy_and_wait", [&](const char* name) {
        const auto held = object<StreamObject>(name, "stream", stream);
        copy(held->stream, destination, source, size_bytes, deadline_of(timeout_ns));
    });
}

hsadrv_result hsadrv_stream_fill(hsadrv_stream stream, void* destination, size_t size_bytes, const void* pattern,
                                 size_t pattern_bytes, uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_fill", [&](const char* name) {
        const auto held = object<StreamObject>(name, "stream", stream);
        const std::span bytes(static_cast<const std::byte*>(required(name, "pattern", pattern)), pattern_bytes);
        held->stream.fill_async(destination, size_bytes, bytes, deadline_of(timeout_ns));
    });
}

hsadrv_result hsadrv_stream_hold(hsadrv_stream stream, hsadrv_memory memory) noexcept {
    return call("hsadrv_stream_hold", [&](const char* name) {
        const auto held = object<StreamObject>(name, "stream", stream);
        held->stream.keep_alive(object<MemoryObject>(name, "memory", memory));
    });
}
