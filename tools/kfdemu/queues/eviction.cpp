#include "tools/kfdemu/queues/eviction.hpp"

#include <utility>

#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/base/log.hpp"

namespace kfdemu {

bool Eviction::enter() {
    turns_.fetch_add(1);
    if (!evicted_.load()) return true;
    leave();
    return false;
}

void Eviction::leave() {
    if (turns_.fetch_sub(1) != 1 || !evicted_.load()) return;
    std::vector<abi::MemoryException> told;
    {
        std::lock_guard lock{mutex_};
        told = std::exchange(untold_, {});
    }
    for (const abi::MemoryException& exception : told) events_.raise(exception);
}

void Eviction::fault(const abi::MemoryException& exception) {
    if (!shows(Behaviour::fault_stops_all)) return events_.raise(exception);
    {
        std::lock_guard lock{mutex_};
        untold_.push_back(exception);
    }
    if (!evicted_.exchange(true))
        log(LogLevel::error,
            "all queues of this process on that GPU are stopped, including queues created later, as the "
            "kernel driver does after a memory fault");
}

}  // namespace kfdemu
