#include "tools/kfdemu/queues/publications.hpp"

#include <algorithm>
#include <utility>

#include "tools/kfdemu/check/process.hpp"

namespace kfdemu {
namespace {

check::Operations& operations() { return check::process_checks().operations; }
check::HostTouches& host() { return check::process_checks().host_touches; }

}  // namespace

bool Publications::are_followed() { return check::is_switched_on(Check::race) || check::is_switched_on(Check::fence); }

void Publications::rung(std::uint64_t next, std::uint64_t highest) {
    if (!are_followed()) return;
    // Producers ring in any order: a doorbell may be of a packet that has started, or that an earlier one announced.
    const bool news = highest >= next && (bells_.empty() || bells_.back().highest < highest);
    host().noticed(doorbell_, highest + ahead_);
    if (!news) return;
    if (bells_.empty()) in_flight_ = check::HostTouches::Busy{host()};
    bells_.push_back({highest, operations().published(this)});
}

void Publications::blocked() {
    is_blocked_ = true;
    if (bells_.empty() || operations().last_end() <= blocked_) return;
    blocked_ = operations().now();
    operations().waits_since(this, blocked_);
}

void Publications::waited() {
    if (!are_followed()) return;
    waited_ = operations().now();
    if (std::exchange(is_blocked_, false)) released_ = waited_;
}

void Publications::depended() {
    is_blocked_ = true;
    waited();
}

Publications::Tick Publications::safe() const {
    return std::max(bells_.empty() ? operations().now() : bells_.front().seen, waited_);
}

Publications::Tick Publications::host_safe(std::uint64_t index, Tick seen) const {
    return std::max(host().rung(doorbell_, index + ahead_, ahead_ == 0).value_or(seen), released_);
}

void Publications::passed(std::uint64_t index) {
    if (bells_.empty() || bells_.front().highest > index) return;
    while (!bells_.empty() && bells_.front().highest <= index) bells_.pop_front();
    operations().waits_since(this, bells_.empty() ? 0 : safe());
    if (bells_.empty()) in_flight_ = {};
}

void Publications::clear() {
    host().forget(doorbell_);
    if (bells_.empty()) return;
    operations().waits_since(this, 0);
    in_flight_ = {};
    bells_.clear();
}

}  // namespace kfdemu
