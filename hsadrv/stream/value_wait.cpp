#include "hsadrv/stream/value_wait.hpp"

#include <utility>

#include "hsadrv/base/runtime.hpp"

namespace hsadrv::detail {

bool queues_take_barrier_value(AgentRef agent) {
    const std::string name = agent.name();
    return name == "gfx90a" || name == "gfx940" || name == "gfx941" || name == "gfx942";
}

Relay::Relay(SignalRef signal, Condition condition, std::int64_t value, std::function<bool()> may_open,
             const Timeline& stream) {
    Runtime& runtime = Driver::current().runtime();
    opened_ = runtime.signals().acquire(1);
    id_ =
        stream.call_when(runtime.copies(), signal, condition, value, [open = opened_, may_open = std::move(may_open)] {
            if (may_open()) open->ref().store(0);
        });
}

Relay::~Relay() {
    if (opened_) Driver::current().runtime().copies().cancel(id_);
}

std::shared_ptr<PooledSignal> Relay::keep() noexcept { return std::move(opened_); }

}  // namespace hsadrv::detail
