#include "hsadrv/c/signal.h"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/ipc.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

Condition condition_of(const char* call, uint32_t condition) {
    switch (condition) {
        case HSADRV_EQUAL:
            return Condition::equal;
        case HSADRV_NOT_EQUAL:
            return Condition::not_equal;
        case HSADRV_LESS:
            return Condition::less;
        case HSADRV_GREATER_EQUAL:
            return Condition::greater_equal;
        default:
            throw InvalidArgument(std::string(call) + ": there is no condition " + std::to_string(condition) +
                                  "; use a hsadrv_condition");
    }
}

SignalRef signal_of(const std::shared_ptr<SignalObject>& object) { return object->signal; }

}  // namespace

hsadrv_result hsadrv_signal_create(hsadrv_driver driver, int64_t initial, uint32_t flags,
                                   hsadrv_signal* signal) noexcept {
    return call("hsadrv_signal_create", [&](const char* name) {
        output(name, "signal", signal) = nullptr;
        const auto held = object<DriverObject>(name, "driver", driver);
        if (flags & ~std::uint32_t{HSADRV_SIGNAL_SHARED})
            throw InvalidArgument(std::string(name) + ": unknown flags " + std::to_string(flags));
        const bool shared = (flags & HSADRV_SIGNAL_SHARED) != 0;
        auto made = std::make_shared<SignalObject>(shared ? ipc_signal(initial) : Signal::create(initial));
        *signal = handle_of<hsadrv_signal>(std::move(made));
    });
}

hsadrv_result hsadrv_signal_destroy(hsadrv_signal signal) noexcept {
    return call("hsadrv_signal_destroy",
                [&](const char* name) { take_object<SignalObject>(name, "signal", signal).reset(); });
}

hsadrv_result hsadrv_signal_load(hsadrv_signal signal, int64_t* value) noexcept {
    return call("hsadrv_signal_load", [&](const char* name) {
        output(name, "value", value) = 0;
        *value = signal_of(object<SignalObject>(name, "signal", signal)).load();
    });
}

hsadrv_result hsadrv_signal_store(hsadrv_signal signal, int64_t value) noexcept {
    return call("hsadrv_signal_store", [&](const char* name) {
        const auto held = object<SignalObject>(name, "signal", signal);
        held->signal.store(value);
    });
}

hsadrv_result hsadrv_signal_add(hsadrv_signal signal, int64_t value) noexcept {
    return call("hsadrv_signal_add", [&](const char* name) {
        const auto held = object<SignalObject>(name, "signal", signal);
        held->signal.ref().add(value);
    });
}

hsadrv_result hsadrv_signal_wait(hsadrv_signal signal, uint32_t condition, int64_t than, uint64_t timeout_ns,
                                 int64_t* value) noexcept {
    return call("hsadrv_signal_wait", [&](const char* name) {
        if (value) *value = 0;
        const auto held = object<SignalObject>(name, "signal", signal);
        const int64_t seen = held->signal.wait(condition_of(name, condition), than, deadline_of(timeout_ns));
        if (value) *value = seen;
    });
}

hsadrv_result hsadrv_stream_wait_signal(hsadrv_stream stream, hsadrv_signal signal, uint32_t condition, int64_t than,
                                        uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_wait_signal", [&](const char* name) {
        const auto held = object<StreamObject>(name, "stream", stream);
        const auto waited = object<SignalObject>(name, "signal", signal);
        held->stream.wait(waited->signal, condition_of(name, condition), than, deadline_of(timeout_ns));
        held->stream.keep_alive(waited);
    });
}

hsadrv_result hsadrv_stream_decrement(hsadrv_stream stream, hsadrv_signal signal, uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_decrement", [&](const char* name) {
        const auto held = object<StreamObject>(name, "stream", stream);
        const auto told = object<SignalObject>(name, "signal", signal);
        held->stream.decrement(told->signal, deadline_of(timeout_ns));
        held->stream.keep_alive(told);
    });
}
