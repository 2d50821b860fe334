// Waits for signals: one that asks to spin sleeps after a moment (--waits sleep).
//
// HIP's runtime spins by default. On a GPU that costs a core of the host; here, it is a core that executes the kernels
// it waits for. The runtime polls for 200 us in both cases (InterruptSignal::WaitRelaxed of ROCR).
#include "boundary/hsa_tool.hpp"

namespace kfdemu {
namespace {

hsa::SignalWait wait_relaxed = nullptr, wait_acquire = nullptr;
hsa::SignalWaitAny wait_any = nullptr;

std::int64_t sleep_relaxed(hsa::Handle signal, int condition, std::int64_t value, std::uint64_t ticks, int) {
    return wait_relaxed(signal, condition, value, ticks, hsa::kWaitBlocked);
}
std::int64_t sleep_acquire(hsa::Handle signal, int condition, std::int64_t value, std::uint64_t ticks, int) {
    return wait_acquire(signal, condition, value, ticks, hsa::kWaitBlocked);
}
std::uint32_t sleep_any(std::uint32_t count, hsa::Handle* signals, int* conditions, std::int64_t* values,
                        std::uint64_t ticks, int, std::int64_t* satisfying) {
    return wait_any(count, signals, conditions, values, ticks, hsa::kWaitBlocked, satisfying);
}

}  // namespace

void wrap_waits(hsa::Table& table) {
    hsa::wrap(table.core, hsa::kSignalWaitRelaxed, &sleep_relaxed, wait_relaxed);
    hsa::wrap(table.core, hsa::kSignalWaitAcquire, &sleep_acquire, wait_acquire);
    hsa::wrap(table.amd, hsa::kSignalWaitAny, &sleep_any, wait_any);
}

}  // namespace kfdemu
