#include "hsadrv/kernel.hpp"

#include <hsa/amd_hsa_queue.h>

#include <utility>

#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/kernel_occupancy.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/services/printf_formats.hpp"

namespace hsadrv {

QueueFacts detail::queue_facts(const Stream& stream) noexcept { return queue_facts(stream.queue()); }

QueueFacts detail::queue_facts(QueueRef of) noexcept {
    // An AMD queue begins with the hsa_queue_t (amd_hsa_queue.h).
    const auto* queue = reinterpret_cast<const amd_queue_t*>(of.native());
    return {reinterpret_cast<std::uint64_t>(queue), queue->group_segment_aperture_base_hi,
            queue->private_segment_aperture_base_hi};
}

detail::KernelRecord::KernelRecord(LaunchPlan its_plan, std::uint64_t object, AgentRef its_agent,
                                   std::string its_processor, std::shared_ptr<const void> keeper,
                                   std::shared_ptr<const PrintfFormats> formats)
    : plan(std::move(its_plan)),
      kernel_object(object),
      agent(its_agent),
      processor(std::move(its_processor)),
      executable(std::move(keeper)),
      plain(plan.dispatch(object, plan.plain_shape({}))),
      room_bytes(KernargRing::room_bytes(plan.kernarg_bytes())),
      printf_formats(plan.prints() && !formats ? std::make_shared<const PrintfFormats>(std::span<const std::string>())
                     : plan.prints()           ? std::move(formats)
                                               : nullptr) {}

bool detail::KernelRecord::check_new_arguments(std::span<const ArgumentShape> given) const {
    plan.check_arguments(given);
    const bool in_order = plan.lie_in_order(given);
    if (in_order) checked.store(given.data(), std::memory_order_relaxed);
    return in_order;
}

void detail::require_reached(const KernelRecord& kernel, const void* address, std::uint64_t agent) {
    if (address == nullptr || pointer_info(address).accessible_by(kernel.agent)) return;
    throw InvalidArgument("launch of kernel '" + kernel.plan.kernel().name + "': an argument is in memory of " +
                          AgentRef(hsa_agent_t{agent}).label() + ", at " + hex(address) + ", which " +
                          kernel.agent.label() +
                          " does not reach; copy it to that device, or grant access with allow_access()");
}

shared::ComputeUnit Kernel::compute_unit() const {
    const shared::ComputeUnit unit = shared::compute_unit(record_->processor.c_str());
    if (!unit.known()) {
        throw InvalidArgument("occupancy of kernel '" + name() +
                              "': the table in shared/compute_unit.hpp lacks the compute units of " + agent().label() +
                              " (" + record_->processor + ")");
    }
    return unit;
}

shared::Occupancy Kernel::occupancy(Dim3 workgroup, const shared::LdsDemand& lds) const {
    const LaunchShape shape = plan().prepared_shape({.grid = workgroup, .workgroup = workgroup, .lds = lds});
    return shared::occupancy(compute_unit(), resources_of(metadata(), static_cast<std::uint32_t>(workgroup.volume()),
                                                          shape.group_segment_bytes));
}

void Kernel::refuse_stream(const Stream& stream) const {
    static_cast<void>(stream.queue());  // throws if it is closed
    throw InvalidArgument("launch of kernel '" + name() + "': it is loaded on " + agent().label() +
                          ", the stream belongs to " + stream.agent().label());
}

}  // namespace hsadrv
