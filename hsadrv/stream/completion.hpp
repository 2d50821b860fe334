// Internal: a moment in a stream's work. Timeline says whether it is reached or lost.
//
//   const Completion last{.epochs = timeline.submitted()};
//
// Thread safety: plain values. Keeps alive: a copy's signal.
#pragma once

#include <cstdint>
#include <memory>

#include "hsadrv/signal_pool.hpp"

namespace hsadrv::detail {

/// When `epochs` packets of the stream are complete; if there is a copy or a host function after them, when that is.
struct Completion {
    std::uint64_t epochs = 0;
    std::shared_ptr<PooledSignal> copy = {};  ///< zero when complete, negative if it is lost; null: packets alone
};

/// Reached or lost when the signal is below `below`.
struct CompletionSignal {
    SignalRef signal;
    std::int64_t below;
};

}  // namespace hsadrv::detail
