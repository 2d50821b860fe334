// Internal: the completion that an Event names.
#pragma once

#include <cstdint>
#include <memory>

#include "hsadrv/agent.hpp"
#include "hsadrv/stream/completion.hpp"
#include "hsadrv/stream/timeline.hpp"

namespace hsadrv::detail {

struct EventState {
    std::shared_ptr<const Timeline> timeline;
    Completion completion;     ///< when it is complete
    std::uint64_t epochs = 0;  ///< packets of the stream before it, copies excluded
    AgentRef agent;
    std::shared_ptr<PooledSignal> clock = {};  ///< its packet's signal, with times; null: no timing

    /// None of its work runs any more, lost or not.
    bool over() const noexcept {
        return timeline->finished() >= epochs && (!completion.copy || completion.copy->ref().load() <= 0);
    }
    bool reached() const noexcept { return detail::reached(*timeline, completion); }
    /// The stream failed before the event completed, or a stream that it waited for did.
    bool lost() const { return timeline->lost(epochs, completion.copy.get()); }
};

}  // namespace hsadrv::detail
