// Internal: the completion that an Event names.
#pragma once

#include <cstdint>
#include <memory>

#include "hsadrv/agent.hpp"
#include "hsadrv/stream/completion.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

struct CapturePoint;

struct EventState {
    std::shared_ptr<const Timeline> timeline;
    Completion completion;
    AgentRef agent;
    std::shared_ptr<PooledSignal> clock = {};           ///< its packet's signal, with times; null: no timing
    std::shared_ptr<const CapturePoint> captured = {};  ///< null unless it was recorded in a capture

    /// None of its work runs any more, lost or not.
    bool over() const noexcept {
        return timeline->finished() >= completion.epochs && (!completion.copy || completion.copy->ref().load() <= 0);
    }
    bool reached() const noexcept { return timeline->reached(completion); }
    /// The stream failed before the event completed, or a stream that it waited for did.
    bool lost() const { return timeline->lost(completion); }
};

}  // namespace hsadrv::detail
