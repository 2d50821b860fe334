// The device's engines: worker threads that watch the doorbells, process packets and execute waves.
//
// Every worker does everything: it takes part in kernels that are in flight, and between two parts it looks
// at the queues. While there is nothing to do, one of them keeps looking, less and less often, and the others sleep.
//
// Thread safety: every function, any thread. Threads start with the first queue. They are detached and their
// state is never destroyed, so that a process may exit at any moment with work in flight.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/abi.hpp"
#include "base/address_space.hpp"
#include "base/order.hpp"
#include "base/topology.hpp"
#include "base/work.hpp"
#include "dispatch/code_cache.hpp"
#include "queues/eviction.hpp"
#include "queues/kernel.hpp"
#include "queues/queue.hpp"
#include "resources/events.hpp"
#include "resources/memory.hpp"

namespace kfdemu {

class Scheduler {
  public:
    Scheduler(const Topology& topology, Memory& memory, Events& events, std::vector<AddressSpace*> spaces,
              unsigned workers, std::uint64_t seed);

    /// CREATE_QUEUE: fills in args.queue_id and args.doorbell_offset; 0 or an errno value.
    int create_queue(const Gpu& gpu, abi::CreateQueue& args);
    /// Stops the queue, its kernels included, and returns when nothing of it runs; false if there is no such queue.
    bool destroy_queue(std::uint32_t id);
    int update_queue(const abi::UpdateQueue& args);
    bool has_queue(std::uint32_t id) const;
    int set_cu_mask(std::uint32_t id, std::span<const std::uint32_t> words);
    /// Stops every queue of a GPU for good and raises a hardware exception, as the driver does after a hang.
    void reset(const Gpu& gpu, bool memory_lost);

    /// Lets the workers take part in `work`, which has so many parts, until it says done. Work of higher
    /// priority (0 to 15) comes first, but for a turn now and then. The caller is a worker, so a work of one
    /// part wakes nobody.
    void add(std::shared_ptr<Work> work, std::uint64_t parts, std::uint32_t priority);
    /// A hint that a doorbell was probably just rung.
    void nudge();

    static constexpr unsigned kMaxQueues = 1024;  ///< of a process on one GPU: doorbells in its page

  private:
    struct Entry {
        std::shared_ptr<Queue> queue;
        unsigned gpu, doorbell;
    };

    struct Job {
        std::shared_ptr<Work> work;
        std::uint32_t priority;
        unsigned passed_over;  ///< turns that it loses first
    };

    std::shared_ptr<Queue> find_queue(std::uint32_t id) const;
    std::shared_ptr<Work> next_work(bool any);
    std::shared_ptr<Work> drawn_work(std::uint32_t lowest_priority);
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
    std::vector<Job> works_;
    std::size_t next_work_ = 0;
    unsigned turn_ = 0;
    const bool seeded_;  // whose turn it is, random_ says
    Random random_;
    bool started_ = false;
    bool watched_ = false;  // a worker is looking at the queues while the rest sleep
    std::uint64_t nudges_ = 0;
    std::atomic<std::uint64_t> work_count_{0};  // relaxed hint: is there work at all?
};

}  // namespace kfdemu
