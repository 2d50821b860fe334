#include "hsadrv/context.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/stream/thread_streams.hpp"

namespace hsadrv {

/// The contexts of one thread, innermost last.
struct Context::Nest {
    std::mutex mutex;
    std::vector<Context*> contexts;
    // Relaxed: read by its own thread; ending a context from another thread needs external ordering anyway.
    std::atomic<Context*> innermost{nullptr};
};

namespace {
// Read by current(). A plain pointer needs no construction and is cheap to read.
thread_local const std::atomic<Context*>* current_of_thread = nullptr;
}  // namespace

Context::Context(AgentRef gpu) : agent_(gpu) {
    if (!gpu || !gpu.is_gpu() || !gpu.dispatches_kernels())
        throw InvalidArgument("hsadrv::Context(" + gpu.label() + "): the agent is not a GPU that dispatches kernels; " +
                              "take one of Driver::gpus()");
    thread_streams_ = detail::ThreadStreams::of(gpu);
    struct Owner {
        std::shared_ptr<Nest> nest = std::make_shared<Nest>();
        ~Owner() { current_of_thread = nullptr; }
    };
    thread_local const Owner owner;
    const std::shared_ptr<Nest>& mine = owner.nest;
    const std::lock_guard lock(mine->mutex);
    mine->contexts.push_back(this);
    mine->innermost.store(this, std::memory_order_relaxed);
    current_of_thread = &mine->innermost;
    nest_ = mine;
}

Context::~Context() {
    const std::lock_guard lock(nest_->mutex);
    std::erase(nest_->contexts, this);
    nest_->innermost.store(nest_->contexts.empty() ? nullptr : nest_->contexts.back(), std::memory_order_relaxed);
}

Context& Context::current() {
    if (Context* innermost = try_current()) return *innermost;
    throw Error(
        "hsadrv::Context::current(): this thread has no current device; construct a hsadrv::Context on it, for "
        "example hsadrv::Context gpu{driver.gpus().front()}");
}

Context* Context::try_current() noexcept {
    return current_of_thread == nullptr ? nullptr : current_of_thread->load(std::memory_order_relaxed);
}

Stream& Context::thread_stream() const { return thread_streams_->mine(); }
bool Context::close_thread_stream(Deadline deadline) const noexcept { return thread_streams_->close_mine(deadline); }

Allocation Context::allocate(std::size_t size_bytes, std::source_location where) const {
    return Allocation::from_pool(device_pool(), size_bytes, where);
}

Allocation Context::allocate_host(std::size_t size_bytes, HostMemory kind, std::source_location where) const {
    return Allocation::from_pool(host_pool(kind), size_bytes, where);
}

}  // namespace hsadrv
