// A point in time until which a call may block. Every blocking call takes one.
//
//   stream.synchronize();                                // no limit
//   stream.synchronize(std::chrono::milliseconds(250));  // throws Timeout after a quarter of a second
//   queue.reserve(1, Deadline::at(when));                // a deadline shared by several calls
//
// Thread safety: a value. A duration or a time point more than 70 years away means no limit.
#pragma once

#include "shared/cpp20.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace hsadrv {

class Deadline {
  public:
    using Clock = std::chrono::steady_clock;

    /// No limit.
    constexpr Deadline() noexcept = default;

    /// Relative to now; zero or less polls once.
    template <class Rep, class Period>
    Deadline(std::chrono::duration<Rep, Period> timeout)  // NOLINT: conversion is the interface
        : Deadline(std::chrono::duration<double, std::nano>(timeout), 0) {}

    static constexpr Deadline never() noexcept { return {}; }
    /// A time point before the clock's epoch has passed.
    static constexpr Deadline at(Clock::time_point when) noexcept {
        Deadline deadline;
        if (when < furthest) deadline.when_ = when < Clock::time_point() ? Clock::time_point() : when;
        return deadline;
    }

    constexpr bool is_never() const noexcept { return when_ == Clock::time_point::max(); }
    bool passed() const noexcept { return !is_never() && Clock::now() >= when_; }

    /// Time left, never negative; nanoseconds::max() without a limit.
    std::chrono::nanoseconds remaining() const noexcept;

    /// The earlier of this and `slice` from now, for waits that poll.
    Deadline sliced(std::chrono::nanoseconds slice) const noexcept;

    /// The limit as the caller gave it, for messages: "250 ms", "no deadline".
    std::string text() const;

  private:
    /// Sums and differences with now() are representable on this side of it.
    static constexpr Clock::time_point furthest = Clock::time_point(std::chrono::nanoseconds::max() / 4);

    Deadline(std::chrono::duration<double, std::nano> timeout, int) noexcept;

    Clock::time_point when_ = Clock::time_point::max();
    std::chrono::nanoseconds asked_ = std::chrono::nanoseconds::max();
};

}  // namespace hsadrv
