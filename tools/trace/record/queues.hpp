// Queues: which kernels the program enqueues, read from its rings when it rings their doorbells.
//
//     queues.rings(doorbell, value, enqueued);          // before the doorbell is forwarded
//
// A packet that the doorbell has not yet passed to the GPU is the program's: one without a completion signal gets one
// of ours, for its times. Packets that the doorbell passes on, and that another producer has not yet
// published, are read when the next doorbell rings, and left as they are. Queues are not proxied. Thread safety: any
// thread.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/trace/record/agents.hpp"
#include "tools/trace/record/pending_work.hpp"

namespace trace {

/// What one doorbell passed to the GPU.
struct Enqueued {
    std::vector<std::uint64_t> ids;
    std::shared_ptr<const std::string> first;  ///< kernel's name
};

class Queues {
  public:
    Queues(const Runtime& runtime, const Agents& agents, const Kernels& kernels, PendingWork& pending)
        : runtime_{runtime}, agents_{agents}, kernels_{kernels}, pending_{pending} {}

    void add(hsa_queue_t* queue, hsa_agent_t agent);
    void remove(hsa_queue_t* queue);
    /// False: it is no doorbell of a queue.
    bool rings(hsa_signal_t doorbell, hsa_signal_value_t value, Enqueued& enqueued);

  private:
    struct Seen {
        hsa_queue_t* queue;
        hsa_agent_t agent;
        unsigned gpu;
        std::shared_ptr<const std::string> name;
        std::mutex mutex;
        std::uint64_t next = 0;           ///< the first packet that no doorbell has passed on
        std::vector<std::uint64_t> late;  ///< packets before it that were not published then
    };

    void look(Seen& seen, std::uint64_t index, bool may_change, Enqueued& enqueued);
    PendingItem item_of(const Seen& seen, const hsa_kernel_dispatch_packet_t& packet) const;

    const Runtime& runtime_;
    const Agents& agents_;
    const Kernels& kernels_;
    PendingWork& pending_;
    std::shared_mutex mutex_;
    std::unordered_map<std::uint64_t, std::shared_ptr<Seen>> by_doorbell_;
};

}  // namespace trace
