#include "hsadrv/c/launch.h"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/launch_request.hpp"
#include "hsadrv/c/objects.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

hsadrv_result hsadrv_kernel_launch(hsadrv_kernel kernel, hsadrv_stream stream, const hsadrv_launch_config* config,
                                   const hsadrv_argument* arguments, size_t argument_count,
                                   uint64_t timeout_ns) noexcept {
    return call("hsadrv_kernel_launch", [&](const char* name) {
        const auto launched = object<KernelObject>(name, "kernel", kernel);
        const auto held = object<StreamObject>(name, "stream", stream);
        const LaunchRequest request(name, config, arguments, argument_count, deadline_of(timeout_ns));
        // A graph outlives the handle of its kernels. Before the launch: afterwards there is no way back.
        if (held->stream.capturing()) held->stream.keep_alive(launched);
        launched->kernel.launch(held->stream, request.config(), request.arguments());
    });
}
