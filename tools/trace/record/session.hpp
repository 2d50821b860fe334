// Session: what the wrapped calls share, from OnLoad to OnUnload of the runtime.
#pragma once

#include <atomic>

#include "tools/trace/record/agents.hpp"
#include "tools/trace/record/memory_use.hpp"
#include "tools/trace/record/pending_work.hpp"
#include "tools/trace/record/queues.hpp"

namespace trace {

struct Session {
    Runtime runtime;
    Agents agents{runtime};
    Kernels kernels;
    MemoryUse memory;
    PendingWork pending;
    Queues queues{runtime, agents, kernels, pending};

    Session(const Runtime& functions, SystemClock clock) : runtime{functions}, pending{runtime, clock} {}

    /// Null: nothing is traced. Acquire: pairs with the release in OnLoad.
    static Session* active() { return current.load(std::memory_order_acquire); }
    static inline std::atomic<Session*> current{nullptr};
};

}  // namespace trace
