#include "allocations.hpp"

#include <fmt/format.h>

#include <iterator>
#include <mutex>

namespace kfdemu::check {
namespace {

constexpr std::uint64_t kPage = 4096;
/// Farther from every allocation, an address is not related to one.
constexpr std::uint64_t kNear = std::uint64_t{1} << 20;

std::uint64_t page_end(std::uint64_t va) { return (va + kPage - 1) & ~(kPage - 1); }

std::string bytes_text(std::uint64_t bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

}  // namespace

void Allocations::allocated(std::uint64_t va, std::uint64_t bytes) {
    const std::lock_guard lock{mutex_};
    // What was freed here before is gone.
    auto at = map_.lower_bound(va);
    if (at != map_.begin()) {
        const auto before = std::prev(at);
        if (!before->second.live && before->first + before->second.bytes > va) at = before;
    }
    while (at != map_.end() && at->first < va + bytes && !at->second.live) at = map_.erase(at);
    map_[va] = {bytes, ++count_, true};
    changed();
}

void Allocations::freed(std::uint64_t va) {
    const std::lock_guard lock{mutex_};
    if (const auto found = map_.find(va); found != map_.end()) found->second.live = false;
    changed();
}

void Allocations::forget(std::uint64_t va) {
    const std::lock_guard lock{mutex_};
    map_.erase(va);
    changed();
}

void Allocations::clear() {
    const std::lock_guard lock{mutex_};
    map_.clear();
    changed();
}

Span Allocations::span(std::uint64_t va) const {
    const std::shared_lock lock{mutex_};
    const auto after = map_.upper_bound(va);
    const std::uint64_t next = after == map_.end() ? ~std::uint64_t{0} : after->first;
    if (after == map_.begin()) return {0, next, Span::Unknown};
    const auto& [begin, allocation] = *std::prev(after);
    const std::uint64_t end = begin + allocation.bytes, slack_end = std::min(page_end(end), next);
    if (va < end) return {begin, end, allocation.live ? Span::Live : Span::Freed};
    if (va < slack_end) return {end, slack_end, allocation.live ? Span::Slack : Span::Freed};
    return {slack_end, next, Span::Unknown};
}

std::string Allocations::describe(std::uint64_t va) const {
    const std::shared_lock lock{mutex_};
    const auto after = map_.upper_bound(va);
    const auto text = [](std::uint64_t begin, const Allocation& a) {
        return fmt::format("{} allocated at {:#x} (allocation {}{})", bytes_text(a.bytes), begin, a.number,
                           a.live ? "" : ", freed");
    };
    if (after != map_.begin()) {
        const auto& [begin, a] = *std::prev(after);
        const std::uint64_t end = begin + a.bytes;
        if (va < end) return fmt::format("at offset {} of {}", va - begin, text(begin, a));
        const bool next_is_nearer = after != map_.end() && after->first - va < va - end;
        if (va - end < kNear && !next_is_nearer)
            return va == end ? fmt::format("just past the end of {}", text(begin, a))
                             : fmt::format("{} past the end of {}", bytes_text(va - end), text(begin, a));
    }
    if (after != map_.end() && after->first - va < kNear)
        return fmt::format("{} before {}", bytes_text(after->first - va), text(after->first, after->second));
    return "in no known allocation";
}

}  // namespace kfdemu::check
