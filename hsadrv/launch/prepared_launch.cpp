// Launches for which the host prepares memory: cooperative ones, whose work-groups are all resident at once, and those
// of kernels that call OpenCL C's printf.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "hsadrv/base/cu_mask.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/kernel_occupancy.hpp"
#include "hsadrv/services/kernel_services.hpp"
#include "hsadrv/services/printf_formats.hpp"
#include "hsadrv/stream/cooperative_stream.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv {

namespace {

std::uint64_t groups_of(const Dim3& grid, const Dim3& workgroup) {
    const auto along = [](std::uint32_t items, std::uint32_t group) {
        return (std::uint64_t{items} + group - 1) / group;
    };
    return along(grid.x, workgroup.x) * along(grid.y, workgroup.y) * along(grid.z, workgroup.z);
}

/// Work-groups for whose private memory a queue has room: with more, the runtime starts fewer waves at a time, without
/// an error. It gives a queue 2 KiB for each lane of 32 waves on each compute unit, or HSA_SCRATCH_MEM bytes, and a
/// wave whole KiB; each unit starts as many waves (GpuAgent::InitScratchPool, AcquireQueueScratch).
std::uint64_t groups_with_scratch(const Kernel& kernel, const LaunchShape& shape, std::uint32_t units) {
    if (shape.private_segment_bytes == 0) return UINT64_MAX;
    constexpr std::uint64_t waves = 32, lanes = 64, unit_bytes = 1024;
    const char* const asked = std::getenv("HSA_SCRATCH_MEM");
    const std::uint64_t of_environment = asked ? std::strtoull(asked, nullptr, 0) : 0;
    const std::uint64_t lane_bytes = of_environment != 0 ? of_environment : 2048;
    const std::uint64_t wave_lanes = std::max(kernel.metadata().wavefront_size, 32u);
    const std::uint64_t wave_bytes =
        (shape.private_segment_bytes * wave_lanes + unit_bytes - 1) / unit_bytes * unit_bytes;
    const std::uint64_t group_waves = (shape.workgroup.volume() + wave_lanes - 1) / wave_lanes;
    return waves * lanes * lane_bytes / wave_bytes * units / group_waves;
}

void require_resident(const Kernel& kernel, const LaunchConfig& config, const LaunchShape& shape) {
    const shared::Occupancy held = kernel.occupancy(shape.workgroup, config.lds);
    const std::uint32_t units = std::min(detail::count_units(detail::units_in_force({}, kernel.agent())),
                                         kernel.agent().cooperative_compute_units());
    const std::uint64_t most = std::uint64_t{units} / held.compute_units * held.workgroups;
    const std::uint64_t wanted = groups_of(shape.grid, shape.workgroup);
    const std::uint64_t with_scratch = groups_with_scratch(kernel, shape, units);
    if (wanted > with_scratch && with_scratch < most)
        throw InvalidArgument("cooperative launch of kernel '" + kernel.name() + "': " + std::to_string(wanted) +
                              " work-groups of " + shape.workgroup.text() + "; a queue of " + kernel.agent().label() +
                              " has private memory for " + std::to_string(with_scratch) + " at once, of " +
                              std::to_string(shape.private_segment_bytes) +
                              " B per work-item; use a smaller grid, or HSA_SCRATCH_MEM");
    if (wanted <= most) return;
    throw InvalidArgument(
        "cooperative launch of kernel '" + kernel.name() + "': " + std::to_string(wanted) + " work-groups of " +
        shape.workgroup.text() + "; " + kernel.agent().label() + " holds " + std::to_string(most) +
        " at once: " + std::to_string(held.workgroups) + " on each of " + std::to_string(units / held.compute_units) +
        " compute units, limited by " + to_string(held.limit) +
        "; use a smaller grid, suggest_group_size() or device_workgroups(), and a loop in the kernel");
}

/// Prints what the kernel has left in the buffer. On the thread of host functions, after the kernel.
void print_records(const detail::KernelRecord& kernel, detail::PrintfBuffer& buffer) {
    detail::KernelServices& services = Driver::current().runtime().services();
    const std::vector<std::byte> records = buffer.take();
    const bool known = kernel.printf_formats->print(
        records, [&](std::string_view text) { services.print(kernel.agent, KernelOutput::standard, text); });
    if (!known)
        services.print(kernel.agent, KernelOutput::error,
                       "hsadrv: kernel '" + kernel.plan.kernel().name + "' on " + kernel.agent.label() +
                           ": printf: a record has no format; those after it are lost\n");
}

/// A launch that is ready to be enqueued, or recorded.
struct PreparedLaunch {
    std::shared_ptr<const detail::KernelRecord> kernel;
    LaunchShape shape;  // without the config's LDS demand
    shared::LdsDemand lds;
    std::vector<std::byte> kernarg;
    bool cooperative;

    void enqueue(detail::StreamCore& stream, Deadline deadline) const {
        if (!kernel->printf_formats) return enqueue_kernel(stream, 0, deadline);
        const std::shared_ptr<detail::PrintfBuffer> buffer =
            stream.printf().buffer(kernel->printf_formats, detail::PrintfFormats::unwritten);
        const detail::LateHolds late;
        const auto order = stream.keep_order(deadline, "Kernel::launch");
        enqueue_kernel(stream, buffer->address(), deadline);
        stream.keep_alive(buffer);
        try {
            stream.call(
                [buffer, of = kernel](SignalRef) {
                    print_records(*of, *buffer);
                    return detail::HostEnd::now;
                },
                deadline);
        } catch (const Timeout&) {  // printed with the texts of the next launch
        }
    }

  private:
    void enqueue_kernel(detail::StreamCore& stream, std::uint64_t printf_buffer, Deadline deadline) const {
        const DispatchSpec spec = kernel->plan.dispatch(kernel->kernel_object, shape);
        const auto write = [&](std::byte* to, QueueRef queue, std::uint64_t state) {
            write_arguments(to, queue, state, printf_buffer);
        };
        if (cooperative) {
            const auto groups = static_cast<std::uint32_t>(groups_of(shape.grid, shape.workgroup));
            return stream.branches().cooperative(stream).launch(stream, spec, {shape.grid.volume(), groups}, write,
                                                                deadline);
        }
        stream.dispatch(spec, [&](std::byte* to, QueueRef queue) { write(to, queue, 0); }, deadline);
    }

    void write_arguments(std::byte* to, QueueRef queue, std::uint64_t grid_state, std::uint64_t printf_buffer) const {
        const LaunchPlan& plan = kernel->plan;
        LaunchShape complete = shape;
        complete.lds = &lds;
        complete.grid_state = grid_state;
        complete.printf_buffer = printf_buffer;
        std::copy(kernarg.begin(), kernarg.end(), to);
        if (plan.has_implicit())
            plan.fill_implicit(to, complete, plan.needs_queue() ? detail::queue_facts(queue) : QueueFacts{});
    }
};

}  // namespace

void Kernel::launch_prepared(Stream& stream, const LaunchConfig& config, const LaunchShape& shape,
                             std::vector<std::byte> kernarg) const {
    if (config.cooperative)
        require_resident(*this, config, shape);
    else if (plan().needs_cooperation())
        static_cast<void>(plan().shape(config));  // refuses it
    PreparedLaunch launch{record_, shape, config.lds, std::move(kernarg), config.cooperative};
    launch.shape.lds = nullptr;
    detail::StreamCore& core = stream.core();
    const detail::LateHolds late;
    auto held = core.lock(config.deadline, "Kernel::launch");
    core.throw_if_failed();
    if (core.captured([launch](detail::StreamCore& other, Deadline when) { launch.enqueue(other, when); })) return;
    // One call until its end, which close() waits for: it makes what it uses of the stream.
    const detail::CallOrder::Composite order = core.keep_order(std::move(held));
    launch.enqueue(core, config.deadline);
}

}  // namespace hsadrv
