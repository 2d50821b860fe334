// One AQL kernel dispatch: checks the packet, hands out its work-groups to workers, and tracks their completion.
//
//     auto made = Dispatch::create(setup);                  // in a thread with a Hold of the address space
//     if (auto* no = std::get_if<LaunchRefused>(&made)) ...;  // nothing ran; NeedsScratch: request it, then retry
//     auto dispatch = std::get<std::shared_ptr<Dispatch>>(made);
//
// In the workers, each with its own WorkGroup and without a Hold:
//
//     switch (dispatch->start_group(group)) {               // Started: group.run(...) until Ended or Stopped
//         case Dispatch::Start::Later: ...                  // no scratch slot is free: run resident groups first
//         case Dispatch::Start::NoMore: ...                 // all groups were handed out
//     }
//     if (dispatch->state() != Dispatch::State::Running) ...   // all work-groups that were started have ended
//
// Groups are handed out in order, x first, unless an order is given. state() leaves Running permanently when no group
// is outstanding; claim_end() is true for exactly one thread. Lifetime: a worker keeps its shared_ptr while its
// WorkGroup is busy.
//
// Thread safety: every function, any thread. Memory ordering: a thread that sees state() != Running sees all writes of
// the groups, and fault().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/compute_units.hpp"
#include "tools/kfdemu/base/order.hpp"
#include "tools/kfdemu/check/flow/scene.hpp"
#include "tools/kfdemu/count/kernel_counts.hpp"
#include "tools/kfdemu/dispatch/code_cache.hpp"
#include "tools/kfdemu/dispatch/fault.hpp"
#include "tools/kfdemu/dispatch/garbage.hpp"
#include "tools/kfdemu/dispatch/initial_state.hpp"
#include "tools/kfdemu/dispatch/launch.hpp"
#include "tools/kfdemu/dispatch/scratch_slots.hpp"
#include "tools/kfdemu/dispatch/workgroup.hpp"

namespace kfdemu {

class Dispatch {
  public:
    struct Setup {
        KernelDispatchPacket packet;
        std::uint64_t packet_va = 0;  ///< address in the ring: kernels can read it
        QueueFacts queue;
        GpuFacts gpu;
        const AddressSpace* memory = nullptr;          ///< Borrows, until the Dispatch is destroyed
        CodeCache* code = nullptr;                     ///< Borrows, likewise
        std::shared_ptr<ScratchSlots> scratch_slots;   ///< of the queue; may be null if the kernel needs no scratch
        std::function<void(std::uint32_t)> interrupt;  ///< called for s_sendmsg MSG_INTERRUPT with M0, in any worker
        ComputeUnits compute_units;                    ///< that run the work-groups; null: the first
        isa::Gws* gws = nullptr;                       ///< of the queue. Borrows, likewise
        const Garbage* garbage = nullptr;              ///< for registers and LDS; null: zeros. Borrows, likewise
        Order order;                                   ///< of the work-groups and their waves
        check::Session session;                        ///< checks that its waves run under
        count::KernelCounts* counts = nullptr;         ///< that its waves add to; null: none. Borrows, likewise
    };
    enum class Start { Started, Later, NoMore };
    enum class State { Running, Finished, Failed, Aborted };

    /// Reads and checks the kernel descriptor and the packet. Requires a Hold in the calling thread.
    static std::variant<std::shared_ptr<Dispatch>, LaunchRefused> create(Setup setup);

    /// Work-groups that a worker has taken and not begun: they follow each other, as what they access often does, and
    /// workers need not agree about each. To be given back, for any worker, before this one leaves a group that has not
    /// ended, which may wait for one of them. Thread safety: one thread at a time.
    class Batch {
      public:
        /// Borrows: the dispatch.
        explicit Batch(Dispatch& dispatch) : dispatch_{dispatch} {}
        ~Batch() { give_back(); }
        Batch(const Batch&) = delete;
        Batch& operator=(const Batch&) = delete;
        void give_back();

      private:
        friend class Dispatch;
        Dispatch& dispatch_;
        std::uint64_t next_ = 0, end_ = 0;
        std::uint64_t size_ = 1;  // of the next; groups that do not end soon are taken one by one
    };
    Start start_group(WorkGroup& group, Batch& batch);
    /// Of a batch of one.
    Start start_group(WorkGroup& group);
    /// Whether batches gave groups back, which are the next to start. Later groups may have begun, and wait for them:
    /// no number of these may keep them from being started. A hint.
    bool has_returned() const { return returned_count_.load(std::memory_order_relaxed) != 0; }
    State state() const;
    /// True for exactly one caller, once state() is not Running.
    bool claim_end();
    /// Starts no further groups; running groups stop at the end of their slice, after some microseconds of execution.
    void abort();
    /// The first failure. Requires state() == Failed.
    const KernelFault& fault() const { return fault_; }

    const AddressSpace& memory() const { return *setup_.memory; }
    const KernelDescriptor& kernel() const { return kernel_; }
    const KernelDispatchPacket& packet() const { return setup_.packet; }
    isa::Target target() const { return setup_.gpu.target; }
    std::uint64_t queue_id() const { return setup_.queue.queue_id; }
    const std::shared_ptr<check::MemoryRaces>& memory_races() const { return memory_races_; }
    std::uint64_t group_count() const { return total_; }
    const Order& order() const { return setup_.order; }

  private:
    friend class WorkGroup;

    Dispatch(Setup&& setup, const KernelDescriptor& kernel);

    /// Whether its waves are watched, and then interpreted.
    bool watches() const { return setup_.session.any() || counted_ != nullptr; }
    bool stopping() const { return stop_.load(std::memory_order_relaxed); }  // a hint; outstanding_ gives the ordering
    bool has_more() const;
    bool fill(Batch& batch);
    bool take_group(std::uint64_t& index, Batch& batch);
    std::array<std::uint32_t, 3> group_id(std::uint64_t index) const;
    void groups_ended(std::uint64_t whole, bool last);
    void group_failed(KernelFault&& fault);

    const Setup setup_;
    const KernelDescriptor kernel_;
    const CodeCache::Use code_use_;
    std::array<std::uint32_t, kMostUserSgprs> preloaded_{};  // of its arguments
    const std::uint64_t serial_;
    const std::shared_ptr<check::MemoryRaces> memory_races_;  // null: not watched
    count::KernelCounts::Kernel* const counted_;              // null: not counted
    std::array<std::uint32_t, 3> counts_{};
    std::uint64_t total_ = 0;

    // What workers write is in cache lines of its own.
    alignas(64) std::atomic<std::uint64_t> next_{0};  // relaxed: only hands out numbers
    // WorkGroup objects with groups started and not reported; released by their reports, acquired by state()
    alignas(64) std::atomic<std::uint64_t> outstanding_{0};
    std::atomic<std::uint64_t> ended_{0};  // whole groups; ordered by outstanding_
    alignas(64) std::atomic<bool> stop_{false};
    std::atomic<std::size_t> returned_count_{0};  // of batches; relaxed: a hint, the mutex orders
    std::mutex returned_mutex_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> returned_;  // begin and end of what batches gave back
    std::atomic<bool> failed_{false};
    std::atomic<State> claimed_{State::Running};  // final state, once the end was claimed
    std::mutex fault_mutex_;
    KernelFault fault_;
};

}  // namespace kfdemu
