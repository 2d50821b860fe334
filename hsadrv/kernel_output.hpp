// What kernels print: standard output and standard error of the process, or a function of the caller's.
//
//     hsadrv::on_kernel_output([&](hsadrv::AgentRef, hsadrv::KernelOutput, std::string_view text) { log << text; });
//     kernel.launch(stream, …);   // calls printf
//     stream.synchronize();       // the function has been called with all that the kernel printed
//
// Applies to shared/device/services.hpp, to HIP's printf and to OpenCL C's (docs/guide/services.md). Each call of
// printf by a work-item is one text; texts of one work-item are in order, and so are those of kernels that run one
// after the other. Without a function the texts go to stdout and stderr of <cstdio>, which are flushed; a process that
// exits loses none that a completed kernel has printed. Thread safety: any thread. The function is called by one thread
// of this library at a time, never concurrently, while the kernel waits: it must not wait for kernels, nor end the last
// Driver. If it throws, the kernel's printf returns -1; of OpenCL C's, whose kernel is complete, the stream fails.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "hsadrv/agent.hpp"

namespace hsadrv {

enum class KernelOutput : std::uint8_t { standard, error };

using KernelOutputFunction = std::function<void(AgentRef gpu, KernelOutput where, std::string_view text)>;

/// From now on `function` receives what kernels print; null: the process's streams again. The previous one is not
/// running when this returns, unless that is the caller. For as long as the runtime is initialised. Throws Error
/// without a Driver, ForkedChild.
void on_kernel_output(KernelOutputFunction function);

}  // namespace hsadrv
