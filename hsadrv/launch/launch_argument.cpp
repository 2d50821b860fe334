#include "hsadrv/launch_argument.hpp"

#include "hsadrv/kernel.hpp"

namespace hsadrv {

void Kernel::launch(Stream& stream, const LaunchConfig& config, std::span<const LaunchArgument> arguments) const {
    const LaunchPlan& plan = record_->plan;
    check_stream(stream);
    check_arguments(arguments);
    if (plan.needs_preparation(config)) {
        const LaunchShape shape = plan.prepared_shape(config);
        std::vector<std::byte> kernarg(plan.kernarg_bytes());
        store_arguments(kernarg.data(), shape, {}, arguments);
        launch_prepared(stream, config, shape, std::move(kernarg));
        for (const LaunchArgument& argument : arguments) detail::keep_argument(stream, argument.memory());
        return;
    }
    const LaunchShape shape = plan.is_plain(config) ? plan.plain_shape(config) : plan.shape(config);
    stream.dispatch(
        plan.dispatch(record_->kernel_object, shape),
        [&](std::byte* kernarg) noexcept { store_arguments(kernarg, shape, queue_of(stream), arguments); },
        config.deadline);
    for (const LaunchArgument& argument : arguments) detail::keep_argument(stream, argument.memory());
}

void Kernel::check_arguments(std::span<const LaunchArgument> arguments) const {
    record_->plan.check_arguments(arguments);
    const std::uint64_t own = record_->agent.native().handle;
    for (const LaunchArgument& argument : arguments) {
        const DevicePointer& memory = argument.memory();
        if (memory.agent != 0 && memory.agent != own) [[unlikely]]
            detail::require_reached(*record_, memory.address, memory.agent);
    }
}

void Kernel::store_arguments(std::byte* kernarg, const LaunchShape& shape, const QueueFacts& queue,
                             std::span<const LaunchArgument> arguments) const noexcept {
    const LaunchPlan& plan = record_->plan;
    for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i].store(kernarg + plan.offset_bytes(i));
    if (plan.has_implicit()) plan.fill_implicit(kernarg, shape, queue);
}

}  // namespace hsadrv
