// Cooperative launches: every work-group of the grid is resident at once.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/kernel_occupancy.hpp"
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

void require_resident(const Kernel& kernel, const LaunchConfig& config, const LaunchShape& shape) {
    const shared::Occupancy held = kernel.occupancy(shape.workgroup, config.lds);
    const std::uint32_t units = std::min(kernel.agent().compute_units(), kernel.agent().cooperative_compute_units());
    const std::uint64_t most = std::uint64_t{units} / held.compute_units * held.workgroups;
    const std::uint64_t wanted = groups_of(shape.grid, shape.workgroup);
    if (wanted <= most) return;
    throw InvalidArgument(
        "cooperative launch of kernel '" + kernel.name() + "': " + std::to_string(wanted) + " work-groups of " +
        shape.workgroup.text() + "; " + kernel.agent().label() + " holds " + std::to_string(most) +
        " at once: " + std::to_string(held.workgroups) + " on each of " + std::to_string(units / held.compute_units) +
        " compute units, limited by " + to_string(held.limit) +
        "; use a smaller grid, suggest_group_size() or device_workgroups(), and a loop in the kernel");
}

/// A cooperative launch that is ready to be enqueued, or recorded.
struct CooperativeLaunch {
    std::shared_ptr<const detail::KernelRecord> kernel;
    LaunchShape shape;  // without the config's LDS demand
    shared::LdsDemand lds;
    std::vector<std::byte> kernarg;

    void enqueue(detail::StreamCore& stream, Deadline deadline) const {
        const LaunchPlan& plan = kernel->plan;
        const auto write = [&](std::byte* to, QueueRef queue, std::uint64_t state) {
            LaunchShape complete = shape;
            complete.lds = &lds;
            complete.grid_state = state;
            std::copy(kernarg.begin(), kernarg.end(), to);
            if (plan.has_implicit())
                plan.fill_implicit(to, complete, plan.needs_queue() ? detail::queue_facts(queue) : QueueFacts{});
        };
        const auto groups = static_cast<std::uint32_t>(groups_of(shape.grid, shape.workgroup));
        stream.branches().cooperative(stream).launch(stream, plan.dispatch(kernel->kernel_object, shape),
                                                     {shape.grid.volume(), groups}, write, deadline);
    }
};

}  // namespace

void Kernel::launch_cooperative(Stream& stream, const LaunchConfig& config, const LaunchShape& shape,
                                std::vector<std::byte> kernarg) const {
    require_resident(*this, config, shape);
    CooperativeLaunch launch{record_, shape, config.lds, std::move(kernarg)};
    launch.shape.lds = nullptr;
    detail::StreamCore& core = stream.core();
    {
        const auto held = core.writer().lock(config.deadline, "Kernel::launch");
        core.throw_if_failed();
        if (core.captured([launch](detail::StreamCore& other, Deadline when) { launch.enqueue(other, when); })) return;
    }
    launch.enqueue(core, config.deadline);
}

}  // namespace hsadrv
