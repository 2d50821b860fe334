// Internal: the host's side of what kernels ask for while they run: text to print, assertions, memory.
//
//     const ServiceAddresses addresses = runtime.services().of(gpu, {.hostcall = true});   // for hidden arguments
//
// Everything is made when the first kernel that needs it is looked up: a buffer for a packet per wave of the GPU, and
// for all GPUs a doorbell and a thread, which sleeps until it rings. It ends with the runtime, which ends after every
// stream: no kernel that waits for an answer outlives it. Thread safety: any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "hsadrv/agent.hpp"
#include "hsadrv/hidden_arguments.hpp"
#include "hsadrv/kernel_output.hpp"
#include "hsadrv/signal_callbacks.hpp"

namespace hsadrv::detail {

class KernelServices {
  public:
    KernelServices();
    KernelServices(const KernelServices&) = delete;
    KernelServices& operator=(const KernelServices&) = delete;
    ~KernelServices();

    /// Throws OutOfMemory.
    ServiceAddresses of(AgentRef gpu, const ServiceNeeds& needs);

    void set_output(KernelOutputFunction function);
    /// Calls the function, or writes to the process's stream.
    void print(AgentRef gpu, KernelOutput where, std::string_view text);

  private:
    class OneGpu;
    void answer_all() noexcept;

    std::mutex mutex_;  // guards gpus_
    std::map<std::uint64_t, std::unique_ptr<OneGpu>> gpus_;
    std::recursive_mutex output_mutex_;  // held while the function runs, which may set another
    std::shared_ptr<const KernelOutputFunction> output_;
    SignalCallbacks thread_;  // destroyed first: nothing runs on it then
};

}  // namespace hsadrv::detail
