// Internal: the condition under which an operation of a stream is complete.
//
//   const CompletionSignal moment = signal_of(timeline, completion);
//   moment.signal.wait(Condition::less, moment.below);
//
// Thread safety: plain values. Keeps alive: a copy's signal.
#pragma once

#include <cstdint>
#include <memory>

#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

/// Reached when the copy's signal is zero, or when `epochs` packets of the stream are complete.
struct Completion {
    std::uint64_t epochs = 0;
    std::shared_ptr<PooledSignal> copy = {};
};

/// Reached, or the stream has failed, when the signal is below `below`.
struct CompletionSignal {
    SignalRef signal;
    std::int64_t below;
};

inline CompletionSignal signal_of(const Timeline& timeline, const Completion& completion) noexcept {
    if (completion.copy) return {completion.copy->ref(), 1};
    return {timeline.signal(), Timeline::below(completion.epochs)};
}

inline bool reached(const Timeline& timeline, const Completion& completion) noexcept {
    return completion.copy ? completion.copy->ref().load() <= 0 : timeline.reached(completion.epochs);
}

}  // namespace hsadrv::detail
