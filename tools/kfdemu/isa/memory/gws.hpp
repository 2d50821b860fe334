// Global wave sync: barriers and semaphores across work-groups ("Vega" ISA manual, "DS Instructions": DS_GWS_*).
//
//     Gws gws;                       // one per queue, as the kernel driver allocates it (ALLOC_QUEUE_GWS)
//     wave.gws = &gws;
//
// Thread safety: instructions may use it from any thread. Otherwise a plain value.
#pragma once

#include <cstdint>

namespace kfdemu::isa {

struct Gws {
    static constexpr unsigned kResources = 64;
    /// Low half: barriers: how many more waves must arrive; semaphores: how many may pass. High half: how often the
    /// barrier has opened.
    std::uint64_t resource[kResources]{};
    std::uint32_t waiting[kResources]{};  ///< waves waiting at a semaphore
};

}  // namespace kfdemu::isa
