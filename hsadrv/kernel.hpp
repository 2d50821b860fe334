// Kernel: one kernel of a loaded Executable, ready to be launched with C++ arguments.
//
//     Kernel kernel = executable.kernel("vector_add");
//     kernel.launch(stream, {.grid = n, .workgroup = 256}, d_a, d_b, d_c, n);
//
// A launch checks the arguments' count, sizes and kinds, the work-group, the grid and the LDS against the
// metadata and the agent before anything is enqueued; the checks are comparisons with small tables. In steady
// state it makes no HSA call, no system call and no allocation. Thread safety: launch from any number of
// threads. Memory ordering: Stream's. Keeps alive: its Executable, which may go when the launches on
// streams are enqueued; Graphs and packets of your own need it kept. Errors: InvalidArgument with nothing enqueued,
// also for an argument in memory of another agent (DevicePointer::agent) that this one does not reach.
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
                 std::shared_ptr<const void> keeper);

    LaunchPlan plan;
    std::uint64_t kernel_object;
    AgentRef agent;
    std::string processor;  // "gfx90a"
    std::shared_ptr<const void> executable;
    DispatchSpec plain;      ///< but for its grid and work-group
    std::size_t room_bytes;  ///< for its arguments
    /// The arguments that were checked last, found right and in order. Relaxed: they are constants, and who reads an
    /// older value checks once more.
    mutable std::atomic<const ArgumentShape*> checked{nullptr};

    /// Are they where their offset_bytes says? Throws what LaunchPlan::check_arguments does. `given` lives as long as
    /// the program: what is at its address never changes.
    bool check_arguments(std::span<const ArgumentShape> given) const {
        return (!given.empty() && checked.load(std::memory_order_relaxed) == given.data()) ||
               check_new_arguments(given);
    }
    bool check_new_arguments(std::span<const ArgumentShape> given) const;
};

/// Of a launch with such arguments. One array a list of types, so that its address stands for them.
template <class... Args>
inline constexpr std::array<ArgumentShape, sizeof...(Args)> shapes_of = argument_shapes<Args...>();

/// The queue that a kernel of this stream runs on, as hidden arguments name it.
QueueFacts queue_facts(const Stream& stream) noexcept;

template <class T>
void store_argument(std::byte* to, const T& value) {
    if constexpr (std::is_same_v<T, DevicePointer>) {
        std::memcpy(to, &value.address, sizeof value.address);
    } else if constexpr (is_held_value<T>) {
        store_argument(to, value.value);
    } else if constexpr (std::is_null_pointer_v<T>) {
        std::memset(to, 0, sizeof(void*));
    } else {
        std::memcpy(to, &value, sizeof value);
    }
}

/// Throws InvalidArgument if `kernel`'s agent does not reach memory of another one.
void require_reached(const KernelRecord& kernel, const void* address, std::uint64_t agent);

template <class T>
void check_memory([[maybe_unused]] const KernelRecord& kernel, [[maybe_unused]] const T& value) {
    if constexpr (std::is_same_v<T, DevicePointer> || is_held_value<T>) {
        if (value.agent != 0 && value.agent != kernel.agent.native().handle) [[unlikely]]
            require_reached(kernel, value.address, value.agent);
    }
}

template <class T>
void keep_argument([[maybe_unused]] Stream& stream, [[maybe_unused]] const T& value) {
    if constexpr (std::is_same_v<T, DevicePointer> || is_held_value<T>) {
        if (value.keep_alive) stream.keep_alive(value.keep_alive);
    }
}
}  // namespace detail

class Kernel {
  public:
    explicit Kernel(std::shared_ptr<const detail::KernelRecord> record) noexcept : record_(std::move(record)) {}

    const std::string& name() const noexcept { return metadata().name; }
    const KernelMetadata& metadata() const noexcept { return record_->plan.kernel(); }
    AgentRef agent() const noexcept { return record_->agent; }
    /// The address of its descriptor on the agent: what a dispatch packet names.
    std::uint64_t kernel_object() const noexcept { return record_->kernel_object; }
    /// For packets of your own: the same checks and the same packing.
    const LaunchPlan& plan() const noexcept { return record_->plan; }

    /// What a compute unit of its agent has. Throws InvalidArgument for a processor that is not in
    /// shared/compute_unit.hpp's table.
    shared::ComputeUnit compute_unit() const;
    /// How many work-groups of that size, with so much dynamic LDS, a compute unit holds at once, and which resource
    /// limits it. Throws InvalidArgument for what launch() would refuse, and what compute_unit() throws. Which size to
    /// take: suggest_group_size() in kernel_occupancy.hpp.
    shared::Occupancy occupancy(Dim3 workgroup, const shared::LdsDemand& lds = {}) const;

    /// Enqueues the kernel. `args` are its explicit arguments in order, LDS pointers left out; see
    /// kernel_args.hpp for what may be one. Throws InvalidArgument with nothing enqueued; what
    /// Stream::dispatch throws otherwise.
    template <class... Args>
    [[gnu::always_inline]] void launch(Stream& stream, const LaunchConfig& config, const Args&... args) const {
        enqueue<detail::shapes_of<Args...>>(record_->check_arguments(detail::shapes_of<Args...>), stream, config,
                                            detail::launchable(args)...);
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
        record_->check_arguments(detail::shapes_of<Args...>);
        // Made before there is room for them: making one may throw.
        prepare_values(config, room, detail::launchable(args)...);
    }

    /// Throws InvalidArgument if the agent does not reach memory that an argument is about.
    template <class... Values>
    void check_memory(const Values&... values) const {
        (detail::check_memory(*record_, values), ...);
    }

  private:
    template <class... Args>
    friend class BoundKernel;

    /// For arguments that were checked; `in_order`: they are where `shapes` says.
    template <const auto& shapes, class... Values>
    [[gnu::always_inline]] void enqueue(bool in_order, Stream& stream, const LaunchConfig& config,
                                        const Values&... values) const {
        const detail::KernelRecord& kernel = *record_;
        check_stream(stream);
        check_memory(values...);
        const auto write = [&](std::byte* kernarg, std::uint32_t* words) noexcept {
            [[maybe_unused]] std::size_t index = 0;
            (detail::store_argument(kernarg + shapes[index++].offset_bytes, values), ...);
            if (kernel.plan.has_implicit())
                kernel.plan.fill_implicit(kernarg, kernel.plan.plain_shape(config), queue_of(stream));
            return detail::write_dispatch(words, config.grid, config.workgroup, kernel.plain);
        };
        if (!in_order || !kernel.plan.is_plain(config) || !stream.lane().try_launch(kernel.room_bytes, write))
            [[unlikely]]
            return enqueue_slow(stream, config, values...);
        (detail::keep_argument(stream, values), ...);
    }

    /// Everything is looked at. By value: what the short way knows need not lie in memory for its sake.
    template <class... Values>
    [[gnu::noinline]] void enqueue_slow(Stream& stream, LaunchConfig config, Values... values) const {
        const LaunchShape shape = record_->plan.shape(config);
        const auto write = [&](std::byte* kernarg) noexcept { fill(kernarg, shape, queue_of(stream), values...); };
        stream.dispatch(record_->plan.dispatch(record_->kernel_object, shape), write, config.deadline);
        (detail::keep_argument(stream, values), ...);
    }

    template <class Room, class... Values>
    void prepare_values(const LaunchConfig& config, Room& room, const Values&... values) const {
        check_memory(values...);
        const LaunchShape shape = record_->plan.shape(config);
        fill(room(record_->plan.dispatch(record_->kernel_object, shape)), shape, {}, values...);
    }

    /// Asked while arguments are filled in: the stream keeps the queue that it has until they are enqueued.
    QueueFacts queue_of(const Stream& stream) const noexcept {
        return record_->plan.needs_queue() ? detail::queue_facts(stream) : QueueFacts{};
    }

    template <class... Values>
    void fill(std::byte* kernarg, const LaunchShape& shape, const QueueFacts& queue,
              const Values&... values) const noexcept {
        const LaunchPlan& plan = record_->plan;
        [[maybe_unused]] std::size_t index = 0;
        (detail::store_argument(kernarg + plan.offset_bytes(index++), values), ...);
        if (plan.has_implicit()) plan.fill_implicit(kernarg, shape, queue);
    }

    [[noreturn]] void refuse_stream(const Stream& stream) const;

    std::shared_ptr<const detail::KernelRecord> record_;
};

}  // namespace hsadrv
