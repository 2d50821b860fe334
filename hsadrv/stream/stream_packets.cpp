// The packets of a stream: their contents, their order, and what moves when the queue dies.
#include <algorithm>
#include <vector>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/traced.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

namespace {

std::span<const hsa_signal_t> one(const hsa_signal_t& signal) noexcept { return {&signal, 1}; }

}  // namespace

void StreamCore::join_copies(Deadline deadline, const char* call) {
    if (!copy_tail_) return;
    if (timeline_->lost_copy(tail())) timeline_->rethrow();
    if (!is_over(tail())) {  // a copy that is lost meanwhile keeps the barrier closed
        holds_.make_room(1);
        const hsa_signal_t copy = copy_tail_->native();
        const std::uint64_t epoch =
            writer_.put_counted(barrier_and(one(copy), timeline_->signal().native(), ordering_only),
                                {.kind = copy_tail_kind_, .on = copy}, deadline, call);
        holds_.push({.epochs = epoch}, copy_tail_);
    }
    copy_tail_.reset();
}

std::shared_ptr<PooledSignal> StreamCore::gate(Deadline deadline, const char* call) {
    auto signal = signals_.acquire(1);
    writer_.put(barrier_and({}, signal->native(), ordering_only), {.kind = PacketRecord::Kind::gate, .opens = signal},
                deadline, call);
    return signal;
}

std::shared_ptr<PooledSignal> StreamCore::before_next(Deadline deadline, const char* call) {
    std::shared_ptr<PooledSignal> before = copy_tail_;
    if (!before && timeline_->in_flight()) before = gate(deadline, call);
    if (before && before->ref().load() == 0) before.reset();
    return before;
}

void StreamCore::set_copy_tail(std::shared_ptr<PooledSignal> done, PacketRecord::Kind kind) {
    copy_tail_ = std::move(done);
    copy_tail_kind_ = kind;
    mutex_.disable_fast_path();
}

std::byte* StreamCore::begin_dispatch(const DispatchSpec& spec, Deadline deadline) {
    static constexpr const char* call = "Stream::dispatch";
    std::unique_lock held = writer_.lock(deadline, call);
    throw_if_failed();
    if (spec.kernarg_bytes > kernargs_.capacity_bytes()) [[unlikely]]
        throw InvalidArgument(std::string(call) + ": " + std::to_string(spec.kernarg_bytes) +
                              " B of arguments; the stream has room for " + std::to_string(kernargs_.capacity_bytes()) +
                              " B, see StreamOptions::kernarg_bytes");
    if (capture_) [[unlikely]] {
        std::byte* recorded = capture_.begin_kernel(spec);
        held.release();
        return recorded;
    }
    if (copy_tail_) [[unlikely]]
        join_copies(deadline, call);
    const std::size_t room_bytes = KernargRing::room_bytes(spec.kernarg_bytes);
    std::byte* kernarg = kernargs_.try_reserve(room_bytes);
    while (kernarg == nullptr) {
        kernarg = kernargs_.make_room(room_bytes, timeline_->completed(), timeline_->submitted());
        if (kernarg == nullptr) writer_.wait_for_progress(deadline, call);
    }
    if (!profile_.on()) {
        mutex_.enable_fast_path();
        // What is logged or traced goes through Stream::commit_dispatch.
        if (shared_queue()->dead() || call_log::on(call_log::Area::launch) || traced()) mutex_.disable_fast_path();
    }
    held.release();  // Stream::dispatch unlocks
    return kernarg;
}

void StreamCore::commit_dispatch(const DispatchSpec& spec, std::byte* kernarg, Deadline deadline) {
    if (capture_) [[unlikely]]
        return capture_.commit_kernel(spec, kernarg);
    const Packet packet = kernel_dispatch(spec, kernarg, timeline_->signal().native());
    names_queue_ = spec.names_queue;
    static constexpr const char* call = "Stream::dispatch";
    const std::uint64_t epoch = profile_.on() ? put_profiled(packet, deadline, call)
                                : traced()    ? put_beside_count(packet, {0}, deadline, call)
                                              : writer_.put_counted(packet, deadline, call);
    kernargs_.commit(epoch, KernargRing::room_bytes(spec.kernarg_bytes));
    names_queue_ = false;
}

void StreamCore::submit(std::span<const Packet> packets, Deadline deadline) {
    static constexpr const char* call = "Stream::submit";
    if (packets.empty()) return throw_if_failed();
    const auto held = writer_.lock(deadline, call);
    throw_if_failed();
    if (captured([copy = std::vector(packets.begin(), packets.end())](StreamCore& core, Deadline when) {
            core.submit(copy, when);
        }))
        return;
    const std::size_t most = std::min(queue().size() / 2, Timeline::most_packets - 1);
    if (packets.size() > most)
        throw InvalidArgument(std::string(call) + ": " + std::to_string(packets.size()) +
                              " packets at once; the queue takes " + std::to_string(most));
    join_copies(deadline, call);
    std::vector<Packet> batch(packets.begin(), packets.end());
    batch.front().words[0] |= 1u << HSA_PACKET_HEADER_BARRIER;
    const Packet last = barrier_and({}, timeline_->signal().native());
    std::vector<std::uint16_t> headers;
    for (const Packet& packet : batch) headers.push_back(static_cast<std::uint16_t>(packet.words[0]));
    headers.push_back(static_cast<std::uint16_t>(last.words[0]));
    writer_.put_batch(batch, last, {.kind = PacketRecord::Kind::batch, .headers = std::move(headers)}, deadline, call);
}

Completion StreamCore::put_copy(CopyQueue::Engine engine, CopySide to, CopySide from, std::uint64_t bytes,
                                Deadline deadline, std::shared_ptr<const void> keep) {
    static constexpr const char* call = "Stream::copy_async";
    check_copies();
    throw_if_failed();
    auto done = signals_.acquire(1);
    holds_.make_room(3);
    copies_.reserve(copies_.size() + 1);
    std::shared_ptr<PooledSignal> before = before_next(deadline, call);
    std::optional<ProfileRecord> record;
    if (profile_.on()) {
        profile_.collect(*timeline_);
        profile_.make_room();
        record = copy_record(to, from, bytes);
    }
    const CopyQueue::EngineId id{to.device.native().handle, from.device.native().handle};
    const auto hold = [&](const Completion& completion) {
        copies_.push_back(completion);
        if (before) holds_.push(completion, std::move(before));
        if (keep) holds_.push(completion, std::move(keep));
        holds_.push(completion, done);
    };
    const Completion last{timeline_->submitted(), done};
    hsa_status_t status = HSA_STATUS_SUCCESS;
    try {
        status = copy_queue_->put({std::move(engine), id, {last.epochs, before}, done});
    } catch (const PartlyStarted& part) {
        hold(last);
        set_copy_tail(done, PacketRecord::Kind::copy);
        timeline_->fail(part.error, last.epochs);
        std::rethrow_exception(part.error);
    }
    check(status, [&] { return range_text("hsa_amd_memory_async_copy", to.address, from.address, bytes); });

    hold(last);
    set_copy_tail(done, PacketRecord::Kind::copy);
    if (record) profile_.push(std::move(*record), done, last.epochs);
    return last;
}

}  // namespace hsadrv::detail
