// An AQL queue's packet processor: takes packets from the ring in order, launches kernels, waits at barriers, completes
// signals, and stops with an error code on an invalid packet or a wave's exception.
//
// HSA Platform System Architecture Specification 1.2, "Packet processing" and "Barrier bit": packets launch in order
// and complete in any order. A packet with the barrier bit launches after all previous packets have completed. A
// packet's slot is released (header INVALID, read index advanced) when it and all packets before it have completed,
// because a kernel may read its own packet through the dispatch pointer.
//
// Thread safety: as Queue; finished() from any worker.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/compute_units.hpp"
#include "tools/kfdemu/base/topology.hpp"
#include "tools/kfdemu/isa/memory/gws.hpp"
#include "tools/kfdemu/queues/advertised_slots.hpp"
#include "tools/kfdemu/queues/checked_packets.hpp"
#include "tools/kfdemu/queues/dispatch_work.hpp"
#include "tools/kfdemu/queues/eviction.hpp"
#include "tools/kfdemu/queues/packet.hpp"
#include "tools/kfdemu/queues/queue.hpp"
#include "tools/kfdemu/resources/events.hpp"

namespace kfdemu {

class Scheduler;

class AqlQueue final : public Queue, public std::enable_shared_from_this<AqlQueue> {
  public:
    AqlQueue(const Gpu& gpu, const AddressSpace& space, Events& events, Eviction& eviction, Scheduler& scheduler,
             CodeCache& code, GroupPool& groups, const abi::CreateQueue& args, volatile std::uint64_t* doorbell);

    bool service() override;
    void stop() override;
    bool busy() override;
    int update(const abi::UpdateQueue& args) override;
    int set_cu_mask(std::span<const std::uint32_t> words) override;

    Eviction& eviction() { return eviction_; }
    std::uint64_t ring() const { return ring_; }
    const AdvertisedSlots& advertised() const { return advertised_; }

    /// Called by the worker that ran a kernel's last part. The worker must not have a Hold.
    void finished(const DispatchWork& kernel);

  private:
    enum class Step {
        launched,  ///< the packet is in progress or complete: continue with the next
        waiting,   ///< try the same packet again later
        stopped,   ///< the queue is in error
    };
    struct Slot {
        bool done = false;
        std::shared_ptr<DispatchWork> kernel{};  // that runs; null: none, or it has ended
    };

    bool next_is_ready();
    bool was_overlooked();
    bool read_packet();
    void take_header();
    Step launch(const aql::Packet& packet);
    Step launch(const KernelDispatchPacket& packet);
    Step ask_for_scratch(const LaunchRefused& refused);
    GpuFacts gpu_facts() const;
    std::optional<QueueFacts> facts();
    void report(const Dispatch& dispatch);
    Step wait_for(const aql::Barrier& packet, bool all);
    Step wait_for(const aql::BarrierValue& packet);
    Step run(const aql::Pm4Ib& packet);
    Step complete_now(std::uint16_t header, std::uint64_t completion_signal);
    void complete_signal(std::uint64_t signal, std::uint64_t start_ticks, std::uint64_t end_ticks);
    Step fail(std::uint64_t code, std::string_view why);
    Step memory_fault(std::uint64_t va, std::uint32_t access, std::string_view what);
    std::optional<std::int64_t> value_of(std::uint64_t signal);
    bool finish_slot(std::uint64_t index);
    bool resume_after_scratch();
    std::uint64_t slot_va(std::uint64_t index) const { return ring_ + index % size_packets_ * sizeof(aql::Packet); }
    template <class Body>
    bool in_slot(std::uint64_t index, Body&& body);
    template <class Body>
    bool in_queue(Body&& body);
    bool tell_runtime(std::uint64_t code);

    const Gpu gpu_;
    const AddressSpace& space_;
    Events& events_;
    Eviction& eviction_;
    Scheduler& scheduler_;
    CodeCache& code_;
    GroupPool& groups_;
    const std::uint64_t queue_va_;  // address of the runtime's amd_queue_t
    std::uint64_t ring_, size_packets_;
    const std::uint64_t save_area_;  // context save area; its header names the runtime's error event
    volatile std::uint64_t* doorbell_;

    std::mutex mutex_;
    bool stopped_ = false, suspended_ = false, failed_ = false;
    bool faulted_ = false;  // has raised a memory fault
    bool hung_ = false;     // a kernel that never ends was injected
    bool waits_for_scratch_ = false;
    std::uint64_t last_doorbell_ = ~std::uint64_t{0};
    std::int64_t highest_doorbell_ = -1;
    std::uint64_t unrung_since_ns_ = 0;  // a published packet beyond the doorbell is at next_; 0: none
    bool awake_ = false;
    std::uint64_t next_ = 0;              // next packet to process
    std::optional<aql::Packet> current_;  // its content, once read
    std::uint64_t read_ = 0;              // first packet whose slot is not released
    std::deque<Slot> taken_;              // [read_, next_)
    unsigned running_ = 0;                // packets launched and not complete
    std::uint32_t dependencies_met_ = 0;  // of the barrier packet at next_
    unsigned kernels_ = 0;                // kernels in taken_
    isa::Gws gws_;                        // one per queue; KFD assigns it on request (ALLOC_QUEUE_GWS)
    std::shared_ptr<ScratchSlots> scratch_slots_;
    std::uint64_t scratch_base_ = 0;  // scratch memory that scratch_slots_ divides
    std::uint32_t tmpring_size_ = 0;
    std::uint32_t priority_;      // 0 to 15, higher first
    ComputeUnits compute_units_;  // that its kernels may use
    CheckedPackets checked_;
    AdvertisedSlots advertised_;
};

}  // namespace kfdemu
