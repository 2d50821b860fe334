#include "hsadrv/runtime_bound_kernel.hpp"

#include <cstring>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

[[noreturn]] void refuse(const Kernel& kernel, const std::string& why) {
    throw InvalidArgument("launch of bound kernel '" + kernel.name() + "': " + why);
}

void require_values(const Kernel& kernel, std::span<const void* const> values) {
    const std::size_t count = kernel.plan().argument_count();
    if (values.size() != count) [[unlikely]]
        refuse(kernel, "it takes " + std::to_string(count) + " values, given " + std::to_string(values.size()));
    for (std::size_t i = 0; i < count; ++i) {
        if (values[i] == nullptr) [[unlikely]] {
            refuse(kernel, "the address of value " + std::to_string(i + 1) + " of " + std::to_string(count) +
                               " is null; for a null pointer, give the address of one");
        }
    }
}

void store_values(const LaunchPlan& plan, std::byte* kernarg, std::span<const void* const> values) noexcept {
    for (std::size_t i = 0; i < values.size(); ++i)
        detail::store_bytes(kernarg + plan.offset_bytes(i), values[i], plan.size_bytes(i));
}

QueueFacts queue_for(const LaunchPlan& plan, const Stream& stream) noexcept {
    return plan.needs_queue() ? detail::queue_facts(stream) : QueueFacts{};
}

}  // namespace

RuntimeBoundKernel Kernel::bind(std::span<const ArgumentShape> types) const { return {*this, types}; }

RuntimeBoundKernel::RuntimeBoundKernel(Kernel kernel, std::span<const ArgumentShape> types)
    : kernel_(std::move(kernel)) {
    kernel_.plan().check_arguments(types);
}

void RuntimeBoundKernel::launch(Stream& stream, const LaunchConfig& config, std::span<const void* const> values) const {
    const LaunchPlan& plan = kernel_.plan();
    kernel_.check_stream(stream);
    require_values(kernel_, values);
    const LaunchShape shape = plan.shape(config);
    stream.dispatch(
        plan.dispatch(kernel_.kernel_object(), shape),
        [&](std::byte* kernarg) noexcept {
            store_values(plan, kernarg, values);
            if (plan.has_implicit()) plan.fill_implicit(kernarg, shape, queue_for(plan, stream));
        },
        config.deadline);
}

RuntimeFixedLaunch::RuntimeFixedLaunch(Kernel kernel, const LaunchConfig& config) : kernel_(std::move(kernel)) {
    const LaunchPlan& plan = kernel_.plan();
    const LaunchShape shape = plan.shape(config);
    spec_ = plan.dispatch(kernel_.kernel_object(), shape);
    implicit_ = plan.implicit_segment(shape);
}

void RuntimeFixedLaunch::operator()(Stream& stream, std::span<const void* const> values, Deadline deadline) const {
    const LaunchPlan& plan = kernel_.plan();
    kernel_.check_stream(stream);
    require_values(kernel_, values);
    stream.dispatch(
        spec_,
        [&](std::byte* kernarg) noexcept {
            if (!implicit_.empty()) std::memcpy(kernarg, implicit_.data(), implicit_.size());
            store_values(plan, kernarg, values);
            if (plan.needs_queue()) plan.fill_queue(kernarg, detail::queue_facts(stream));
        },
        deadline);
}

}  // namespace hsadrv
