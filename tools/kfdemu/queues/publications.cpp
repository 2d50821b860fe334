#include "queues/publications.hpp"

#include <algorithm>

#include "check/process.hpp"

namespace kfdemu {
namespace {

check::Operations& operations() { return check::process_checks().operations; }

}  // namespace

void Publications::rung(std::uint64_t next, std::uint64_t highest) {
    // Producers ring in any order: a doorbell may be of a packet that has started, or that an earlier one announced.
    const bool news = highest >= next && (bells_.empty() || bells_.back().highest < highest);
    if (news) bells_.push_back({highest, operations().published(this)});
}

void Publications::blocked() {
    if (bells_.empty() || operations().last_end() <= blocked_) return;
    blocked_ = operations().now();
    operations().waits_since(this, blocked_);
}

void Publications::waited() { waited_ = operations().now(); }

Publications::Tick Publications::safe() const {
    return std::max(bells_.empty() ? operations().now() : bells_.front().seen, waited_);
}

void Publications::passed(std::uint64_t index) {
    if (bells_.empty() || bells_.front().highest > index) return;
    while (!bells_.empty() && bells_.front().highest <= index) bells_.pop_front();
    operations().waits_since(this, bells_.empty() ? 0 : safe());
}

void Publications::clear() {
    if (!bells_.empty()) operations().waits_since(this, 0);
    bells_.clear();
}

}  // namespace kfdemu
