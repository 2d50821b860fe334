// This thread's current device, for a scope.
//
//   hsadrv::Context gpu{driver.gpus().front()};
//   hsadrv::Stream stream = gpu.stream();
//   hsadrv::Allocation a = hsadrv::Context::current().allocate(4096);
//   kernel.launch(gpu.thread_stream(), …);                 // this thread's own stream
//
// Contexts of a thread nest: the destructor makes the previous one current again. A Context destroyed out of order, or
// on another thread, is removed from the stack; the others are unaffected. A Context belongs to the thread that made it
// and is neither copied nor moved. Keeps alive: the runtime. Thread safety: use it on its own thread; it may be
// destroyed on any thread, but not while its own thread uses it. The streams and allocations that it makes may be used
// on any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <source_location>

#include "hsadrv/agent.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

namespace detail {
class ThreadStreams;
}

class Context {
  public:
    /// Throws InvalidArgument if the agent is not a GPU that dispatches kernels.
    explicit Context(AgentRef gpu);
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context();

    /// The innermost Context of this thread. Throws Error if there is none.
    static Context& current();
    static Context* try_current() noexcept;

    AgentRef agent() const noexcept { return agent_; }
    operator AgentRef() const noexcept { return agent_; }  // NOLINT: a context stands for its device
    const Driver& driver() const noexcept { return driver_; }

    MemPool device_pool() const { return hsadrv::device_pool(agent_); }
    MemPool host_pool(HostMemory kind = HostMemory::fine_grained) const { return hsadrv::host_pool(kind); }

    /// Device memory. Throws OutOfMemory.
    Allocation allocate(std::size_t size_bytes, std::source_location where = std::source_location::current()) const;
    /// Pinned host memory that the CPU and all GPUs use. Throws OutOfMemory.
    Allocation allocate_host(std::size_t size_bytes, HostMemory kind = HostMemory::fine_grained,
                             std::source_location where = std::source_location::current()) const;

    Stream stream(const StreamOptions& options = {}) const { return Stream(agent_, options); }

    /// The calling thread's own stream on this GPU, made at the first call. All Contexts of the GPU on this thread
    /// share it. It is independent of other streams. It is synchronised and destroyed with the thread or with the last
    /// Context of the GPU, whichever is first; do not move, close or keep it. Throws what Stream's constructor throws;
    /// Error in a destructor of thread_local storage, after the thread's streams were destroyed.
    Stream& thread_stream() const;
    /// Closes it as Stream::close() does, to free its storage or after a failure. The next thread_stream() makes a new
    /// one. Returns true if there is none.
    bool close_thread_stream(Deadline deadline = {}) const noexcept;

  private:
    struct Nest;

    Driver driver_;
    AgentRef agent_;
    std::shared_ptr<Nest> nest_;  // its thread's, which may end first
    std::shared_ptr<detail::ThreadStreams> thread_streams_;
};

}  // namespace hsadrv
