// This thread's current device, for a scope.
//
//   hsadrv::Context gpu{driver.gpus().front()};
//   hsadrv::Stream stream = gpu.stream();
//   hsadrv::Allocation a = hsadrv::Context::current().allocate(4096);
//   kernel.launch(gpu.thread_stream(), …);                 // the stream that this thread has anyway
//
// Contexts of a thread nest: the destructor makes the one before it current again. One that ends out of turn, or on
// another thread, is taken out from among the others, which stay as they were. A Context belongs to the thread that
// made it and is neither copied nor moved. Keeps alive: the runtime. Thread safety: use it on its own thread; it may
// end on any, though not while its own thread uses it. What it makes (streams, allocations) goes anywhere.
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

    /// The calling thread's own stream on this GPU: made at the first call, and the same at every further one, in
    /// whichever Context of the GPU. It depends on no other stream. It ends, synchronised, with the thread or with the
    /// last Context of the GPU, whichever is first; do not move, close or keep it. Throws what Stream's constructor
    /// throws; Error in a destructor of thread_local storage, when the thread's streams have ended.
    Stream& thread_stream() const;
    /// Ends it, as Stream::close() does, where the thread goes on: to give its storage back, or after a failure. The
    /// next thread_stream() makes another. True, and nothing, if there is none.
    bool close_thread_stream(Deadline deadline = {}) const noexcept;

  private:
    struct Nest;

    Driver driver_;
    AgentRef agent_;
    std::shared_ptr<Nest> nest_;  // its thread's, which may end first
    std::shared_ptr<detail::ThreadStreams> thread_streams_;
};

}  // namespace hsadrv
