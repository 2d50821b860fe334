// The calling thread's own stream on a GPU, for code that has no Context of the GPU.
//
//   const hsadrv::ThreadStream own(gpu);
//   own.stream().copy_async(device.data(), host.data(), bytes);
//
// The same stream as Context::thread_stream() of that GPU. Keeps alive: the stream, until the thread ends. Without
// another owner the stream is synchronised and destroyed with this object. Thread safety: use it on the thread that
// made it.
#pragma once

#include <memory>

#include "hsadrv/agent.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

namespace detail {
class ThreadStreams;
}

class ThreadStream {
  public:
    /// Throws as Context::thread_stream().
    explicit ThreadStream(AgentRef gpu);

    /// Do not move, close or keep it.
    Stream& stream() const noexcept { return *stream_; }

  private:
    std::shared_ptr<detail::ThreadStreams> streams_;
    Stream* stream_;
};

}  // namespace hsadrv
