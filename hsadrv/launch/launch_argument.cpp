#include "hsadrv/launch_argument.hpp"

#include "hsadrv/kernel.hpp"

namespace hsadrv {

void Kernel::launch(Stream& stream, const LaunchConfig& config, std::span<const LaunchArgument> arguments) const {
    check_stream(stream);
    check_arguments(arguments);
    const LaunchShape shape = record_->plan.shape(config);
    stream.dispatch(
        record_->plan.dispatch(record_->kernel_object, shape),
        [&](std::byte* kernarg) noexcept { store_arguments(kernarg, shape, queue_of(stream), arguments); },
        config.deadline);
    for (const LaunchArgument& argument : arguments) detail::keep_argument(stream, argument.memory());
}

void Kernel::check_arguments(std::span<const LaunchArgument> arguments) const {
    record_->plan.check_arguments(arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i) detail::check_memory(*record_, i, arguments[i].memory());
}

void Kernel::store_arguments(std::byte* kernarg, const LaunchShape& shape, const QueueFacts& queue,
                             std::span<const LaunchArgument> arguments) const noexcept {
    const LaunchPlan& plan = record_->plan;
    for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i].store(kernarg + plan.offset_bytes(i));
    if (plan.has_implicit()) plan.fill_implicit(kernarg, shape, queue);
}

}  // namespace hsadrv
