#include "hsadrv/c/event.h"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

hsadrv_result hsadrv_stream_record(hsadrv_stream stream, uint32_t flags, uint64_t timeout_ns,
                                   hsadrv_event* event) noexcept {
    return call("hsadrv_stream_record", [&](const char* name) {
        output(name, "event", event) = nullptr;
        const auto held = object<StreamObject>(name, "stream", stream);
        if (flags & ~std::uint32_t{HSADRV_EVENT_TIMING})
            throw InvalidArgument(std::string(name) + ": unknown flags " + std::to_string(flags));
        const EventOptions options{.timing = (flags & HSADRV_EVENT_TIMING) != 0};
        const auto recorded = std::make_shared<EventObject>();
        recorded->event = held->stream.record(options, deadline_of(timeout_ns));
        *event = handle_of<hsadrv_event>(recorded);
    });
}

hsadrv_result hsadrv_event_destroy(hsadrv_event event) noexcept {
    return call("hsadrv_event_destroy",
                [&](const char* name) { take_object<EventObject>(name, "event", event).reset(); });
}

hsadrv_result hsadrv_stream_wait(hsadrv_stream stream, hsadrv_event event, uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_wait", [&](const char* name) {
        const auto held = object<StreamObject>(name, "stream", stream);
        const auto point = object<EventObject>(name, "event", event);
        held->stream.wait(point->event, deadline_of(timeout_ns));
    });
}

hsadrv_result hsadrv_event_synchronize(hsadrv_event event, uint64_t timeout_ns) noexcept {
    return call("hsadrv_event_synchronize", [&](const char* name) {
        object<EventObject>(name, "event", event)->event.synchronize(deadline_of(timeout_ns));
    });
}

hsadrv_result hsadrv_event_query(hsadrv_event event, int* done) noexcept {
    return call("hsadrv_event_query", [&](const char* name) {
        output(name, "done", done) = 0;
        *done = object<EventObject>(name, "event", event)->event.query();
    });
}

hsadrv_result hsadrv_event_elapsed(hsadrv_event begin, hsadrv_event end, int64_t* elapsed_ns) noexcept {
    return call("hsadrv_event_elapsed", [&](const char* name) {
        output(name, "elapsed_ns", elapsed_ns) = 0;
        const auto first = object<EventObject>(name, "begin", begin), second = object<EventObject>(name, "end", end);
        *elapsed_ns = elapsed(first->event, second->event).count();
    });
}
