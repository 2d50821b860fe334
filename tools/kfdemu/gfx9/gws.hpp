// Global wave sync: what waves of several work-groups meet at ("Vega" ISA manual, "DS Instructions": DS_GWS_*).
//
//     Gws gws;                       // of a queue, as the kernel driver hands it out (ALLOC_QUEUE_GWS)
//     wave.gws = &gws;
//
// Thread safety: the instructions work on it from any thread. A plain value otherwise.
#pragma once

#include <cstdint>

namespace kfdemu::gfx9 {

struct Gws {
    static constexpr unsigned kResources = 64;
    /// Low half: how many more waves have to come; of a semaphore, how many may pass. High half: how often the barrier
    /// opened.
    std::uint64_t resource[kResources]{};
    std::uint32_t waiting[kResources]{};  ///< waves at a semaphore
};

}  // namespace kfdemu::gfx9
