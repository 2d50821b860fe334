#include "hsadrv/stream/value_wait.hpp"

#include <utility>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/stream/live_streams.hpp"

namespace hsadrv::detail {

bool queues_take_barrier_value(AgentRef agent) {
    const std::string name = agent.name();
    if (agent.emulates_queues().value_or(false)) return false;
    return name == "gfx90a" || name == "gfx940" || name == "gfx941" || name == "gfx942" || name == "gfx950";
}

Relay::Relay(SignalRef signal, Condition condition, std::int64_t value, std::function<bool()> may_open,
             std::shared_ptr<const Timeline> stream) {
    Runtime& runtime = Driver::current().runtime();
    opened_ = runtime.signals().acquire(1);
    const void* const owner = stream->waits();
    const std::uint64_t own = stream->submitted() + 1;
    auto open = [own, stream = std::move(stream), opened = opened_, may_open = std::move(may_open)] {
        if (stream->intact(own) && may_open()) opened->ref().store(0);
    };
    id_ = runtime.copies().on_signal(signal, condition, value, std::move(open), live_streams::poll, owner, own);
}

Relay::~Relay() {
    if (opened_) Driver::current().runtime().copies().cancel(id_);
}

std::shared_ptr<PooledSignal> Relay::keep() noexcept { return std::move(opened_); }

}  // namespace hsadrv::detail
