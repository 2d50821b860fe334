#include "hsadrv/deadline.hpp"

#include <algorithm>
#include <cstdio>

namespace hsadrv {

namespace {
// Longer timeouts could overflow when added to now(); they mean no deadline.
constexpr double longest_ns = 9e18 / 4;
}  // namespace

Deadline::Deadline(std::chrono::duration<double, std::nano> timeout, int) noexcept {
    if (!(timeout.count() < longest_ns)) return;
    asked_ = std::chrono::nanoseconds(static_cast<std::int64_t>(std::max(0.0, timeout.count())));
    when_ = Clock::now() + asked_;
}

std::chrono::nanoseconds Deadline::remaining() const noexcept {
    if (is_never()) return std::chrono::nanoseconds::max();
    return std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(when_ - Clock::now()));
}

Deadline Deadline::sliced(std::chrono::nanoseconds slice) const noexcept {
    return at(std::min(when_, Clock::now() + slice));
}

std::string Deadline::text() const {
    if (is_never()) return "no deadline";
    if (asked_ == std::chrono::nanoseconds::max()) return "a deadline";
    char text[32];
    std::snprintf(text, sizeof text, "%g ms", static_cast<double>(asked_.count()) / 1e6);
    return text;
}

}  // namespace hsadrv
