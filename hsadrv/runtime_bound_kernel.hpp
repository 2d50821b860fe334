// RuntimeBoundKernel: a Kernel whose argument types, known at run time, are checked once; RuntimeFixedLaunch: one whose
// sizes are checked once, too.
//
//     const ArgumentShape types[] = {argument_shape<float*>, argument_shape<float>, argument_shape<unsigned>};
//     RuntimeBoundKernel scale = code.kernel("scale").bind(types);        // throws here, or never
//     const void* values[] = {&y, &factor, &n};                           // the values' addresses
//     scale.launch(stream, {.grid = n, .workgroup = 256}, values);        // sizes are checked
//     RuntimeFixedLaunch step = scale.at({.grid = n, .workgroup = 256});  // throws here, or never
//     step(stream, values);                                               // no checks remain
//
// As BoundKernel, with the values given as hipModuleLaunchKernel takes them: the address of each one, of a pointer too.
// A launch reads as many bytes there as the bound type has. It knows nothing of what pointers point to: keep it
// alive, for example with Stream::keep_alive. Errors: InvalidArgument for another number of values and for null
// addresses. Thread safety: const functions from any thread. Memory ordering, deadlines and other errors: Stream's.
// Borrows: the values, until the call returns. Keeps alive: what Kernel keeps alive.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hsadrv/kernel.hpp"

namespace hsadrv {

/// A launch whose grid, work-group and LDS are fixed; values and stream vary.
class RuntimeFixedLaunch {
  public:
    /// The argument types were checked before. Throws InvalidArgument as LaunchPlan::shape does. The deadline in
    /// `config` is ignored.
    RuntimeFixedLaunch(Kernel kernel, const LaunchConfig& config);

    const Kernel& kernel() const noexcept { return kernel_; }
    const DispatchSpec& spec() const noexcept { return spec_; }

    /// Enqueues the kernel. Throws InvalidArgument for a stream of another agent; what Stream::dispatch throws.
    void operator()(Stream& stream, std::span<const void* const> values, Deadline deadline = {}) const;

  private:
    Kernel kernel_;
    DispatchSpec spec_;
    std::vector<std::byte> implicit_;  // a kernarg segment without the explicit arguments and the queue
};

class RuntimeBoundKernel {
  public:
    /// Throws InvalidArgument: wrong count, or which argument has the wrong size or kind.
    RuntimeBoundKernel(Kernel kernel, std::span<const ArgumentShape> types);

    const Kernel& kernel() const noexcept { return kernel_; }

    /// Enqueues the kernel. Throws InvalidArgument for the sizes and the stream; what Stream::dispatch throws.
    void launch(Stream& stream, const LaunchConfig& config, std::span<const void* const> values) const;

    /// Throws InvalidArgument as LaunchPlan::shape does.
    RuntimeFixedLaunch at(const LaunchConfig& config) const { return {kernel_, config}; }

  private:
    Kernel kernel_;
};

}  // namespace hsadrv
