// Internal: what a Queue is made of. Shared by its public verbs (queue.cpp) and its making and ending
// (queue_state.cpp).
//
// Thread safety: the ring as AqlRing has it; failing from any thread; everything else by the queue's owner.
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
        // Waits for an error callback that is running, so nobody calls with a state that is gone.
        static void destroy(Native queue) noexcept { hsa_queue_destroy(queue); }
    };

    AgentRef agent;
    QueueOptions options;
    bool foreign = false;  // made elsewhere
    AqlRing ring;
    Signal failure;  // not zero: failed

    // The first error. Written under the mutex before `failed`, whose release publishes it.
    mutable std::mutex failure_mutex;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    std::uint64_t failed_at = 0;  // read index then: the packet at fault is there or just before
    std::optional<Fault> fault;
    std::exception_ptr callback_threw;
    std::atomic<bool> failed{false};
    std::atomic<std::thread::id> callback_thread{};  // that runs on_error just now

    // What handle owns, or what is only viewed. Atomic: the runtime's thread compares it with the queue that
    // it reports. Set after the ring is attached, under the failure mutex.
    std::atomic<hsa_queue_t*> current{nullptr};
    // The first error of a queue that is not the current one: it is being made.
    hsa_queue_t* early_queue = nullptr;
    hsa_status_t early_status = HSA_STATUS_SUCCESS;
    UniqueHandle<Traits> handle;  // destroyed before what its error callback uses
    RingRegistry ring_memory;     // last: reads the queue

    hsa_queue_t* native() const noexcept { return current.load(std::memory_order_acquire); }
    /// A queue of the runtime's with the options; nothing of the state has changed.
    UniqueHandle<Traits> make_native();
    /// Makes it the current one, whose error fails the state, also one that came before.
    void attach(hsa_queue_t* fresh);
    /// On the runtime's thread.
    void report(hsa_queue_t* queue, hsa_status_t why) noexcept;
    void set_priority(QueuePriority priority);
    /// "queue 3 of gpu0 gfx90a"
    std::string label() const;
    /// "kernel scale_add" or "a barrier", as far as the slot still tells.
    std::string packet_label(std::uint64_t index) const;
    /// `stream`: the one that fails with it, if that is who asks.
    [[noreturn]] void throw_error(const std::string& stream = {}) const;

    /// Records the first error, wakes who waits, calls back. From any thread.
    void fail(hsa_status_t why, const std::optional<Fault>& with = {}) noexcept;
};

}  // namespace hsadrv::detail
