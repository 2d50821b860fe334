// An AQL queue: takes packets from the ring in order, launches kernels, waits at barriers, completes signals,
// and stops with an error code when a packet or a wave is wrong.
//
// HSA Platform System Architecture Specification 1.2, "Packet processing" and "Barrier bit": packets are
// launched in order and may finish in any; with the barrier bit, or a barrier packet, everything before has
// finished first. A packet's slot is given back (header INVALID, read index past it) when the packet and all
// before it have finished, because a kernel may read its own packet through the dispatch pointer.
//
// Thread safety: as Queue; kernels report their end from any worker.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "base/address_space.hpp"
#include "base/compute_units.hpp"
#include "base/topology.hpp"
#include "gfx9/gws.hpp"
#include "queues/eviction.hpp"
#include "queues/kernel.hpp"
#include "queues/packet.hpp"
#include "queues/queue.hpp"
#include "resources/events.hpp"

namespace kfdemu {

class Scheduler;

class AqlQueue final : public Queue, public std::enable_shared_from_this<AqlQueue> {
  public:
    AqlQueue(const Gpu& gpu, const AddressSpace& space, Events& events, Eviction& eviction, Scheduler& scheduler,
             CodeCache& code, GroupPool& groups, const abi::CreateQueue& args, volatile std::uint64_t* doorbell);

    bool service() override;
    void stop() override;
    int update(const abi::UpdateQueue& args) override;
    int set_cu_mask(std::span<const std::uint32_t> words) override;

    Eviction& eviction() { return eviction_; }

    /// From the worker that ran a kernel's last part; the worker has no Hold.
    void finished(const Kernel& kernel);

  private:
    enum class Step {
        launched,  ///< the packet is under way or done: go on with the next
        waiting,   ///< not yet: the same packet again
        stopped,   ///< the queue is in error
    };
    struct Slot {
        bool done = false;
    };

    bool find_queue();
    bool next_is_ready();
    bool was_overlooked();
    void read_packet();
    void take_header();
    Step launch(const aql::Packet& packet);
    Step launch(const KernelDispatchPacket& packet);
    Step ask_for_scratch(std::uint32_t lane_bytes);
    QueueFacts facts();
    void report(const Dispatch& dispatch);
    Step wait_for(const aql::Barrier& packet, bool all);
    Step wait_for(const aql::BarrierValue& packet);
    Step run(const aql::Pm4Ib& packet);
    Step complete_now(std::uint64_t completion_signal);
    Step fail(std::uint64_t code, std::string_view why);
    Step memory_fault(std::uint64_t va, std::uint32_t access, std::string_view what);
    std::optional<std::int64_t> value_of(std::uint64_t signal);
    void finish_slot(std::uint64_t index);
    bool resume_after_scratch();
    aql::Packet* slot(std::uint64_t index);

    const Gpu gpu_;
    const AddressSpace& space_;
    Events& events_;
    Eviction& eviction_;
    Scheduler& scheduler_;
    CodeCache& code_;
    GroupPool& groups_;
    const std::uint64_t queue_va_;    // the runtime's structure
    aql::AmdQueue* queue_ = nullptr;  // the same, as long as the thread that looked it up has its Hold
    std::uint64_t ring_, size_packets_;
    const std::uint64_t save_area_;  // of waves; here for its header, which names the runtime's event for errors
    volatile std::uint64_t* doorbell_;

    std::mutex mutex_;
    bool stopped_ = false, suspended_ = false, failed_ = false;
    bool hung_ = false;  // a kernel that never ends was asked for
    bool waits_for_scratch_ = false;
    std::uint64_t last_doorbell_ = ~std::uint64_t{0};
    std::int64_t highest_doorbell_ = -1;
    std::uint64_t unrung_since_ns_ = 0;  // a published packet beyond the doorbell is at next_; 0: none
    bool awake_ = false;
    std::uint64_t next_ = 0;              // packet to look at
    std::optional<aql::Packet> current_;  // its content, once it was ready
    std::uint64_t read_ = 0;              // first packet whose slot is still taken
    std::deque<Slot> taken_;              // [read_, next_)
    unsigned running_ = 0;                // packets launched and not done
    std::uint32_t dependencies_met_ = 0;  // of the barrier packet at next_
    std::vector<std::shared_ptr<Kernel>> kernels_;
    gfx9::Gws gws_;  // every queue has its own; a driver would give it to those that ask (ALLOC_QUEUE_GWS)
    std::shared_ptr<ScratchSlots> scratch_slots_;
    std::uint64_t scratch_base_ = 0;  // what scratch_slots_ are places of
    std::uint32_t tmpring_size_ = 0;
    std::uint32_t priority_;      // 0 to 15, higher first
    ComputeUnits compute_units_;  // on which its kernels may run
};

}  // namespace kfdemu
