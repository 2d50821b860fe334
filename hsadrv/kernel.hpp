// Kernel: one kernel of a loaded Executable, ready to be launched with C++ arguments.
//
//     Kernel kernel = executable.kernel("vector_add");
//     kernel.launch(stream, {.grid = n, .workgroup = 256}, d_a, d_b, d_c, n);
//
// A launch checks the arguments' count, sizes and kinds, the work-group, the grid and the LDS against the
// metadata and the agent before anything is enqueued; the checks are comparisons with small tables. In steady
// state it makes no HSA call, no system call and no allocation. Thread safety: launch from any number of
// threads. Memory ordering: Stream's. Keeps alive: its Executable, but not for work in flight: keep the
// Kernel or the Executable until the stream has got there.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hsadrv/agent.hpp"
#include "hsadrv/kernel_args.hpp"
#include "hsadrv/launch.hpp"
#include "hsadrv/launch_plan.hpp"
#include "hsadrv/metadata.hpp"
#include "hsadrv/stream.hpp"
#include "shared/occupancy.hpp"

namespace hsadrv {

template <class... Args>
class BoundKernel;

namespace detail {
struct KernelRecord {
    KernelRecord(LaunchPlan its_plan, std::uint64_t object, AgentRef its_agent, std::string its_processor,
                 std::shared_ptr<const void> keeper)
        : plan(std::move(its_plan)),
          kernel_object(object),
          agent(its_agent),
          processor(std::move(its_processor)),
          executable(std::move(keeper)) {}

    LaunchPlan plan;
    std::uint64_t kernel_object;
    AgentRef agent;
    std::string processor;  // "gfx90a"
    std::shared_ptr<const void> executable;
    /// The shapes that were checked last and found right. Relaxed: they are constants, and who reads an older value
    /// checks once more.
    mutable std::atomic<const ArgumentShape*> checked{nullptr};

    /// `given` lives as long as the program: what is at its address never changes.
    void check_arguments(std::span<const ArgumentShape> given) const {
        if (checked.load(std::memory_order_relaxed) == given.data()) [[likely]]
            return;
        plan.check_arguments(given);
        if (!given.empty()) checked.store(given.data(), std::memory_order_relaxed);
    }
};

/// The queue that a kernel of this stream runs on, as hidden arguments name it.
QueueFacts queue_facts(const Stream& stream) noexcept;

template <class T>
void store_argument(std::byte* to, const T& value) {
    if constexpr (std::is_same_v<T, DevicePointer>) {
        std::memcpy(to, &value.address, sizeof value.address);
    } else if constexpr (std::is_null_pointer_v<T>) {
        std::memset(to, 0, sizeof(void*));
    } else {
        std::memcpy(to, &value, sizeof value);
    }
}

template <class T>
void keep_argument(Stream& stream, const T& value) {
    if constexpr (std::is_same_v<T, DevicePointer>) {
        if (value.keep_alive) stream.keep_alive(value.keep_alive);
    }
}
}  // namespace detail

class Kernel {
  public:
    explicit Kernel(std::shared_ptr<const detail::KernelRecord> record) noexcept
        : record_(std::move(record)) {}

    const std::string& name() const noexcept { return metadata().name; }
    const KernelMetadata& metadata() const noexcept { return record_->plan.kernel(); }
    AgentRef agent() const noexcept { return record_->agent; }
    /// The address of its descriptor on the agent: what a dispatch packet names.
    std::uint64_t kernel_object() const noexcept { return record_->kernel_object; }
    /// For packets of your own: the same checks and the same packing.
    const LaunchPlan& plan() const noexcept { return record_->plan; }

    /// How many work-groups of that size, with so much dynamic LDS, a compute unit holds at once, and which resource
    /// limits it. Throws InvalidArgument for what launch() would refuse, and for a processor that is not in
    /// shared/occupancy.hpp's table.
    shared::Occupancy occupancy(Dim3 workgroup, const shared::LdsDemand& lds = {}) const;

    /// Enqueues the kernel. `args` are its explicit arguments in order, LDS pointers left out; see
    /// kernel_args.hpp for what may be one. Throws InvalidArgument with nothing enqueued; what
    /// Stream::dispatch throws otherwise.
    template <class... Args>
    void launch(Stream& stream, const LaunchConfig& config, const Args&... args) const {
        static constexpr std::array<ArgumentShape, sizeof...(Args)> shapes{argument_shape<Args>...};
        record_->check_arguments(shapes);
        launch_checked(stream, config, args...);
    }

    /// The same launch with its arguments' types checked once, here. Throws InvalidArgument as launch() would. See
    /// bound_kernel.hpp.
    template <class... Args>
    BoundKernel<Args...> bind() const;

    /// Throws InvalidArgument if the stream is not one of the agent that the kernel is loaded on.
    void check_stream(const Stream& stream) const {
        if (stream.agent() != record_->agent) [[unlikely]]
            refuse_stream(stream);
    }

    /// For graphs: checks like launch(), and writes the arguments where `room(const DispatchSpec&)` says.
    template <class Room, class... Args>
    void prepare(const LaunchConfig& config, Room&& room, const Args&... args) const {
        static constexpr std::array<ArgumentShape, sizeof...(Args)> shapes{argument_shape<Args>...};
        record_->check_arguments(shapes);
        const LaunchShape shape = record_->plan.shape(config);
        fill(room(record_->plan.dispatch(record_->kernel_object, shape)), shape, {}, detail::launchable(args)...);
    }

  private:
    template <class... Args>
    friend class BoundKernel;

    /// launch() for arguments that were checked before.
    template <class... Args>
    void launch_checked(Stream& stream, const LaunchConfig& config, const Args&... args) const {
        enqueue(stream, record_->plan.shape(config), config.deadline, detail::launchable(args)...);
    }

    template <class... Values>
    [[gnu::always_inline]] void enqueue(Stream& stream, const LaunchShape& shape, Deadline deadline, const Values&... values) const {
        check_stream(stream);
        stream.dispatch(
            record_->plan.dispatch(record_->kernel_object, shape),
            [&](std::byte* kernarg) {
                QueueFacts queue;  // asked here, where the stream keeps the queue that it has
                if (record_->plan.needs_queue()) queue = detail::queue_facts(stream);
                fill(kernarg, shape, queue, values...);
            },
            deadline);
        (detail::keep_argument(stream, values), ...);
    }

    template <class... Values>
    [[gnu::always_inline]] void fill(std::byte* kernarg, const LaunchShape& shape, const QueueFacts& queue,
              const Values&... values) const {
        const LaunchPlan& plan = record_->plan;
        [[maybe_unused]] std::size_t index = 0;
        (detail::store_argument(kernarg + plan.offset_bytes(index++), values), ...);
        if (plan.has_implicit()) plan.fill_implicit(kernarg, shape, queue);
    }

    [[noreturn]] void refuse_stream(const Stream& stream) const;

    std::shared_ptr<const detail::KernelRecord> record_;
};

}  // namespace hsadrv
