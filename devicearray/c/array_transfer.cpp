#include <algorithm>
#include "devicearray/array_views.hpp"
#include "devicearray/assign.hpp"

#include "devicearray/c/array.h"
#include "devicearray/c/given_array.hpp"
#include "devicearray/device_ndarray.hpp"
#include "devicearray/holding.hpp"
#include "hsadrv/c_interop.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

void copy(const char* call, hsadrv_stream stream, const hsadrv_array* to, const hsadrv_array* from,
          std::uint64_t timeout_ns, bool wait) {
    const auto on = stream_of(call, stream);
    const GivenArray target(call, "to", to), source(call, "from", from);
    target.require_destination(call);
    const Deadline deadline = deadline_of(timeout_ns);
    detail::transfer(call, target.end(), source.end(), *on, deadline);
    if (wait) on->synchronize(deadline);
}

detail::Casting casting_of(const char* call, std::uint32_t casting) {
    if (casting <= HSADRV_CASTING_UNSAFE) return static_cast<detail::Casting>(casting);
    throw InvalidArgument(std::string(call) + ": there is no casting " + std::to_string(casting) +
                          "; use a hsadrv_casting");
}

std::uint32_t ordinal_of(AgentRef gpu) {
    const auto& gpus = Driver::current("hsadrv_array_create").gpus();
    return static_cast<std::uint32_t>(std::find(gpus.begin(), gpus.end(), gpu) - gpus.begin());
}

}  // namespace

hsadrv_result hsadrv_array_create(hsadrv_stream stream, hsadrv_array* array) noexcept {
    return call("hsadrv_array_create", [&](const char* name) {
        const auto on = stream_of(name, stream);
        hsadrv_array form = *required(name, "array", array);
        form.data = nullptr;
        form.memory = nullptr;
        form.flags &= ~std::uint32_t{HSADRV_ARRAY_READ_ONLY};
        const GivenForm wanted(name, "array", &form);
        const Arrangement arrangement(wanted.layout.strides_bytes());
        const DeviceNDArray made = device_array(wanted.layout.shape(), wanted.dtype, arrangement, *on);
        const ByteRange extent = made.layout().extent();
        hsadrv_memory memory = nullptr;
        if (made.data() != nullptr)
            memory = new_memory(static_cast<std::byte*>(made.data()) + extent.begin,
                                static_cast<std::size_t>(extent.size_bytes()), made.agent(), made.keep_alive());
        array->data = made.data();
        array->memory = memory;
        array->gpu = ordinal_of(made.agent());
        array->flags = form.flags | HSADRV_ARRAY_ON_GPU;
    });
}

hsadrv_result hsadrv_array_copy(hsadrv_stream stream, const hsadrv_array* to, const hsadrv_array* from,
                                uint64_t timeout_ns) noexcept {
    return call("hsadrv_array_copy", [&](const char* name) { copy(name, stream, to, from, timeout_ns, false); });
}

hsadrv_result hsadrv_array_copy_and_wait(hsadrv_stream stream, const hsadrv_array* to, const hsadrv_array* from,
                                         uint64_t timeout_ns) noexcept {
    return call("hsadrv_array_copy_and_wait",
                [&](const char* name) { copy(name, stream, to, from, timeout_ns, true); });
}

hsadrv_result hsadrv_array_assign(hsadrv_stream stream, const hsadrv_array* to, const hsadrv_array* from,
                                  uint32_t casting, uint64_t timeout_ns) noexcept {
    return call("hsadrv_array_assign", [&](const char* name) {
        const auto on = stream_of(name, stream);
        const GivenArray target(name, "to", to), source(name, "from", from);
        target.require_destination(name);
        detail::assign(name, target.end(), source.end(), casting_of(name, casting), *on, deadline_of(timeout_ns));
    });
}

hsadrv_result hsadrv_array_fill(hsadrv_stream stream, const hsadrv_array* to, const void* value,
                                uint64_t timeout_ns) noexcept {
    return call("hsadrv_array_fill", [&](const char* name) {
        const auto on = stream_of(name, stream);
        const GivenArray target(name, "to", to);
        target.require_destination(name);
        detail::require_destination(name, target.dtype, target.layout);
        required(name, "value", value);
        detail::fill(name, target.end(), value, *on, deadline_of(timeout_ns));
    });
}
