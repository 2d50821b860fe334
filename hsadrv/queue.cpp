#include "hsadrv/queue.hpp"

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

#include "hsadrv/error.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/known_kernels.hpp"
#include "hsadrv/runtime.hpp"

namespace hsadrv {

namespace detail {

struct QueueState {
    struct Traits {
        using Native = hsa_queue_t*;
        static Native null() noexcept { return nullptr; }
        static bool is_null(Native queue) noexcept { return queue == nullptr; }
        // Waits for an error callback that is running, so nobody calls with a state that is gone.
        static void destroy(Native queue) noexcept { hsa_queue_destroy(queue); }
    };

    AgentRef agent;
    AqlRing ring;
    std::function<void()> on_error;

    // The first error. Written by the runtime's thread before `failed`, whose release publishes it.
    hsa_status_t status = HSA_STATUS_SUCCESS;
    std::uint64_t failed_at = 0;  // read index then: the packet at fault is there or just before
    std::atomic<bool> failed{false};

    UniqueHandle<Traits> handle;  // last: destroyed first

    hsa_queue_t* native() const noexcept { return handle.get(); }
    void attach(hsa_queue_t* created, const Driver& driver);
    [[noreturn]] void throw_error() const;
};

namespace {
AqlRingMemory memory_of(hsa_queue_t* native) {
    auto* queue = reinterpret_cast<amd_queue_t*>(native);  // hsa_queue is its first member
    auto* doorbell = reinterpret_cast<amd_signal_t*>(native->doorbell_signal.handle);
    AqlRingMemory memory;
    memory.slots = static_cast<Packet*>(native->base_address);
    memory.size = native->size;
    memory.read_index = &queue->read_dispatch_id;
    memory.write_index = &queue->write_dispatch_id;
    if (doorbell->kind == AMD_SIGNAL_KIND_DOORBELL) memory.doorbell = doorbell->hardware_doorbell_ptr;
    memory.doorbell_signal = native->doorbell_signal;
    return memory;
}
}  // namespace

void QueueState::attach(hsa_queue_t* created, const Driver& driver) {
    ring.attach(memory_of(created));
    handle = UniqueHandle<Traits>(created, driver);
}

void QueueState::throw_error() const {
    const Packet packet = ring.peek(failed_at);
    std::string message = "queue " + std::to_string(native()->id) + " of " + agent.label() +
                          " was stopped by its packet processor: " + status_name(status) + " at packet " +
                          std::to_string(failed_at) + " of " + std::to_string(ring.write_index());
    const auto dispatch = packet.as<hsa_kernel_dispatch_packet_t>();
    // The processor invalidates the header, so the setup word tells a dispatch from the rest.
    if (dispatch.setup != 0 && dispatch.kernel_object != 0)
        message += " (" + kernel_label(dispatch.kernel_object) + ")";
    throw QueueError(message, status);
}

}  // namespace detail

namespace {

/// Spins, then yields, then sleeps: for conditions that no signal announces.
class Backoff {
  public:
    void pause() noexcept {
        ++round_;
        if (round_ < 64) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        } else if (round_ < 128) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(round_ < 1024 ? 20 : 500));
        }
    }

  private:
    unsigned round_ = 0;
};

// On the runtime's thread.
void on_queue_error(hsa_status_t status, hsa_queue_t*, void* data) noexcept {
    auto& state = *static_cast<detail::QueueState*>(data);
    if (state.failed.load(std::memory_order_relaxed)) return;
    state.status = status;
    state.failed_at = state.native() == nullptr ? 0 : state.ring.read_index();
    state.failed.store(true, std::memory_order_release);
    if (state.on_error) state.on_error();
}

void require_size(AgentRef gpu, std::uint32_t packets) {
    const std::uint32_t least = gpu.queue_min_packets(), most = gpu.queue_max_packets();
    if (std::has_single_bit(packets) && packets >= least && packets <= most) return;
    throw InvalidArgument("hsa_queue_create(" + gpu.label() + ", " + std::to_string(packets) +
                              " packets): the size must be a power of two from " + std::to_string(least) +
                              " to " + std::to_string(most),
                          HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

}  // namespace

hsa_queue_t* QueueRef::native() const noexcept { return state_->native(); }
AgentRef QueueRef::agent() const noexcept { return state_->agent; }
std::uint32_t QueueRef::size() const noexcept { return state_->ring.size(); }
std::uint64_t QueueRef::read_index() const noexcept { return state_->ring.read_index(); }
std::uint64_t QueueRef::write_index() const noexcept { return state_->ring.write_index(); }
Packet QueueRef::peek(std::uint64_t index) const noexcept { return state_->ring.peek(index); }

bool QueueRef::failed() const noexcept { return state_->failed.load(std::memory_order_acquire); }
void QueueRef::throw_if_failed() const {
    if (failed()) [[unlikely]]
        state_->throw_error();
}

std::optional<std::uint64_t> QueueRef::try_reserve(std::uint32_t count) const {
    throw_if_failed();
    if (count == 0 || count > size())
        throw InvalidArgument("QueueRef::reserve(" + std::to_string(count) +
                              " packets): the ring holds 1 to " + std::to_string(size()));
    return state_->ring.try_reserve(count);
}

std::uint64_t QueueRef::reserve(std::uint32_t count, Deadline deadline) const {
    for (Backoff backoff;; backoff.pause()) {
        if (const auto first = try_reserve(count)) return *first;
        if (deadline.passed())
            throw Timeout("QueueRef::reserve(" + std::to_string(count) + " packets, " + deadline.text() +
                          "): queue " + std::to_string(native()->id) + " of " + agent().label() +
                          " is full: read index " + std::to_string(read_index()) + ", write index " +
                          std::to_string(write_index()) + ", " + std::to_string(size()) + " slots");
    }
}

void QueueRef::write(std::uint64_t index, const Packet& packet) const noexcept {
    state_->ring.write(index, packet);
}
void QueueRef::publish(std::uint64_t first, std::uint32_t count) const noexcept {
    state_->ring.publish(first, count);
}

std::uint64_t QueueRef::submit(const Packet& packet, Deadline deadline) const {
    const std::uint64_t index = reserve(1, deadline);
    write(index, packet);
    publish(index, 1);
    return index;
}

std::uint64_t QueueRef::submit(std::span<const Packet> packets, Deadline deadline) const {
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(packets.size(), UINT32_MAX));
    const std::uint64_t first = reserve(count, deadline);
    for (std::uint32_t i = 0; i < count; ++i) write(first + i, packets[i]);
    publish(first, count);
    return first;
}

Queue Queue::create(AgentRef gpu, const QueueOptions& options) {
    const Driver driver = Driver::current();
    require_size(gpu, options.packets);
    Queue queue;
    queue.state_ = std::make_unique<detail::QueueState>();
    detail::QueueState& state = *queue.state_;
    state.agent = gpu;
    state.on_error = options.on_error;
    // UINT32_MAX: no static private or group segment; scratch grows when a packet asks for it.
    hsa_queue_t* native = nullptr;
    check(hsa_queue_create(gpu.native(), options.packets, HSA_QUEUE_TYPE_MULTI, on_queue_error, &state,
                           UINT32_MAX, UINT32_MAX, &native),
          [&] {
              return "hsa_queue_create(" + gpu.label() + ", " + std::to_string(options.packets) +
                     " packets; at most " + std::to_string(gpu.queues_max()) + " queues)";
          });
    state.attach(native, driver);
    return queue;
}

Queue::Queue() noexcept = default;
Queue::Queue(Queue&&) noexcept = default;
Queue& Queue::operator=(Queue&&) noexcept = default;
Queue::~Queue() = default;

}  // namespace hsadrv
