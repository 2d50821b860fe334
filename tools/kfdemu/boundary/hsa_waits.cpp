#include "tools/kfdemu/boundary/hsa_waits.hpp"

#include <algorithm>

namespace kfdemu {
namespace {

hsa::SignalWait wait_relaxed = nullptr, wait_acquire = nullptr;
hsa::SignalWaitAny wait_any = nullptr;

constexpr std::uint64_t kSliceTicks = 20'000'000;  // of the runtime's clock, mostly nanoseconds

/// HSA_SIGNAL_CONDITION_EQ, _NE, _LT, _GTE.
bool holds(int condition, std::int64_t value, std::int64_t wanted) {
    switch (condition) {
        case 0:
            return value == wanted;
        case 1:
            return value != wanted;
        case 2:
            return value < wanted;
        default:
            return value >= wanted;
    }
}

std::int64_t sleep(hsa::SignalWait wait, hsa::Handle signal, int condition, std::int64_t wanted, std::uint64_t ticks) {
    while (true) {
        const std::uint64_t slice = std::min(ticks, kSliceTicks);
        const std::int64_t value = wait(signal, condition, wanted, slice, hsa::kWaitBlocked);
        ticks -= ticks == ~std::uint64_t{0} ? 0 : slice;
        if (holds(condition, value, wanted) || ticks == 0) return value;
    }
}

std::int64_t sleep_relaxed(hsa::Handle signal, int condition, std::int64_t value, std::uint64_t ticks, int state) {
    if (state == hsa::kWaitBlocked) return wait_relaxed(signal, condition, value, ticks, state);
    return sleep(wait_relaxed, signal, condition, value, ticks);
}
std::int64_t sleep_acquire(hsa::Handle signal, int condition, std::int64_t value, std::uint64_t ticks, int state) {
    if (state == hsa::kWaitBlocked) return wait_acquire(signal, condition, value, ticks, state);
    return sleep(wait_acquire, signal, condition, value, ticks);
}
std::uint32_t sleep_any(std::uint32_t count, hsa::Handle* signals, int* conditions, std::int64_t* values,
                        std::uint64_t ticks, int state, std::int64_t* satisfying) {
    if (state == hsa::kWaitBlocked) return wait_any(count, signals, conditions, values, ticks, state, satisfying);
    while (true) {
        const std::uint64_t slice = std::min(ticks, kSliceTicks);
        const std::uint32_t which = wait_any(count, signals, conditions, values, slice, hsa::kWaitBlocked, satisfying);
        ticks -= ticks == ~std::uint64_t{0} ? 0 : slice;
        if (which != ~std::uint32_t{0} || ticks == 0) return which;
    }
}

}  // namespace

void wrap_waits(hsa::Table& table) {
    hsa::wrap(table.core, hsa::kSignalWaitRelaxed, &sleep_relaxed, wait_relaxed);
    hsa::wrap(table.core, hsa::kSignalWaitAcquire, &sleep_acquire, wait_acquire);
    hsa::wrap(table.amd, hsa::kSignalWaitAny, &sleep_any, wait_any);
}

}  // namespace kfdemu
