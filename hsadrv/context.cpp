#include "hsadrv/context.hpp"

#include "hsadrv/error.hpp"

namespace hsadrv {

namespace {
thread_local Context* innermost = nullptr;
}

Context::Context(AgentRef gpu) : agent_(gpu), outer_(innermost) {
    if (!gpu || !gpu.is_gpu() || !gpu.dispatches_kernels())
        throw InvalidArgument("hsadrv::Context(" + gpu.label() +
                              "): the agent is not a GPU that dispatches kernels; " +
                              "take one of Driver::gpus()");
    innermost = this;
}

Context::~Context() { innermost = outer_; }

Context& Context::current() {
    if (innermost == nullptr)
        throw Error(
            "hsadrv::Context::current(): this thread has no current device; construct a hsadrv::Context on "
            "it, "
            "for example hsadrv::Context gpu{driver.gpus().front()}");
    return *innermost;
}

Context* Context::try_current() noexcept { return innermost; }

Allocation Context::allocate(std::size_t size_bytes) const {
    return Allocation::from_pool(device_pool(), size_bytes);
}

Allocation Context::allocate_host(std::size_t size_bytes, HostMemory kind) const {
    return Allocation::from_pool(host_pool(kind), size_bytes);
}

}  // namespace hsadrv
