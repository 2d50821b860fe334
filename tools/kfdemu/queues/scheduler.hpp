// The device's worker threads: they poll doorbells, process packets and execute waves.
//
// All workers are equal: each runs parts of kernels in flight and serves the queues between two parts. When idle, one
// worker polls with increasing pauses and the others sleep.
//
// Thread safety: every function, any thread. Lifetime: threads start with the first queue. They are detached and their
// state is never destroyed, so a process may exit at any time with work in flight.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tools/kfdemu/base/abi.hpp"
#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/order.hpp"
#include "tools/kfdemu/base/topology.hpp"
#include "tools/kfdemu/base/work.hpp"
#include "tools/kfdemu/dispatch/code_cache.hpp"
#include "tools/kfdemu/queues/advertised_slots.hpp"
#include "tools/kfdemu/queues/dispatch_work.hpp"
#include "tools/kfdemu/queues/eviction.hpp"
#include "tools/kfdemu/queues/queue.hpp"
#include "tools/kfdemu/queues/work_list.hpp"
#include "tools/kfdemu/resources/events.hpp"
#include "tools/kfdemu/resources/memory.hpp"

namespace kfdemu {

class Scheduler {
  public:
    Scheduler(const Topology& topology, Memory& memory, Events& events, std::vector<AddressSpace*> spaces,
              unsigned workers, std::uint64_t seed, jit::When translated);

    /// CREATE_QUEUE: fills in args.queue_id and args.doorbell_offset; 0 or an errno value.
    int create_queue(const Gpu& gpu, abi::CreateQueue& args);
    /// Stops the queue and its kernels, and returns when they have ended. False: no such queue.
    bool destroy_queue(std::uint32_t id);
    int update_queue(const abi::UpdateQueue& args);
    /// The sum over the compute queues of that ring, or of QueueKind::compute.
    std::uint64_t count_slots(std::uint64_t ring, std::uint64_t (AdvertisedSlots::*number)() const) const;
    bool has_queue(std::uint32_t id) const;
    /// Whether a queue of the GPU has a packet in progress.
    bool busy(unsigned gpu) const;
    int set_cu_mask(std::uint32_t id, std::span<const std::uint32_t> words);
    /// Permanently stops every queue of a GPU and raises a hardware exception, as the driver does after a hang.
    void reset(const Gpu& gpu, bool memory_lost);

    /// Adds `work` of `parts` parts, which the workers run until it returns done. Work of higher priority (0 to 15)
    /// runs first, except for occasional turns that prevent starvation. The caller is a worker, so work of one part
    /// wakes no other worker.
    void add(std::shared_ptr<Work> work, std::uint64_t parts, std::uint32_t priority);
    /// Wakes workers: a doorbell was probably just rung.
    void nudge();

    static constexpr unsigned kMaxQueues = 1024;  ///< per process and GPU: doorbells in a page

  private:
    struct Entry {
        std::shared_ptr<Queue> queue;
        unsigned gpu, doorbell;
    };

    std::vector<std::shared_ptr<Queue>> queues_of(unsigned gpu) const;
    std::shared_ptr<Queue> find_queue(std::uint32_t id) const;
    std::shared_ptr<Work> next_work(bool any);
    void start_workers();
    void run(unsigned worker);
    bool run_work();
    bool serve_queues();
    void idle(unsigned rounds);

    Memory& memory_;
    Events& events_;
    std::vector<AddressSpace*> spaces_;
    const unsigned workers_;
    std::vector<std::unique_ptr<CodeCache>> code_;      // of each GPU
    std::vector<std::unique_ptr<Eviction>> evictions_;  // likewise
    GroupPool groups_;

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::map<std::uint32_t, Entry> queues_;
    std::uint32_t next_queue_id_ = 0;
    std::shared_ptr<const std::vector<std::shared_ptr<Queue>>>
        queue_list_;  // what workers walk; replaced, never edited
    WorkList works_;
    unsigned turn_ = 0;
    const bool seeded_;  // random_ selects the next work
    Random random_;
    bool started_ = false;
    bool watched_ = false;  // a worker polls the queues while the others sleep
    std::uint64_t nudges_ = 0;
    std::atomic<std::uint64_t> work_count_{0};  // relaxed hint: is there work at all?
};

}  // namespace kfdemu
