#include "hsadrv/signal.hpp"

#include <hsa/amd_hsa_signal.h>

#include <atomic>
#include <string>

#include "hsadrv/error.hpp"
#include "hsadrv/runtime.hpp"

namespace hsadrv {

namespace {

// A handle is the address of its amd_signal_t; packet processors rely on that, so it is as fixed as the ABI.
std::atomic_ref<std::int64_t> value_of(hsa_signal_t signal) noexcept {
    return std::atomic_ref(const_cast<std::int64_t&>(reinterpret_cast<amd_signal_t*>(signal.handle)->value));
}

const char* condition_text(Condition condition) noexcept {
    switch (condition) {
        case Condition::equal:
            return "==";
        case Condition::not_equal:
            return "!=";
        case Condition::less:
            return "<";
        case Condition::greater_equal:
            return ">=";
    }
    return "?";
}

/// Ticks of the runtime's clock, in which hsa_signal_wait counts.
std::uint64_t ticks(std::chrono::nanoseconds time) {
    if (time == std::chrono::nanoseconds::max()) return UINT64_MAX;
    static const double ticks_per_ns = [] {
        std::uint64_t hz = 0;
        hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz);
        return hz == 0 ? 1.0 : static_cast<double>(hz) / 1e9;
    }();
    return static_cast<std::uint64_t>(static_cast<double>(time.count()) * ticks_per_ns) + 1;
}

// Long enough for a short kernel's completion to be seen without a call, short beside a thread switch.
constexpr int spins = 200;

void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

std::int64_t SignalRef::load() const noexcept { return value_of(native_).load(std::memory_order_acquire); }
std::int64_t SignalRef::load_relaxed() const noexcept {
    return value_of(native_).load(std::memory_order_relaxed);
}

// Through the runtime, because a store must also wake whoever is blocked.
void SignalRef::store(std::int64_t value) const noexcept { hsa_signal_store_screlease(native_, value); }
void SignalRef::add(std::int64_t value) const noexcept { hsa_signal_add_screlease(native_, value); }
void SignalRef::subtract(std::int64_t value) const noexcept { hsa_signal_subtract_screlease(native_, value); }
std::int64_t SignalRef::exchange(std::int64_t value) const noexcept {
    return hsa_signal_exchange_scacq_screl(native_, value);
}
std::int64_t SignalRef::compare_exchange(std::int64_t expected, std::int64_t desired) const noexcept {
    return hsa_signal_cas_scacq_screl(native_, expected, desired);
}

std::optional<std::int64_t> SignalRef::try_wait(Condition condition, std::int64_t than,
                                                Deadline deadline) const noexcept {
    for (int i = 0; i < spins; ++i) {
        if (const std::int64_t value = load(); holds(condition, value, than)) return value;
        relax();
    }
    for (;;) {
        const bool last = deadline.passed();
        // Blocked waits may come back early (signals to the thread, other waiters), so the value decides.
        const std::int64_t value =
            last ? load()
                 : hsa_signal_wait_scacquire(native_, detail::native_condition(condition), than,
                                             ticks(deadline.remaining()), HSA_WAIT_STATE_BLOCKED);
        if (holds(condition, value, than)) return value;
        if (last) return std::nullopt;
    }
}

std::int64_t SignalRef::wait(Condition condition, std::int64_t than, Deadline deadline) const {
    if (const auto value = try_wait(condition, than, deadline)) return *value;
    throw Timeout("SignalRef::wait(value " + std::string(condition_text(condition)) + " " +
                  std::to_string(than) + ", " + deadline.text() + "): the value is " +
                  std::to_string(load()));
}

Signal Signal::create(std::int64_t initial) {
    const Driver driver = Driver::current();
    hsa_signal_t native{};
    check(hsa_signal_create(initial, 0, nullptr, &native), "hsa_signal_create()");
    return Signal(driver, native);
}

Signal Signal::from_native(hsa_signal_t native) { return Signal(Driver::current(), native); }

void Signal::Traits::destroy(Native signal) noexcept { hsa_signal_destroy(signal); }

}  // namespace hsadrv
