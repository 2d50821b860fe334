#include "hsadrv/kernel.hpp"

#include <hsa/amd_hsa_queue.h>

#include "hsadrv/error.hpp"

namespace hsadrv {

QueueFacts detail::queue_facts(const Stream& stream) noexcept {
    // An AMD queue begins with the hsa_queue_t (amd_hsa_queue.h).
    const auto* queue = reinterpret_cast<const amd_queue_t*>(stream.queue().native());
    return {reinterpret_cast<std::uint64_t>(queue), queue->group_segment_aperture_base_hi,
            queue->private_segment_aperture_base_hi};
}

void Kernel::refuse_stream(const Stream& stream) const {
    throw InvalidArgument("launch of kernel '" + name() + "': it is loaded on " + agent().label() +
                          ", the stream belongs to " + stream.agent().label());
}

}  // namespace hsadrv
