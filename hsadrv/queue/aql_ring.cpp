#include "hsadrv/aql_ring.hpp"

namespace hsadrv {

// In the library, so that programs that inline the launch path need not link the runtime.
void AqlRing::ring_doorbell_signal(std::uint64_t last) noexcept {
    hsa_signal_store_screlease(memory_.doorbell_signal, static_cast<hsa_signal_value_t>(last));
}

void AqlRing::publish_further(std::uint64_t slot, bool moved) noexcept {
    if (!moved) return publish(slot, 1);
    advance_frontier();
    ring_doorbell();
}

}  // namespace hsadrv
