// BoundKernel: a Kernel whose argument types are checked once; FixedLaunch: one whose sizes are checked once, too.
//
//     auto saxpy = code.kernel("saxpy").bind<float*, const float*, float, unsigned>();  // throws here, or never
//     saxpy.launch(stream, {.grid = n, .workgroup = 256}, y, x, 2.0f, n);               // sizes are checked
//     auto step = saxpy.at({.grid = n, .workgroup = 256});                              // throws here, or never
//     for (int i = 0; i < 1000; ++i) step(stream, y, x, 2.0f, n);                       // no checks remain
//
// The compiler checks that the arguments convert to the bound types, and that these are pointers, trivially copyable
// values or have a kernel_argument(). bind() checks the types against the kernel's metadata, with Kernel::launch's
// rules and messages. at() checks grid, work-group and LDS in the same way. It also precomputes the hidden arguments
// and LDS pointers: a launch copies them and stores the arguments. Each launch checks that the stream belongs to the
// kernel's agent.
//
// Thread safety: const functions from any thread. Memory ordering, deadlines and errors: Stream's. Keeps alive: what
// Kernel keeps alive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "hsadrv/kernel.hpp"

namespace hsadrv {

/// A launch whose grid, work-group and LDS are fixed; arguments and stream vary.
template <class... Args>
class FixedLaunch {
  public:
    /// Throws InvalidArgument as LaunchPlan::shape does. The deadline in `config` is ignored.
    FixedLaunch(Kernel kernel, const LaunchConfig& config) : kernel_(std::move(kernel)) {
        const LaunchPlan& plan = kernel_.plan();
        const LaunchShape shape = plan.shape(config);
        spec_ = plan.dispatch(kernel_.kernel_object(), shape);
        for (std::size_t i = 0; i < sizeof...(Args); ++i) offsets_bytes_[i] = plan.offset_bytes(i);
        implicit_ = plan.implicit_segment(shape);
    }

    const Kernel& kernel() const noexcept { return kernel_; }
    const DispatchSpec& spec() const noexcept { return spec_; }

    /// Enqueues the kernel. Throws InvalidArgument for a stream of another agent; what Stream::dispatch throws.
    [[gnu::always_inline]] void operator()(Stream& stream, const std::type_identity_t<Args>&... args) const {
        until(stream, Deadline{}, args...);
    }

    /// The same with a deadline for room in the queue and in the kernarg ring.
    [[gnu::always_inline]] void until(Stream& stream, Deadline deadline,
                                      const std::type_identity_t<Args>&... args) const {
        enqueue(stream, deadline, detail::launchable(args)...);
    }

  private:
    template <class... Values>
    [[gnu::always_inline]] void enqueue(Stream& stream, Deadline deadline, const Values&... values) const {
        kernel_.check_stream(stream);
        kernel_.check_memory(values...);
        stream.dispatch(
            spec_,
            [&](std::byte* kernarg) noexcept {
                if (!implicit_.empty()) std::memcpy(kernarg, implicit_.data(), implicit_.size());
                [[maybe_unused]] std::size_t index = 0;
                (detail::store_argument(kernarg + offsets_bytes_[index++], values), ...);
                const LaunchPlan& plan = kernel_.plan();
                if (plan.needs_queue()) plan.fill_queue(kernarg, detail::queue_facts(stream));
            },
            deadline);
        (detail::keep_argument(stream, values), ...);
    }

    Kernel kernel_;
    DispatchSpec spec_;
    std::array<std::uint32_t, sizeof...(Args)> offsets_bytes_{};
    std::vector<std::byte> implicit_;  // a kernarg segment without the explicit arguments and the queue
};

template <class... Args>
class BoundKernel {
    static_assert((std::is_same_v<Args, std::remove_cvref_t<Args>> && ...),
                  "bind values: float, const float*, MyArray; no references and no const values");

  public:
    /// Throws InvalidArgument: wrong count, or which argument has the wrong size or kind.
    explicit BoundKernel(Kernel kernel) : kernel_(std::move(kernel)) {
        kernel_.plan().check_arguments(detail::shapes_of<Args...>);
        in_order_ = kernel_.plan().lie_in_order(detail::shapes_of<Args...>);
    }

    const Kernel& kernel() const noexcept { return kernel_; }

    /// Enqueues the kernel. Throws InvalidArgument for the sizes and the stream; what Stream::dispatch throws.
    void launch(Stream& stream, const LaunchConfig& config, const std::type_identity_t<Args>&... args) const {
        kernel_.enqueue<detail::shapes_of<Args...>>(in_order_, stream, config, detail::launchable(args)...);
    }

    /// Throws InvalidArgument as LaunchPlan::shape does.
    FixedLaunch<Args...> at(const LaunchConfig& config) const { return {kernel_, config}; }

  private:
    Kernel kernel_;
    bool in_order_ = false;
};

template <class... Args>
BoundKernel<Args...> Kernel::bind() const {
    return BoundKernel<Args...>(*this);
}

}  // namespace hsadrv
