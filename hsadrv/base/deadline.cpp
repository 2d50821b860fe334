#include "hsadrv/deadline.hpp"

#include <algorithm>
#include <cstdio>

namespace hsadrv {

Deadline::Deadline(std::chrono::duration<double, std::nano> timeout, int) noexcept {
    if (!(timeout.count() < static_cast<double>(furthest.time_since_epoch().count()))) return;
    asked_ = std::chrono::nanoseconds(static_cast<std::int64_t>(std::max(0.0, timeout.count())));
    when_ = Clock::now() + asked_;
}

std::chrono::nanoseconds Deadline::remaining() const noexcept {
    if (is_never()) return std::chrono::nanoseconds::max();
    return std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(when_ - Clock::now()));
}

Deadline Deadline::sliced(std::chrono::nanoseconds slice) const noexcept {
    return at(std::min(when_, Clock::now() + std::min(slice, std::chrono::nanoseconds(furthest.time_since_epoch()))));
}

std::string Deadline::text() const {
    if (is_never()) return "no deadline";
    if (asked_ == std::chrono::nanoseconds::max()) return "a deadline";
    char text[32];
    std::snprintf(text, sizeof text, "%g ms", static_cast<double>(asked_.count()) / 1e6);
    return text;
}

}  // namespace hsadrv
