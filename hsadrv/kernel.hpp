// Kernel: one kernel of a loaded Executable, launched with C++ arguments.
//
//     Kernel kernel = executable.kernel("vector_add");
//     kernel.launch(stream, {.grid = n, .workgroup = 256}, d_a, d_b, d_c, n);
//
// A launch checks the arguments' count, sizes and kinds, the work-group, the grid and the LDS against the metadata and
// the agent before anything is enqueued; the checks are comparisons with small tables. In steady state it makes no HSA
// call, no system call and no allocation. Thread safety: launch from any number of threads. Memory ordering: Stream's.
// Keeps alive: its Executable. It may be destroyed once its launches on streams are enqueued, but must outlive Graphs
// and the caller's own packets. Errors: InvalidArgument with nothing enqueued, also for an argument in memory of
// another agent (DevicePointer::agent) that this one cannot access.
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
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/kernel_args.hpp"
#include "hsadrv/launch.hpp"
#include "hsadrv/launch_argument.hpp"
#include "hsadrv/launch_plan.hpp"
#include "hsadrv/metadata.hpp"
#include "hsadrv/stream.hpp"
#include "shared/occupancy.hpp"

namespace hsadrv {

namespace detail {
class PrintfFormats;

struct KernelRecord {
    KernelRecord(LaunchPlan its_plan, std::uint64_t object, AgentRef its_agent, std::string its_processor,
                 std::shared_ptr<const void> keeper, std::shared_ptr<const PrintfFormats> formats = {});

    LaunchPlan plan;
    std::uint64_t kernel_object;
    AgentRef agent;
    std::string processor;  // "gfx90a"
    std::shared_ptr<const void> executable;
    DispatchSpec plain;                                   ///< complete except its grid and work-group
    std::size_t room_bytes;                               ///< for its arguments
    std::shared_ptr<const PrintfFormats> printf_formats;  ///< of OpenCL C's printf; null: it does not print
    /// The last arguments that passed the check and are in order. Relaxed: they are constants, and a thread that reads
    /// an older value checks again.
    mutable std::atomic<const ArgumentShape*> checked{nullptr};

    /// True if every argument is at its offset_bytes. Throws what LaunchPlan::check_arguments does. `given` has static
    /// storage duration: its contents never change.
    bool check_arguments(std::span<const ArgumentShape> given) const {
        return (!given.empty() && checked.load(std::memory_order_relaxed) == given.data()) ||
               check_new_arguments(given);
    }
    bool check_new_arguments(std::span<const ArgumentShape> given) const;
};

/// The shapes of a launch's arguments. One array per list of types, so that its address identifies the list.
template <class... Args>
inline constexpr std::array<ArgumentShape, sizeof...(Args)> shapes_of = argument_shapes<Args...>();

/// The queue of this stream's kernels, in the form of hidden arguments.
QueueFacts queue_facts(const Stream& stream) noexcept;
QueueFacts queue_facts(QueueRef queue) noexcept;

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

/// Throws InvalidArgument if `kernel`'s agent cannot access memory of another one.
void require_reached(const KernelRecord& kernel, const void* address, std::uint64_t agent);

template <class T>
void check_memory([[maybe_unused]] const KernelRecord& kernel, [[maybe_unused]] std::size_t index,
                  [[maybe_unused]] const T& value) {
    if constexpr (std::is_same_v<T, DevicePointer> || is_held_value<T>) {
        if (value.agent != 0 && value.agent != kernel.agent.native().handle) [[unlikely]]
            require_reached(kernel, value.address, value.agent);
    }
    if constexpr (std::is_same_v<T, DevicePointer>) kernel.plan.check_element(index, value.element);
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
    /// The address of its descriptor on the agent, for dispatch packets.
    std::uint64_t kernel_object() const noexcept { return record_->kernel_object; }
    /// For the caller's own packets: the same checks and the same packing.
    const LaunchPlan& plan() const noexcept { return record_->plan; }

    /// The resources of its agent's compute units. Throws InvalidArgument for a processor that is not in
    /// shared/compute_unit.hpp's table.
    shared::ComputeUnit compute_unit() const;
    /// How many work-groups of that size, with that dynamic LDS, a compute unit holds at once, and which resource
    /// limits it. Throws InvalidArgument for what launch() would reject, and what compute_unit() throws.
    /// suggest_group_size() in kernel_occupancy.hpp proposes a size.
    shared::Occupancy occupancy(Dim3 workgroup, const shared::LdsDemand& lds = {}) const;

    /// Enqueues the kernel. `args` are its explicit arguments in order, without LDS pointers; see kernel_args.hpp for
    /// the accepted types. Throws InvalidArgument with nothing enqueued, and what Stream::dispatch throws.
    template <class... Args>
        requires(!detail::are_launch_arguments<Args...>)
    [[gnu::always_inline]] void launch(Stream& stream, const LaunchConfig& config, const Args&... args) const {
        enqueue<detail::shapes_of<Args...>>(record_->check_arguments(detail::shapes_of<Args...>), stream, config,
                                            detail::launchable(args)...);
    }

    /// The same for arguments whose types are known at run time; see launch_argument.hpp.
    void launch(Stream& stream, const LaunchConfig& config, std::span<const LaunchArgument> arguments) const;

    /// Throws InvalidArgument if the stream is not one of the agent that the kernel is loaded on.
    void check_stream(const Stream& stream) const {
        if (stream.agent() != record_->agent) [[unlikely]]
            refuse_stream(stream);
    }

    /// For graphs: checks like launch(), and writes the arguments to the address that `room(const DispatchSpec&)`
    /// returns.
    template <class Room, class... Args>
    void prepare(const LaunchConfig& config, Room&& room, const Args&... args) const {
        record_->check_arguments(detail::shapes_of<Args...>);
        // Converted before room is reserved: a conversion may throw.
        prepare_values(config, room, detail::launchable(args)...);
    }

    /// The same for arguments described at run time.
    template <class Room>
    void prepare_arguments(const LaunchConfig& config, Room&& room, std::span<const LaunchArgument> arguments) const {
        check_arguments(arguments);
        const LaunchShape shape = record_->plan.shape(config);
        store_arguments(room(record_->plan.dispatch(record_->kernel_object, shape)), shape, {}, arguments);
    }

    /// Throws InvalidArgument if the agent cannot access the memory of an argument, or for memory of another type.
    template <class... Values>
    void check_memory(const Values&... values) const {
        [[maybe_unused]] std::size_t index = 0;
        (detail::check_memory(*record_, index++, values), ...);
    }

  private:
    /// For checked arguments; `in_order`: they are at the offsets of `shapes`.
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
        const bool plain = in_order && kernel.plan.is_plain(config);
        if (!plain || !stream.lane().try_launch(kernel.room_bytes, write)) [[unlikely]]
            return enqueue_slow(stream, config, plain, values...);
        (detail::keep_argument(stream, values), ...);
    }

    /// Makes every check. `declined`: by the stream's lane. Takes values, so that the fast path need not store its own
    /// in memory.
    template <class... Values>
    [[gnu::noinline]] void enqueue_slow(Stream& stream, LaunchConfig config, bool declined, Values... values) const {
        if (record_->plan.needs_preparation(config)) {
            const LaunchShape shape = record_->plan.prepared_shape(config);
            std::vector<std::byte> kernarg(record_->plan.kernarg_bytes());
            fill(kernarg.data(), shape, {}, values...);
            launch_prepared(stream, config, shape, std::move(kernarg));
            (detail::keep_argument(stream, values), ...);
            return;
        }
        const LaunchShape shape = record_->plan.shape(config);
        const auto write = [&](std::byte* kernarg) noexcept { fill(kernarg, shape, queue_of(stream), values...); };
        const DispatchSpec spec = record_->plan.dispatch(record_->kernel_object, shape);
        declined ? stream.dispatch_slow(spec, write, config.deadline) : stream.dispatch(spec, write, config.deadline);
        (detail::keep_argument(stream, values), ...);
    }

    template <class Room, class... Values>
    void prepare_values(const LaunchConfig& config, Room& room, const Values&... values) const {
        check_memory(values...);
        const LaunchShape shape = record_->plan.shape(config);
        fill(room(record_->plan.dispatch(record_->kernel_object, shape)), shape, {}, values...);
    }

    /// Called while arguments are written: the stream does not change its queue until they are enqueued.
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

    // For arguments described at run time.
    void check_arguments(std::span<const LaunchArgument> arguments) const;
    void store_arguments(std::byte* kernarg, const LaunchShape& shape, const QueueFacts& queue,
                         std::span<const LaunchArgument> arguments) const noexcept;

    /// `kernarg`: all arguments but the hidden ones.
    void launch_prepared(Stream& stream, const LaunchConfig& config, const LaunchShape& shape,
                         std::vector<std::byte> kernarg) const;
    [[noreturn]] void refuse_stream(const Stream& stream) const;

    std::shared_ptr<const detail::KernelRecord> record_;
};

}  // namespace hsadrv
