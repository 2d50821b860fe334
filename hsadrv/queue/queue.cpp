#include "hsadrv/queue.hpp"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <thread>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/cu_mask.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/optional_api.hpp"
#include "hsadrv/queue/queue_state.hpp"
#include "hsadrv/signal/signal_wait.hpp"

namespace hsadrv {

namespace {

using detail::call_log::Area;
using detail::call_log::logged;

using namespace std::chrono_literals;

// Waits poll this often for a memory fault, which the runtime reports per GPU and not per queue.
constexpr auto poll_period = 200ms;

void require_size(AgentRef gpu, std::uint32_t packets) {
    const std::uint32_t least = gpu.queue_min_packets(), most = gpu.queue_max_packets();
    if (std::has_single_bit(packets) && packets >= least && packets <= most) return;
    throw InvalidArgument("hsa_queue_create(" + gpu.label() + ", " + std::to_string(packets) +
                              " packets): the size must be a power of two from " + std::to_string(least) + " to " +
                              std::to_string(most),
                          HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

}  // namespace

hsa_queue_t* QueueRef::native() const noexcept { return state_->native(); }
AgentRef QueueRef::agent() const noexcept { return state_->agent; }
std::uint32_t QueueRef::size() const noexcept { return state_->ring.size(); }
std::uint64_t QueueRef::read_index() const noexcept { return in_forked_child() ? 0 : state_->ring.read_index(); }
std::uint64_t QueueRef::write_index() const noexcept { return in_forked_child() ? 0 : state_->ring.write_index(); }
AqlRing& QueueRef::ring() const noexcept { return state_->ring; }
Packet QueueRef::peek(std::uint64_t index) const noexcept { return state_->ring.peek(index); }

bool QueueRef::failed() const noexcept { return state_->failed.load(std::memory_order_acquire); }
SignalRef QueueRef::failure() const noexcept { return state_->failure; }
void QueueRef::throw_if_failed() const {
    if (failed()) [[unlikely]]
        state_->throw_error();
}
void QueueRef::throw_if_failed(const std::string& stream) const {
    if (failed()) state_->throw_error(stream);
}

// ---- packets

std::optional<std::uint64_t> QueueRef::try_reserve(std::uint32_t count) const {
    refuse_in_forked_child("QueueRef::reserve");
    throw_if_failed();
    if (count == 0 || count > size())
        throw InvalidArgument("QueueRef::reserve(" + std::to_string(count) + " packets): the ring holds 1 to " +
                              std::to_string(size()));
    return state_->ring.try_reserve(count);
}

/// A queue of a lost GPU never moves on, and the runtime does not say so.
static void fail_if_lost(detail::QueueState& queue) {
    if (const auto fault = queue.agent ? detail::faults::of(queue.agent) : std::nullopt)
        queue.fail(static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT), fault);
}

std::uint64_t QueueRef::reserve(std::uint32_t count, Deadline deadline) const {
    for (detail::Backoff naps;; naps.take(deadline)) {
        if (const auto first = try_reserve(count)) return *first;
        fail_if_lost(*state_);
        if (deadline.passed())
            throw Timeout("QueueRef::reserve(" + std::to_string(count) + " packets, " + deadline.text() +
                          "): " + state_->label() + " is full: read index " + std::to_string(read_index()) +
                          ", write index " + std::to_string(write_index()) + ", " + std::to_string(size()) + " slots");
    }
}

void QueueRef::write(std::uint64_t index, const Packet& packet) const noexcept { state_->ring.write(index, packet); }
void QueueRef::publish(std::uint64_t first, std::uint32_t count) const noexcept { state_->ring.publish(first, count); }

std::uint64_t QueueRef::submit(const Packet& packet, Deadline deadline) const {
    return logged(
        Area::queue, "QueueRef::submit", [&] { return state_->label(); },
        [&] {
            const std::uint64_t index = reserve(1, deadline);
            write(index, packet);
            publish(index, 1);
            return index;
        });
}

std::uint64_t QueueRef::submit(std::span<const Packet> packets, Deadline deadline) const {
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(packets.size(), UINT32_MAX));
    const auto text = [&] { return state_->label() + ", " + std::to_string(count) + " packets"; };
    return logged(Area::queue, "QueueRef::submit", text, [&] {
        const std::uint64_t first = reserve(count, deadline);
        for (std::uint32_t i = 0; i < count; ++i) write(first + i, packets[i]);
        publish(first, count);
        return first;
    });
}

std::optional<std::uint64_t> QueueRef::try_submit(const Packet& packet) const {
    return try_submit(std::span(&packet, 1));
}

std::optional<std::uint64_t> QueueRef::try_submit(std::span<const Packet> packets) const {
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(packets.size(), UINT32_MAX));
    const auto first = try_reserve(count);
    if (!first) return std::nullopt;
    for (std::uint32_t i = 0; i < count; ++i) write(*first + i, packets[i]);
    publish(*first, count);
    return first;
}

std::uint64_t QueueRef::submit_barrier(std::span<const hsa_signal_t> dependencies, hsa_signal_t completion,
                                       PacketOrder order, Deadline deadline) const {
    // One after the other: a chain may exceed the ring, and each packet waits for its own signals.
    const std::size_t count = barrier_chain_packets(dependencies.size());
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < count; ++i)
        last = submit(barrier_chain_packet(dependencies, i, completion, order), deadline);
    return last;
}

// ---- waiting

std::int64_t QueueRef::wait(SignalRef signal, Condition condition, std::int64_t than, Deadline deadline) const {
    refuse_in_forked_child("QueueRef::wait");
    const std::array<SignalTerm, 2> both = {SignalTerm{signal, condition, than},
                                            SignalTerm{state_->failure, Condition::not_equal, 0}};
    const std::span<const SignalTerm> terms(both.data(), state_->failure ? 2 : 1);
    for (;;) {
        const auto which = detail::wait_any(terms, deadline.sliced(poll_period));
        const std::int64_t value = signal.load();
        if (which == 0u) return value;
        if (which == 1u && holds(condition, value, than)) return value;
        throw_if_failed();
        fail_if_lost(*state_);
        if (deadline.passed() && !failed())
            throw Timeout("QueueRef::wait(value " + detail::condition_text(condition, than) + ", " + deadline.text() +
                          "): the value is " + std::to_string(value) + "; " + state_->label() + " has read index " +
                          std::to_string(read_index()) + ", write index " + std::to_string(write_index()));
    }
}

// ---- attributes

void QueueRef::set_priority(QueuePriority priority) const {
    refuse_in_forked_child("QueueRef::set_priority");
    state_->set_priority(priority);
}
QueuePriority QueueRef::priority() const noexcept { return state_->options.priority; }

std::vector<std::uint32_t> QueueRef::set_cu_mask(std::span<const std::uint32_t> mask) const {
    refuse_in_forked_child("QueueRef::set_cu_mask");
    const bool known = bool(agent());
    const std::vector<std::uint32_t> units =
        known ? detail::units_in_force(mask, agent()) : std::vector(mask.begin(), mask.end());
    if (!mask.empty() && detail::names_no_unit(units))
        throw InvalidArgument("QueueRef::set_cu_mask(" + state_->label() +
                              "): the mask leaves no compute unit; an empty mask allows all");
    if (known) detail::require_pairs("QueueRef::set_cu_mask(" + state_->label() + ")", mask, agent());
    const hsa_status_t status = hsa_amd_queue_cu_set_mask(native(), static_cast<std::uint32_t>(mask.size() * 32),
                                                          mask.empty() ? nullptr : mask.data());
    // Reduced: success with fewer bits; the caller receives the mask in use.
    if (static_cast<int>(status) != HSA_STATUS_CU_MASK_REDUCED)
        check(status, [&] {
            return "hsa_amd_queue_cu_set_mask(" + state_->label() + ", " + std::to_string(mask.size() * 32) + " bits)";
        });
    if (!known) return cu_mask();
    const std::lock_guard lock(state_->failure_mutex);
    state_->options.cu_mask.assign(mask.begin(), mask.end());
    return state_->units = units;
}

// Newer runtimes go on reporting the first mask that a queue had, and zeros under HSA_CU_MASK (AqlQueue::SetCUMasking).
std::vector<std::uint32_t> QueueRef::cu_mask() const {
    {
        const std::lock_guard lock(state_->failure_mutex);
        if (!state_->units.empty()) return state_->units;
    }
    if (!state_->foreign) return detail::units_in_force({}, agent());
    std::vector<std::uint32_t> mask(detail::mask_words(agent()));
    check(hsa_amd_queue_cu_get_mask(native(), static_cast<std::uint32_t>(mask.size() * 32), mask.data()),
          [&] { return "hsa_amd_queue_cu_get_mask(" + state_->label() + ")"; });
    return mask;
}

// ---- owners

Queue Queue::create(AgentRef gpu, const QueueOptions& options) {
    const auto text = [&] { return gpu.label() + ", " + std::to_string(options.packets) + " packets"; };
    return logged(Area::queue, "Queue::create", text, [&] {
        const Driver driver = Driver::current("Queue::create");
        require_size(gpu, options.packets);
        detail::faults::refuse_lost(gpu, "Queue::create");
        Queue queue;
        queue.state_.reset(new detail::QueueState);
        detail::QueueState& state = *queue.state_;
        state.agent = gpu;
        state.options = options;
        state.failure = Signal::create(0);
        state.handle = state.make_native();
        state.attach(state.handle.get());
        if (!options.cu_mask.empty()) queue.ref().set_cu_mask(options.cu_mask);
        return queue;
    });
}

void Queue::rebuild() {
    detail::QueueState& state = *state_;
    logged(
        Area::queue, "Queue::rebuild", [&] { return state.label(); },
        [&] {
            if (state.foreign)
                throw InvalidArgument("Queue::rebuild(" + state.label() +
                                      "): it was not created by hsadrv; its creator can create another one");
            detail::faults::refuse_lost(state.agent, "Queue::rebuild");
            UniqueHandle<detail::QueueState::Traits> fresh = state.make_native();
            const std::vector<std::uint32_t> mask = state.options.cu_mask;
            hsa_queue_t* const native = fresh.get();
            // The old queue ends here, after its error callback if that is running.
            state.ring_memory.leave();
            state.handle = std::move(fresh);
            {
                const std::lock_guard lock(state.failure_mutex);
                state.status = HSA_STATUS_SUCCESS;
                state.fault.reset();
                state.callback_threw = nullptr;
                state.failure.store(0);
                state.failed.store(false, std::memory_order_release);
            }
            state.attach(native);
            if (!mask.empty()) ref().set_cu_mask(mask);
        });
}

Queue Queue::around(hsa_queue_t* native, AgentRef agent, bool owned, const char* call) {
    const Driver driver = Driver::current(call);
    if (native == nullptr) throw InvalidArgument(std::string(call) + "(null)");
    if (const auto& info = optional_api().queue_get_info; !agent && info) {
        hsa_agent_t found{};
        if (info(native, QueueInfo::agent, &found) == HSA_STATUS_SUCCESS) agent = AgentRef(found);
    }
    Queue queue;
    queue.state_.reset(new detail::QueueState);
    detail::QueueState& state = *queue.state_;
    state.agent = agent;
    state.foreign = true;
    state.attach(native);
    // A view has no handle to destroy, but also keeps the runtime alive.
    state.handle = UniqueHandle<detail::QueueState::Traits>(owned ? native : nullptr, driver);
    return queue;
}

Queue Queue::from_native(hsa_queue_t* native, AgentRef agent) {
    return around(native, agent, true, "Queue::from_native");
}
Queue Queue::view(hsa_queue_t* native, AgentRef agent) { return around(native, agent, false, "Queue::view"); }

Queue::Queue() noexcept = default;
Queue::Queue(Queue&&) noexcept = default;
Queue& Queue::operator=(Queue&&) noexcept = default;
Queue::~Queue() = default;

}  // namespace hsadrv
