#include "tools/kfdemu/check/memory/allocations.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// What was freed there before is gone.
void Allocations::make_room(Map& map, std::uint64_t va, std::uint64_t bytes) {
    auto at = map.lower_bound(va);
    if (at != map.begin()) {
        const auto before = std::prev(at);
        if (!before->second.live && before->first + before->second.bytes > va) at = before;
    }
    while (at != map.end() && at->first < va + bytes && !at->second.live) at = map.erase(at);
}

void Allocations::forget_pieces(std::uint64_t va, std::uint64_t bytes) {
    pieces_.erase(pieces_.lower_bound(va), pieces_.lower_bound(va + bytes));
}

void Allocations::allocated(std::uint64_t va, std::uint64_t bytes, StackId by) {
    const std::lock_guard lock{mutex_};
    make_room(map_, va, bytes);
    forget_pieces(va, bytes);
    map_[va] = {.bytes = bytes, .number = ++count_, .made_by = by};
    changed();
}

Allocations::Was Allocations::freed(std::uint64_t va, StackId by) {
    const std::lock_guard lock{mutex_};
    const auto found = map_.find(va);
    if (found == map_.end() || found->second.released) return Was::Unknown;
    Allocation& allocation = found->second;
    if (!allocation.live) return Was::Freed;
    forget_pieces(va, allocation.bytes);
    allocation.live = allocation.is_pool = false;
    allocation.freed_by = by;
    changed();
    return Was::Live;
}

void Allocations::released(std::uint64_t va) {
    const std::lock_guard lock{mutex_};
    if (const auto found = map_.find(va); found != map_.end()) found->second.released = true;
    changed();
}

void Allocations::forget(std::uint64_t va) {
    const std::lock_guard lock{mutex_};
    if (const auto found = map_.find(va); found != map_.end()) {
        forget_pieces(va, found->second.bytes);
        map_.erase(found);
    }
    changed();
}

void Allocations::forget(std::uint64_t va, std::uint64_t bytes) {
    const std::lock_guard lock{mutex_};
    forget_pieces(va, bytes);
    map_.erase(map_.lower_bound(va), map_.lower_bound(va + bytes));
    changed();
}

std::uint64_t Allocations::bytes_at(std::uint64_t va) const {
    const std::shared_lock lock{mutex_};
    const auto found = map_.find(va);
    return found == map_.end() || !found->second.live ? 0 : found->second.bytes;
}

bool Allocations::allocated_alone(std::uint64_t va, std::uint64_t bytes, StackId by) {
    std::unique_lock lock{mutex_};
    make_room(map_, va, bytes);
    auto first = map_.lower_bound(va);
    if (first != map_.begin()) {
        const auto before = std::prev(first);
        const std::uint64_t end = before->first + before->second.bytes;
        if (before->second.live && va + bytes <= end) return false;
        if (before->second.live && va < end) first = before;
    }
    const auto last = map_.lower_bound(va + bytes);
    if (first == last) {
        lock.unlock();
        return allocated(va, bytes, by), true;
    }
    map_.erase(first, last);
    changed();
    return false;
}

void Allocations::clear() {
    const std::lock_guard lock{mutex_};
    map_.clear();
    pieces_.clear();
    changed();
}

void Allocations::piece_allocated(std::uint64_t va, std::uint64_t bytes, StackId by) {
    const std::lock_guard lock{mutex_};
    if (const auto after = map_.upper_bound(va); after != map_.begin()) {
        auto& [begin, allocation] = *std::prev(after);
        allocation.is_pool |= allocation.live && va - begin < allocation.bytes;
    }
    make_room(pieces_, va, bytes);
    pieces_[va] = {.bytes = bytes, .number = ++count_, .is_piece = true, .made_by = by};
    changed();
}

void Allocations::piece_freed(std::uint64_t va, StackId by) {
    const std::lock_guard lock{mutex_};
    if (const auto found = pieces_.find(va); found != pieces_.end()) {
        found->second.live = false;
        found->second.freed_by = by;
    }
    changed();
}

void Allocations::set_code(std::map<std::uint64_t, std::uint64_t> ranges) {
    const std::lock_guard lock{mutex_};
    code_ = std::move(ranges);
    changed();
}

/// The code at `va`, or what is between it and the nearest code.
Span Allocations::code_span(std::uint64_t va, const Span& around) const {
    const auto after = code_.upper_bound(va);
    Span result = around;
    if (after != code_.end()) result.end = std::min(result.end, after->first);
    if (after == code_.begin()) return result;
    const auto& [begin, end] = *std::prev(after);
    if (va < end) return {begin, std::min(end, result.end), Span::Code};
    result.begin = std::max(result.begin, end);
    return result;
}

Span Allocations::whole_span(std::uint64_t va) const {
    const auto after = map_.upper_bound(va);
    const std::uint64_t next = after == map_.end() ? ~std::uint64_t{0} : after->first;
    if (after == map_.begin()) return {0, next, Span::Unknown};
    const auto& [begin, allocation] = *std::prev(after);
    const std::uint64_t end = begin + allocation.bytes, slack_end = std::min(page_end(end), next);
    if (allocation.released && va < slack_end) return {begin, slack_end, Span::Unknown};
    if (va < end) return {begin, end, allocation.live ? Span::Live : Span::Freed};
    if (va < slack_end) return {end, slack_end, allocation.live ? Span::Slack : Span::Freed};
    return {slack_end, next, Span::Unknown};
}

/// The piece at `va`, or the gap between pieces: that is Unknown in unknown memory, Slack in a pool.
Span Allocations::piece_span(std::uint64_t va, const Span& around) const {
    const auto after = pieces_.upper_bound(va);
    const std::uint64_t next = after == pieces_.end() ? around.end : std::min(after->first, around.end);
    const Span::Kind gap = around.kind == Span::Unknown ? Span::Unknown : Span::Slack;
    if (after == pieces_.begin() || std::prev(after)->first < around.begin) return {around.begin, next, gap};
    const auto& [begin, piece] = *std::prev(after);
    const std::uint64_t end = begin + piece.bytes;
    if (va < end) return {begin, end, piece.live ? Span::Live : Span::Freed};
    return {end, next, gap};
}

Span Allocations::span(std::uint64_t va) const {
    const std::shared_lock lock{mutex_};
    const Span whole = whole_span(va);
    if (whole.kind == Span::Unknown && !code_.empty())
        if (const Span code = code_span(va, whole); code.kind == Span::Code || pieces_.empty()) return code;
    const bool unknown = whole.kind == Span::Unknown && !pieces_.empty();
    return unknown || pool_at(va) != nullptr ? piece_span(va, whole) : whole;
}

const Allocations::Map::value_type* Allocations::pool_at(std::uint64_t va) const {
    const auto after = map_.upper_bound(va);
    if (after == map_.begin()) return nullptr;
    const auto before = std::prev(after);
    return before->second.is_pool && va - before->first < before->second.bytes ? &*before : nullptr;
}

const Allocations::Map::value_type* Allocations::nearest_in(const Map& map, std::uint64_t va) {
    const auto after = map.upper_bound(va);
    std::uint64_t distance = kNear;
    const Map::value_type* result = nullptr;
    if (after != map.begin()) {
        const auto before = std::prev(after);
        const std::uint64_t end = before->first + before->second.bytes;
        if (va < end) return &*before;
        if (va - end < distance) result = &*before, distance = va - end;
    }
    if (after != map.end() && after->first - va < distance) result = &*after;
    return result;
}

/// Of a pool, a piece.
const Allocations::Map::value_type* Allocations::nearest(std::uint64_t va) const {
    const Map::value_type *piece = nearest_in(pieces_, va), *pool = pool_at(va);
    if (pool != nullptr && piece != nullptr && piece->first - pool->first < pool->second.bytes) return piece;
    const Map::value_type* whole = pool != nullptr ? pool : nearest_in(map_, va);
    return whole != nullptr ? whole : piece;
}

std::string Allocations::describe(std::uint64_t va) const {
    const std::shared_lock lock{mutex_};
    if (code_span(va, {}).kind == Span::Code) return "in the code of a loaded code object";
    const Map::value_type* found = nearest(va);
    if (found == nullptr) return "in no known allocation";
    const auto& [begin, a] = *found;
    const std::string text = fmt::format("{} allocated at {:#x} (allocation {}{}{})", bytes_text(a.bytes), begin,
                                         a.number, a.is_piece ? " of a pool" : "", a.live ? "" : ", freed");
    const std::uint64_t end = begin + a.bytes;
    if (va < begin) return fmt::format("{} before {}", bytes_text(begin - va), text);
    if (va < end) return fmt::format("at offset {} of {}", va - begin, text);
    return va == end ? "just past the end of " + text
                     : fmt::format("{} past the end of {}", bytes_text(va - end), text);
}

std::vector<HostStack> Allocations::stacks(std::uint64_t va) const {
    std::shared_lock lock{mutex_};
    const Map::value_type* found = nearest(va);
    if (found == nullptr) return {};
    const auto [made_by, freed_by] = std::pair{found->second.made_by, found->second.freed_by};
    lock.unlock();
    std::vector<HostStack> result;
    if (made_by != kNoStack) result.push_back({"allocated", {}, made_by});
    if (freed_by != kNoStack) result.push_back({"freed", {}, freed_by});
    return result;
}

}  // namespace kfdemu::check
