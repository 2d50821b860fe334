// Barrier packets of AqlQueue: AND, OR and AMD's BARRIER_VALUE wait for signals.
#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/queues/aql_queue.hpp"
#include "tools/kfdemu/queues/barrier_value.hpp"
#include "tools/kfdemu/queues/gpu_memory.hpp"

namespace kfdemu {

std::optional<std::int64_t> AqlQueue::value_of(std::uint64_t signal) {
    std::int64_t value = 0;
    // Acquire: writes before the signal's release are visible.
    const auto load = [&](const aql::AmdSignal& s) { value = __atomic_load_n(&s.value, __ATOMIC_ACQUIRE); };
    if (!access<const aql::AmdSignal>(space_, signal, kRead, load)) return {};
    return value;
}

AqlQueue::Step AqlQueue::wait_for(const aql::Barrier& packet, bool all) {
    take_header();
    // A dependency stays satisfied once its signal was observed at 0, even if the value changes later.
    std::uint32_t wanted = 0;
    for (unsigned i = 0; i < std::size(packet.dep_signal); ++i) {
        if (packet.dep_signal[i] == 0) continue;
        wanted |= 1u << i;
        if (dependencies_met_ & (1u << i)) continue;
        const auto value = value_of(packet.dep_signal[i]);
        if (!value) return memory_fault(packet.dep_signal[i], kRead, "a barrier packet's dependency");
        if (*value == 0) dependencies_met_ |= 1u << i;
    }
    const bool met = all ? dependencies_met_ == wanted : (wanted == 0 || dependencies_met_ != 0);
    if (met && wanted != 0) checked_.depended();
    if (!met) checked_.blocked();
    return met ? complete_now(packet.header, packet.completion_signal) : Step::waiting;
}

AqlQueue::Step AqlQueue::wait_for(const aql::BarrierValue& packet) {
    const bool strict = shows(Behaviour::barrier_value);
    if (strict && !gpu_.model->barrier_value)
        return fail(aql::kInvalidVendorPacket,
                    fmt::format("BARRIER_VALUE packet, which {} does not support", gpu_.model->name));
    take_header();
    if (packet.signal != 0) {
        if (packet.condition >= kBarrierConditions)
            return fail(aql::kInvalidVendorPacket, "barrier-value packet: unknown condition");
        const auto raw = value_of(packet.signal);
        if (!raw) return memory_fault(packet.signal, kRead, "a barrier-value packet's signal");
        if (!holds(packet, *raw, strict ? Comparison::all_known : Comparison::signed_alone))
            return checked_.blocked(), Step::waiting;
        checked_.depended();
    }
    return complete_now(packet.header, packet.completion_signal);
}

}  // namespace kfdemu
