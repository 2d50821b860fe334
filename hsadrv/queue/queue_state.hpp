// Internal: the state of a Queue, shared by its public functions (queue.cpp) and its creation and destruction
// (queue_state.cpp).
//
// Thread safety: the ring as documented at AqlRing; failing from any thread; everything else by the queue's owner.
#pragma once

#include <hsa/hsa.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "hsadrv/aql_ring.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/memory/ring_registry.hpp"
#include "hsadrv/queue.hpp"
#include "hsadrv/queue/fault.hpp"
#include "hsadrv/signal.hpp"

namespace hsadrv::detail {

struct QueueState {
    struct Traits {
        using Native = hsa_queue_t*;
        static Native null() noexcept { return nullptr; }
        static bool is_null(Native queue) noexcept { return queue == nullptr; }
        // Waits for a running error callback, so none uses a destroyed state.
        static void destroy(Native queue) noexcept;
    };

    AgentRef agent;
    QueueOptions options;
    bool foreign = false;  // created elsewhere
    AqlRing ring;
    Signal failure;  // non-zero: failed

    // The first error. Written under the mutex before `failed`, whose release publishes it.
    mutable std::mutex failure_mutex;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    std::uint64_t failed_at = 0;  // read index at that time: the packet at fault is there or just before
    std::optional<Fault> fault;
    std::exception_ptr callback_threw;
    std::vector<std::uint32_t> units;  // the mask of compute units in force, once one was set; under the mutex
    std::atomic<bool> failed{false};
    std::atomic<std::thread::id> callback_thread{};  // the thread that is running on_error

    // The owned or viewed queue. Atomic: the runtime's thread compares it with the queue that it reports. Set under the
    // failure mutex after the ring is attached.
    std::atomic<hsa_queue_t*> current{nullptr};
    // The first error of a queue that is not the current one: it is being created.
    hsa_queue_t* early_queue = nullptr;
    hsa_status_t early_status = HSA_STATUS_SUCCESS;
    UniqueHandle<Traits> handle;  // destroyed before what its error callback uses
    RingRegistry ring_memory;     // last: reads the queue

    hsa_queue_t* native() const noexcept { return current.load(std::memory_order_acquire); }
    /// Creates a queue with the options; does not change the state.
    UniqueHandle<Traits> make_native();
    /// Makes it the current queue, whose errors fail the state, including one reported before.
    void attach(hsa_queue_t* fresh);
    /// On the runtime's thread.
    void report(hsa_queue_t* queue, hsa_status_t why) noexcept;
    void set_priority(QueuePriority priority);
    /// "queue 3 of gpu0 gfx90a"
    std::string label() const;
    /// "kernel scale_add" or "a barrier", if the slot still holds the packet.
    std::string packet_label(std::uint64_t index) const;
    /// `stream`: the label of the stream that fails with the queue, if one is the caller.
    [[noreturn]] void throw_error(const std::string& stream = {}) const;

    /// Records the first error, wakes waiters, calls the error callback. Any thread.
    void fail(hsa_status_t why, const std::optional<Fault>& with = {}) noexcept;
};

}  // namespace hsadrv::detail
