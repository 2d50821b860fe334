// Host functions of streams, with the user's pointer.
#include "hsadrv/c/host_function.hpp"

#include "hsadrv/c/call.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

hsadrv_result hsadrv_stream_call(hsadrv_stream stream, hsadrv_host_function function, void* user,
                                 hsadrv_release_function release, uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_call", [&](const char* name) {
        const auto held = object<StreamObject>(name, "stream", stream);
        if (!function) refuse_null(name, "function");
        const auto host = std::make_shared<HostFunction>(name, function, user);
        held->stream.call([host] { (*host)(); }, deadline_of(timeout_ns));
        // Only a call that succeeded releases. This reference is the last one at the earliest when the function
        // returns, and its count orders the write before the read.
        host->release = release;
    });
}

hsadrv_result hsadrv_stream_on_complete(hsadrv_stream stream, hsadrv_completion_function function, void* user,
                                        uint64_t timeout_ns) noexcept {
    return call("hsadrv_stream_on_complete", [&](const char* name) {
        const auto held = object<StreamObject>(name, "stream", stream);
        if (!function) refuse_null(name, "function");
        const auto tell = [function, user](const std::exception_ptr& failure) {
            if (!failure) return function(HSADRV_SUCCESS, "", user);
            try {
                std::rethrow_exception(failure);
            } catch (...) {
                const Failure what = failure_of_current_exception();
                function(what.result, what.message.c_str(), user);
            }
        };
        held->stream.on_complete(tell, deadline_of(timeout_ns));
    });
}
