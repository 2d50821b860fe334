#include "hsadrv/queue/queue_state.hpp"

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>

#include "hsadrv/base/traced.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/queue/known_kernels.hpp"
#include "hsadrv/queue/queue_ends.hpp"
#include "hsadrv/signal_callbacks.hpp"

namespace hsadrv::detail {

namespace {

AqlRingMemory memory_of(hsa_queue_t* native, AgentRef agent) {
    auto* queue = reinterpret_cast<amd_queue_t*>(native);  // hsa_queue is its first member
    auto* doorbell = reinterpret_cast<amd_signal_t*>(native->doorbell_signal.handle);
    AqlRingMemory memory;
    memory.slots = static_cast<Packet*>(native->base_address);
    memory.size = native->size;
    memory.read_index = &queue->read_dispatch_id;
    memory.write_index = &queue->write_dispatch_id;
    // Elsewhere a tool intercepts the queue: it takes packets from a ring of its own, to which others may add.
    memory.shared = doorbell->kind != AMD_SIGNAL_KIND_DOORBELL;
    memory.write_combined = pointer_info(native->base_address).device_memory();
    // The runtime wakes its translating thread as it stores the doorbell's signal.
    const bool emulated = agent && agent.emulates_queues().value_or(false);
    if (!memory.shared && !emulated && !traced()) memory.doorbell = doorbell->hardware_doorbell_ptr;
    memory.doorbell_signal = native->doorbell_signal;
    return memory;
}

// On the runtime's thread.
void on_queue_error(hsa_status_t status, hsa_queue_t* queue, void* data) noexcept {
    static_cast<QueueState*>(data)->report(queue, status);
}

hsa_amd_queue_priority_t native_priority(QueuePriority priority) noexcept {
    switch (priority) {
        case QueuePriority::low:
            return HSA_AMD_QUEUE_PRIORITY_LOW;
        case QueuePriority::normal:
            return HSA_AMD_QUEUE_PRIORITY_NORMAL;
        case QueuePriority::high:
            return HSA_AMD_QUEUE_PRIORITY_HIGH;
    }
    return HSA_AMD_QUEUE_PRIORITY_NORMAL;
}

std::string text_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
        return thrown.what();
    } catch (...) {
        return "an object that is not a std::exception";
    }
}

}  // namespace

void QueueState::Traits::destroy(Native queue) noexcept {
    const auto ring = reinterpret_cast<std::uint64_t>(queue->base_address);
    const RingRange range{ring, ring + std::uint64_t{queue->size} * sizeof(Packet)};
    QueueEnds::tell(range, false);
    hsa_queue_destroy(queue);
    QueueEnds::tell(range, true);
}

UniqueHandle<QueueState::Traits> QueueState::make_native() {
    const Driver driver = Driver::current();
    // UINT32_MAX: no static private or group segment; scratch grows when a packet needs it.
    hsa_queue_t* native = nullptr;
    check(hsa_queue_create(agent.native(), options.packets, HSA_QUEUE_TYPE_MULTI, on_queue_error, this, UINT32_MAX,
                           UINT32_MAX, &native),
          [&] {
              return "hsa_queue_create(" + agent.label() + ", " + std::to_string(options.packets) +
                     " packets; at most " + std::to_string(agent.queues_max()) + " queues)";
          });
    UniqueHandle<Traits> fresh(native, driver);
    if (options.priority != QueuePriority::normal)
        check(hsa_amd_queue_set_priority(native, native_priority(options.priority)),
              [&] { return "hsa_amd_queue_set_priority(a new queue of " + agent.label() + ")"; });
    return fresh;
}

void QueueState::set_priority(QueuePriority priority) {
    check(hsa_amd_queue_set_priority(native(), native_priority(priority)),
          [&] { return "hsa_amd_queue_set_priority(" + label() + ")"; });
    options.priority = priority;
}

void QueueState::attach(hsa_queue_t* fresh) {
    AqlRingMemory memory = memory_of(fresh, agent);
    memory.shared |= foreign;
    ring.attach(memory);
    ring_memory.is(fresh, agent);
    bool failed_early = false;
    {
        const std::lock_guard lock(failure_mutex);
        current.store(fresh, std::memory_order_release);
        failed_early = std::exchange(early_queue, nullptr) == fresh;
    }
    if (failed_early) fail(early_status);
}

void QueueState::report(hsa_queue_t* queue, hsa_status_t why) noexcept {
    {
        const std::lock_guard lock(failure_mutex);
        if (native() != queue) {
            early_queue = queue;
            early_status = why;
            return;
        }
    }
    fail(why);
}

std::string QueueState::label() const {
    if (in_forked_child()) return "a queue of the parent process";
    return "queue " + std::to_string(native()->id) + (agent ? " of " + agent.label() : " of an unknown agent");
}

std::string QueueState::packet_label(std::uint64_t index) const {
    const auto dispatch = ring.peek(index).as<hsa_kernel_dispatch_packet_t>();
    // The packet processor invalidates the header, so the setup word identifies a dispatch.
    return dispatch.setup != 0 && dispatch.kernel_object != 0 ? kernel_label(dispatch.kernel_object) : std::string();
}

void QueueState::throw_error(const std::string& stream) const {
    const std::lock_guard lock(failure_mutex);
    std::string message = stream.empty() ? label() : stream + " has failed: its " + label();
    if (fault) {
        message +=
            " has failed: " + fault->text(agent.label()) + ", caused by a kernel of this queue or of another one";
    } else {
        message += " was stopped by its packet processor: " + status_name(status) + " at packet " +
                   std::to_string(failed_at) + " of " + std::to_string(ring.write_index());
        if (const std::string packet = packet_label(failed_at); !packet.empty()) message += " (" + packet + ")";
        message +=
            stream.empty() ? "; Queue::rebuild() makes it usable again" : "; other streams continue: make a new one";
    }
    if (callback_threw) message += "; its error callback threw: " + text_of(callback_threw);
    if (fault) throw MemoryFault(message, fault->address, fault->nearest);
    throw QueueError(message, status);
}

void QueueState::fail(hsa_status_t why, const std::optional<Fault>& with) noexcept {
    {
        const std::lock_guard lock(failure_mutex);
        if (failed.load(std::memory_order_relaxed)) return;
        status = why;
        fault = with;
        failed_at = ring.read_index();
        failed.store(true, std::memory_order_release);
    }
    if (failure) failure.store(1);  // of a queue that another part of the program made, none
    if (!options.on_error) return;
    callback_thread.store(std::this_thread::get_id());
    std::exception_ptr thrown;
    try {
        options.on_error();
    } catch (...) {
        thrown = std::current_exception();
    }
    {
        const std::lock_guard lock(failure_mutex);
        callback_threw = thrown;
    }
    callback_thread.store({});
}

void QueueStateDeleter::operator()(QueueState* state) const noexcept {
    if (state->callback_thread.load() != std::this_thread::get_id()) return delete state;
    // In its own error callback hsa_queue_destroy would wait for this very callback to return, so another thread
    // destroys the queue.
    try {
        const Driver driver = Driver::current();
        const auto end = [driver, state] {
            while (state->callback_thread.load() != std::thread::id()) std::this_thread::yield();
            delete state;
        };
        // Called at once, because the queue has failed.
        driver.callbacks().on_signal(state->failure, Condition::not_equal, 0, end);
    } catch (...) {
        // Out of memory: the queue is leaked, stopped.
    }
}

}  // namespace hsadrv::detail
