// Internal: the moment when an operation of a stream is complete.
//
//   const PointSignal moment = signal_of(timeline, point);
//   moment.signal.wait(Condition::less, moment.below);
//
// Thread safety: plain values. Keeps alive: a copy's signal.
#pragma once

#include <cstdint>
#include <memory>

#include "hsadrv/signal_pool.hpp"
#include "hsadrv/timeline.hpp"

namespace hsadrv::detail {

/// When the copy's signal is zero, or when so many packets of the stream are complete.
struct Point {
    std::uint64_t epochs = 0;
    std::shared_ptr<PooledSignal> copy = {};
};

/// Reached, or the stream has failed, when the signal is below that.
struct PointSignal {
    SignalRef signal;
    std::int64_t below;
};

inline PointSignal signal_of(const Timeline& timeline, const Point& point) noexcept {
    if (point.copy) return {point.copy->ref(), 1};
    return {timeline.signal(), Timeline::below(point.epochs)};
}

inline bool reached(const Timeline& timeline, const Point& point) noexcept {
    return point.copy ? point.copy->ref().load() <= 0 : timeline.reached(point.epochs);
}

}  // namespace hsadrv::detail
