// Internal: the moment that an Event names.
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
    std::uint64_t epochs = 0;  ///< packets of the stream before it, copies aside
    AgentRef agent;
    std::shared_ptr<PooledSignal> clock = {};  ///< its packet's signal, with times; null: none was asked for

    bool reached() const noexcept { return detail::reached(*timeline, completion); }
    /// The stream failed before the moment came, or one that it waited for did.
    bool lost() const { return timeline->lost(epochs, completion.copy.get()); }
};

}  // namespace hsadrv::detail
