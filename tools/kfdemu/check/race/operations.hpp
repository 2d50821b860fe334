// Finds accesses of one byte of memory by two kernels or copies that nothing orders.
//
//     Operations operations;                                     // one for a process
//     Tick seen = operations.published(queue);                   // a queue's doorbell was rung
//     operations.waits_since(queue, tick);                       // its oldest packet that has not started; 0: none
//     auto kernel = operations.begin(safe, Operations::Kernel{…}); // it starts, after all that ended before `safe`
//     operations.end(kernel, report, allocations);               // it has ended, and nothing was told about it yet
//
// A program orders two operations by starting the second when it was told that the first has ended: then the first
// ended before the second was published. A barrier bit or a dependency delays the second until the first has ended.
// Otherwise they may run at the same time, whatever happened here. So only the ticks of ends and starts count; what
// made the order is not looked for. Two kernels that both synchronise through one address are not compared.
//
// An operation is kept until nothing can start that was published before it ended; at most 512 are. Thread safety:
// every function, any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "tools/kfdemu/check/memory/allocations.hpp"
#include "tools/kfdemu/check/race/box.hpp"
#include "tools/kfdemu/check/race/memory_races.hpp"
#include "tools/kfdemu/check/report/report.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::check {

class Operations {
  public:
    using Tick = std::uint64_t;

    /// What reports say of a kernel.
    struct Kernel {
        std::shared_ptr<MemoryRaces> memory;  ///< what it accessed; not null
        isa::Target target{};
        std::uint64_t kernel_object = 0, queue_id = 0, dispatch_id = 0;
        std::uint32_t gpu = 0;
    };
    /// A copy or a fill by a DMA engine.
    struct Copy {
        std::vector<Box> reads, writes;
        unsigned gpu = 0;
        const void* queue = nullptr;  ///< which runs its copies one after the other
    };
    struct Operation {
        Tick safe = 0, end = 0;
        std::variant<Kernel, Copy> what;
    };
    using Handle = std::shared_ptr<Operation>;

    /// Now. Packets of that queue that are in memory by then wait from then on.
    Tick published(const void* queue);
    /// They start after all that has ended by `since`.
    void waits_since(const void* queue, Tick since);
    Tick now() { return tick_.fetch_add(1, std::memory_order_acq_rel) + 1; }

    Handle begin(Tick safe, std::variant<Kernel, Copy> what);
    /// Compares it with all that may have run at the same time.
    void end(const Handle& operation, Report& report, const Allocations* allocations);
    /// It was aborted.
    void drop(const Handle& operation);
    /// Of the latest end; relaxed: nothing is read through it.
    Tick last_end() const { return last_end_.load(std::memory_order_relaxed); }

  private:
    std::vector<Handle> forget_old();

    std::atomic<Tick> tick_{0}, last_end_{0};
    std::mutex mutex_;
    std::map<const void*, Tick> waiting_;
    std::vector<Handle> running_, ended_;
};

}  // namespace kfdemu::check
