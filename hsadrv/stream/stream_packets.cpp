// The packets of a stream: their contents, their order, and what moves when the queue dies.
#include <algorithm>
#include <cstring>
#include <vector>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/traced.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/queue/fault.hpp"
#include "hsadrv/signal/callback_thread.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

namespace {

constexpr const char* dispatch_call = "Stream::dispatch";

std::span<const hsa_signal_t> one(const hsa_signal_t& signal) noexcept { return {&signal, 1}; }

}  // namespace

bool StreamCore::try_join_copies(Room room) {
    if (!copy_tail_) return true;
    if (timeline_->lost_copy(tail())) timeline_->rethrow();
    if (!is_over(tail())) {  // a copy that is lost meanwhile keeps the barrier closed
        holds_.make_room(1);
        const auto slot = writer_.try_reserve(1, room);
        if (!slot) return false;
        const hsa_signal_t copy = copy_tail_->native();
        const std::uint64_t epoch =
            writer_.put_counted(*slot, barrier_and(one(copy), timeline_->signal().native(), ordering_only),
                                {.kind = copy_tail_kind_, .on = copy});
        holds_.push({.epochs = epoch}, copy_tail_);
    }
    copy_tail_.reset();
    return true;
}

std::shared_ptr<PooledSignal> StreamCore::try_gate() {
    auto signal = signals_.acquire(1);
    const auto slot = writer_.try_reserve_uncounted();
    if (!slot) return nullptr;
    writer_.put(*slot, barrier_and({}, signal->native(), ordering_only),
                {.kind = PacketRecord::Kind::gate, .opens = signal});
    return signal;
}

std::shared_ptr<PooledSignal> StreamCore::before_next(Deadline deadline, const char* call) {
    std::shared_ptr<PooledSignal> before;
    while (!(before = copy_tail_) && timeline_->in_flight() && !(before = try_gate()))
        writer_.wait_for_room(deadline, call);
    if (before && before->ref().load() == 0) before.reset();
    return before;
}

void StreamCore::set_copy_tail(std::shared_ptr<PooledSignal> done, PacketRecord::Kind kind) {
    copy_tail_ = std::move(done);
    copy_tail_kind_ = kind;
    mutex_.disable_fast_path();
}

std::shared_ptr<const void> StreamCore::begin_dispatch(const DispatchSpec& spec) const {
    refuse_in_forked_child(dispatch_call);
    throw_if_failed();
    if (spec.kernarg_bytes > kernargs_.capacity_bytes())
        throw InvalidArgument(std::string(dispatch_call) + ": " + std::to_string(spec.kernarg_bytes) +
                              " B of arguments; the stream has room for " + std::to_string(kernargs_.capacity_bytes()) +
                              " B, see StreamOptions::kernarg_bytes");
    if (!spec.names_queue) return nullptr;
    const std::lock_guard held(mutex_);
    return shared_queue();
}

// Host functions do not wait for room: the packets before may wait for them.
std::byte* StreamCore::arguments_place(std::size_t room_bytes, std::shared_ptr<const void>& beside) {
    beside.reset();
    if (std::byte* place = kernargs_.try_reserve(room_bytes)) return place;
    if (std::byte* place = kernargs_.make_room(room_bytes, timeline_->completed(), timeline_->submitted()))
        return place;
    if (!on_callback_thread()) return nullptr;
    const auto memory = std::make_shared<Allocation>(Allocation::from_pool(host_pool(HostMemory::kernarg), room_bytes));
    holds_.make_room(1);
    beside = memory;
    return static_cast<std::byte*>(memory->data());
}

bool StreamCore::dispatch(const DispatchSpec& spec, const std::byte* arguments,
                          const std::shared_ptr<const void>& named, Deadline deadline) {
    std::shared_ptr<const void> beside;  // destroyed without the mutex
    const auto held = lock(deadline, dispatch_call);
    throw_if_failed();
    if (records()) {
        capture_.add_kernel(spec, arguments);
        return true;
    }
    const std::size_t room_bytes = KernargRing::room_bytes(spec.kernarg_bytes);
    Packet packet = kernel_dispatch(spec, nullptr, timeline_->signal().native());
    std::optional<Profiled> profiled = profile_.on() ? std::optional(profile_kernel(packet)) : std::nullopt;
    const std::uint32_t count = profiled || traced() ? 2 : 1;
    std::byte* place = nullptr;
    std::optional<std::uint64_t> slot;
    for (;; writer_.wait_for_room(deadline, dispatch_call)) {
        if (spec.names_queue && shared_queue() != named) return false;
        if (!try_join_copies() || (place = arguments_place(room_bytes, beside)) == nullptr) continue;
        profile_.make_room();
        if ((slot = writer_.try_reserve(count))) break;
    }
    std::memcpy(place, arguments, spec.kernarg_bytes);
    packet = kernel_dispatch(spec, place, timeline_->signal().native());
    const std::uint64_t epoch = profiled    ? put_profiled(*slot, packet, std::move(*profiled))
                                : count > 1 ? put_beside_count(*slot, packet, {0})
                                            : writer_.put_counted(*slot, packet);
    if (beside)
        holds_.push({.epochs = epoch}, std::move(beside));
    else
        kernargs_.commit(epoch, room_bytes);
    if (profile_.on()) return true;
    mutex_.enable_fast_path();
    // A capture may have begun while it waited. What is logged or traced goes through Stream::dispatch_filled.
    if (capture_ || shared_queue()->dead() || call_log::on(call_log::Area::launch) || traced())
        mutex_.disable_fast_path();
    return true;
}

void StreamCore::submit(std::span<const Packet> packets, Deadline deadline) {
    static constexpr const char* call = "Stream::submit";
    if (packets.empty()) return throw_if_failed();
    const auto held = lock(deadline, call);
    throw_if_failed();
    if (captured([copy = std::vector(packets.begin(), packets.end())](StreamCore& core, Deadline when) {
            core.submit(copy, when);
        }))
        return;
    const std::size_t most = std::min(queue().size() / 2, Timeline::most_packets - 1);
    if (packets.size() > most)
        throw InvalidArgument(std::string(call) + ": " + std::to_string(packets.size()) +
                              " packets at once; the queue takes " + std::to_string(most));
    std::vector<Packet> batch(packets.begin(), packets.end());
    batch.front().words[0] |= 1u << HSA_PACKET_HEADER_BARRIER;
    const Packet last = barrier_and({}, timeline_->signal().native());
    std::vector<std::uint16_t> headers;
    for (const Packet& packet : batch) headers.push_back(static_cast<std::uint16_t>(packet.words[0]));
    headers.push_back(static_cast<std::uint16_t>(last.words[0]));
    const auto count = static_cast<std::uint32_t>(batch.size()) + 1;
    const std::uint64_t slot = take_slots(count, deadline, call, [] { return true; });
    writer_.put_batch(slot, batch, last, {.kind = PacketRecord::Kind::batch, .headers = std::move(headers)});
}

Completion StreamCore::put_copy(CopyQueue::Start start, CopySide to, CopySide from, std::uint64_t bytes,
                                Deadline deadline, std::shared_ptr<const void> keep, CopyQueue::Parts parts) {
    static constexpr const char* call = "Stream::copy_async";
    check_copies();
    throw_if_failed();
    const AgentRef engine_of = engine_for(to, from, agent_);
    faults::refuse_lost(engine_of, call);
    auto done = signals_.acquire(1);
    std::shared_ptr<PooledSignal> before = before_next(deadline, call);
    holds_.make_room(3);
    copies_.reserve(copies_.size() + 1);
    std::optional<ProfileRecord> record;
    if (profile_.on()) {
        profile_.collect(*timeline_);
        profile_.make_room();
        record = copy_record(to, from, bytes);
    }
    const CopyQueue::EngineId id{to.device.native().handle, from.device.native().handle};
    const Completion last{timeline_->submitted(), done};
    check(copy_queue_->put({.start = std::move(start),
                            .parts = std::move(parts),
                            .size_bytes = bytes,
                            .engine_id = id,
                            .agent = engine_of,
                            .before = {last.epochs, before},
                            .done = done}),
          [&] { return range_text("hsa_amd_memory_async_copy", to.address, from.address, bytes); });

    copies_.push_back({last, PacketRecord::Kind::copy, engine_of});
    if (before) holds_.push(last, std::move(before));
    if (keep) holds_.push(last, std::move(keep));
    holds_.push(last, done);
    set_copy_tail(done, PacketRecord::Kind::copy);
    throw_if_failed();  // a part was refused
    if (record) profile_.push(std::move(*record), done, last.epochs);
    return last;
}

}  // namespace hsadrv::detail
