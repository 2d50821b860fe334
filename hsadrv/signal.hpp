// A 64-bit value that the host and devices change and wait on.
//
//   auto done = hsadrv::Signal::create(1);
//   queue.ref().submit(hsadrv::barrier_and({}, done.native()));
//   done.wait(hsadrv::Condition::equal, 0, std::chrono::seconds(1));
//
// SignalRef has the operations and is cheap to copy; Signal owns. Functions take SignalRef. Thread safety: the
// operations are atomic, from any thread; a Signal itself is a plain value. Memory ordering: load acquires, store, add
// and subtract release, unless the name says relaxed; wait acquires when the condition holds. A store loses no wake-up:
// the runtime wakes blocked waiters. Owns: Signal its signal; keeps the runtime alive. SignalRef borrows until its
// Signal is destroyed. Source: hsa.h, "Signals".
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <optional>
#include <span>

#include "hsadrv/deadline.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/handle.hpp"

namespace hsadrv {

enum class Condition { equal, not_equal, less, greater_equal };

constexpr bool holds(Condition condition, std::int64_t value, std::int64_t than) noexcept {
    switch (condition) {
        case Condition::equal:
            return value == than;
        case Condition::not_equal:
            return value != than;
        case Condition::less:
            return value < than;
        case Condition::greater_equal:
            return value >= than;
    }
    return false;
}

namespace detail {
constexpr hsa_signal_condition_t native_condition(Condition condition) noexcept {
    switch (condition) {
        case Condition::equal:
            return HSA_SIGNAL_CONDITION_EQ;
        case Condition::not_equal:
            return HSA_SIGNAL_CONDITION_NE;
        case Condition::less:
            return HSA_SIGNAL_CONDITION_LT;
        case Condition::greater_equal:
            return HSA_SIGNAL_CONDITION_GTE;
    }
    return HSA_SIGNAL_CONDITION_EQ;
}
}  // namespace detail

class SignalRef {
  public:
    constexpr SignalRef() noexcept : native_{0} {}
    constexpr explicit SignalRef(hsa_signal_t native) noexcept : native_(native) {}

    constexpr hsa_signal_t native() const noexcept { return native_; }
    constexpr explicit operator bool() const noexcept { return native_.handle != 0; }
    friend constexpr bool operator==(SignalRef a, SignalRef b) noexcept { return a.native_.handle == b.native_.handle; }

    /// Reads the value in place, without a runtime call, so that the launch path may use it.
    std::int64_t load() const noexcept;
    std::int64_t load_relaxed() const noexcept;

    void store(std::int64_t value) const noexcept;
    void add(std::int64_t value) const noexcept;
    void subtract(std::int64_t value) const noexcept;
    std::int64_t exchange(std::int64_t value) const noexcept;
    /// Returns the previous value; the exchange took place if it equals `expected`.
    std::int64_t compare_exchange(std::int64_t expected, std::int64_t desired) const noexcept;

    /// Spins briefly, then blocks, whatever the number of waiting threads. Returns the value that met the condition.
    /// Throws Timeout; ForkedChild in a forked child, which does not inherit the signals' memory.
    std::int64_t wait(Condition condition, std::int64_t than, Deadline deadline = {}) const;
    /// The same; std::nullopt at the deadline, or in a forked child.
    std::optional<std::int64_t> try_wait(Condition condition, std::int64_t than, Deadline deadline) const noexcept;

  private:
    hsa_signal_t native_;
};

/// A signal and the condition on its value; by default that it is complete: less than one.
struct SignalTerm {
    SignalRef signal = {};
    Condition condition = Condition::less;
    std::int64_t than = 1;
};

/// Waits until one of the terms holds and returns its index, the first if several hold. Several terms may name the same
/// signal. Throws Timeout with each term's value, InvalidArgument for an empty list, ForkedChild.
std::size_t wait_any(std::span<const SignalTerm> terms, Deadline deadline = {});
/// The same; std::nullopt at the deadline, in a forked child, or for an empty list.
std::optional<std::size_t> try_wait_any(std::span<const SignalTerm> terms, Deadline deadline) noexcept;

/// Waits until each term has been seen to hold, not necessarily all at the same moment. Throws Timeout with the terms
/// that do not hold, ForkedChild. Returns at once for an empty list.
void wait_all(std::span<const SignalTerm> terms, Deadline deadline = {});
/// The same; false at the deadline or in a forked child.
bool try_wait_all(std::span<const SignalTerm> terms, Deadline deadline) noexcept;

class Signal {
  public:
    /// Null.
    Signal() noexcept = default;
    /// Throws OutOfMemory if the runtime has no signal left.
    static Signal create(std::int64_t initial);
    /// Takes ownership of a signal created by hsa_signal_create.
    static Signal from_native(hsa_signal_t native);

    SignalRef ref() const noexcept { return SignalRef(handle_.get()); }
    operator SignalRef() const noexcept { return ref(); }  // NOLINT: an owner is a ref too
    hsa_signal_t native() const noexcept { return handle_.get(); }
    explicit operator bool() const noexcept { return bool(handle_); }
    /// Releases ownership: the caller destroys the signal with hsa_signal_destroy.
    hsa_signal_t release() noexcept { return handle_.release(); }

    std::int64_t load() const noexcept { return ref().load(); }
    void store(std::int64_t value) const noexcept { ref().store(value); }
    std::int64_t wait(Condition condition, std::int64_t than, Deadline deadline = {}) const {
        return ref().wait(condition, than, deadline);
    }
    std::optional<std::int64_t> try_wait(Condition condition, std::int64_t than, Deadline deadline) const noexcept {
        return ref().try_wait(condition, than, deadline);
    }

  private:
    struct Traits {
        using Native = hsa_signal_t;
        static Native null() noexcept { return {0}; }
        static bool is_null(Native signal) noexcept { return signal.handle == 0; }
        static void destroy(Native signal) noexcept;
    };
    Signal(const Driver& driver, hsa_signal_t native) noexcept : handle_(native, driver) {}

    UniqueHandle<Traits> handle_;
};

}  // namespace hsadrv
