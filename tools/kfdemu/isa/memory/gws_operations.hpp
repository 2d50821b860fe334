// The DS instructions on global wave sync ("Vega" ISA manual, "DS Instructions": DS_GWS_*).
//
// For executor files only. Memory ordering: acquire and release, so waves that pass see the stores that the releasing
// waves made before.
#pragma once

#include "tools/kfdemu/isa/memory/gws.hpp"
#include "tools/kfdemu/isa/memory/lane_access.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

KFDEMU_INLINE unsigned gws_number(const Wave& wave, const Inst& inst) {
    return ((wave.s[kM0] >> 16) + (static_cast<std::uint32_t>(inst.offset) & 0xffff)) % Gws::kResources;
}
/// The resource that the instruction names, and the operand from the first active lane.
KFDEMU_INLINE std::uint64_t* gws_resource(Wave& wave, const Inst& inst) {
    return wave.gws ? &wave.gws->resource[gws_number(wave, inst)] : nullptr;
}
KFDEMU_INLINE std::uint32_t gws_value(Wave& wave, const Inst& inst) {
    const std::uint64_t mask = exec_of(wave);
    return lanes_of(wave, inst.src[0])[mask ? __builtin_ctzll(mask) : 0];
}

/// Sleeps, then runs the same instruction again.
KFDEMU_INLINE const Inst* gws_sleep(Wave& wave, const Inst& inst) {
    wave.stop_at(Stop::Sleep, inst);
    wave.next = &inst;
    return nullptr;
}

/// Sets the number of waves, minus one, that must arrive before the barrier opens.
const Inst* gws_init(Wave& wave, const Inst& inst) {
    std::uint64_t* resource = gws_resource(wave, inst);
    if (!resource) return wave.stop_at(Stop::Illegal, inst);
    std::uint64_t was = __atomic_load_n(resource, __ATOMIC_RELAXED);
    const std::uint64_t value = gws_value(wave, inst);
    while (!__atomic_compare_exchange_n(resource, &was, (was >> 32 << 32) | value, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    return &inst + inst.size;
}

/// The last wave to arrive opens the barrier for itself and all waiters, and its operand sets the count of the next
/// round. Acquire and release: stores that a wave made before the barrier are visible to every wave after it. A waiting
/// wave sleeps and polls.
const Inst* gws_barrier(Wave& wave, const Inst& inst) {
    std::uint64_t* resource = gws_resource(wave, inst);
    if (!resource) return wave.stop_at(Stop::Illegal, inst);
    std::uint64_t was = __atomic_load_n(resource, __ATOMIC_ACQUIRE);
    if (!wave.gws_waits) {
        const std::uint64_t value = gws_value(wave, inst);
        std::uint64_t now = 0;
        do {
            const bool opens = static_cast<std::uint32_t>(was) == 0;
            now = opens ? ((was >> 32) + 1) << 32 | value : was - 1;
        } while (!__atomic_compare_exchange_n(resource, &was, now, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
        wave.gws_openings = static_cast<std::uint32_t>(was >> 32);
        was = now;
    }
    wave.gws_waits = static_cast<std::uint32_t>(was >> 32) == wave.gws_openings;
    return wave.gws_waits ? gws_sleep(wave, inst) : &inst + inst.size;
}

// Semaphores: the low half counts how many may pass.

/// Lets `count` more waves pass.
KFDEMU_INLINE const Inst* gws_release(Wave& wave, const Inst& inst, std::uint32_t count) {
    std::uint64_t* resource = gws_resource(wave, inst);
    if (!resource) return wave.stop_at(Stop::Illegal, inst);
    std::uint64_t was = __atomic_load_n(resource, __ATOMIC_RELAXED), now = 0;
    do {
        now = (was >> 32 << 32) | static_cast<std::uint32_t>(was + count);
    } while (!__atomic_compare_exchange_n(resource, &was, now, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return &inst + inst.size;
}
const Inst* gws_sema_v(Wave& wave, const Inst& inst) { return gws_release(wave, inst, 1); }
const Inst* gws_sema_br(Wave& wave, const Inst& inst) { return gws_release(wave, inst, gws_value(wave, inst)); }

/// Lets as many waves pass as are waiting now.
const Inst* gws_sema_release_all(Wave& wave, const Inst& inst) {
    std::uint64_t* resource = gws_resource(wave, inst);
    if (!resource) return wave.stop_at(Stop::Illegal, inst);
    const std::uint32_t waiting = __atomic_load_n(&wave.gws->waiting[gws_number(wave, inst)], __ATOMIC_RELAXED);
    std::uint64_t was = __atomic_load_n(resource, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(resource, &was, (was >> 32 << 32) | waiting, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
    }
    return &inst + inst.size;
}

/// Passes if the count allows it; otherwise sleeps and polls.
const Inst* gws_sema_p(Wave& wave, const Inst& inst) {
    std::uint64_t* resource = gws_resource(wave, inst);
    if (!resource) return wave.stop_at(Stop::Illegal, inst);
    std::uint32_t& waiting = wave.gws->waiting[gws_number(wave, inst)];
    std::uint64_t was = __atomic_load_n(resource, __ATOMIC_RELAXED);
    bool passes = false;
    while (static_cast<std::uint32_t>(was) != 0 && !passes)
        passes = __atomic_compare_exchange_n(resource, &was, was - 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (passes == wave.gws_waits) {  // it waited and now passes, or starts to wait
        __atomic_fetch_add(&waiting, passes ? ~0u : 1u, __ATOMIC_RELAXED);
        wave.gws_waits = !passes;
    }
    return passes ? &inst + inst.size : gws_sleep(wave, inst);
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
