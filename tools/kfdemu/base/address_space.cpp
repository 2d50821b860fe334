#include "tools/kfdemu/base/address_space.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace kfdemu {

void AddressSpace::enter() const {
    holders_.fetch_add(1);
    if (writers_.load() == 0) return;
    leave();
    std::unique_lock lock{mutex_};
    turn_.wait(lock, [&] { return writers_.load() == 0; });
    holders_.fetch_add(1);
}

void AddressSpace::leave() const {
    if (holders_.fetch_sub(1) != 1 || writers_.load() == 0) return;
    std::lock_guard lock{mutex_};  // a writer that is about to sleep has the mutex
    turn_.notify_all();
}

template <class Change>
void AddressSpace::change(Change&& edit) {
    std::unique_lock lock{mutex_};
    writers_.fetch_add(1);
    turn_.wait(lock, [&] { return holders_.load() == 0; });
    edit();
    generation_.fetch_add(1, std::memory_order_release);
    writers_.fetch_sub(1);
    turn_.notify_all();
}

bool AddressSpace::Range::present() const {
    // MS_ASYNC starts no I/O (since Linux 2.6.19), and fails with ENOMEM if part of the range is not mapped.
    return !user_pages || msync(host, end - begin, MS_ASYNC) == 0;
}

const AddressSpace::Range* AddressSpace::find(std::uint64_t va) const {
    auto after = std::upper_bound(ranges_.begin(), ranges_.end(), va,
                                  [](std::uint64_t value, const Range& r) { return value < r.begin; });
    if (after == ranges_.begin()) return nullptr;
    const Range& candidate = *std::prev(after);
    return va < candidate.end ? &candidate : nullptr;
}

const AddressSpace::Range* AddressSpace::find_host(const std::byte* host) const {
    const auto at = std::find_if(ranges_.begin(), ranges_.end(), [host](const Range& r) {
        return host >= r.host && static_cast<std::uint64_t>(host - r.host) < r.end - r.begin;
    });
    return at == ranges_.end() ? nullptr : &*at;
}

bool AddressSpace::maps_other(std::uint64_t begin, std::uint64_t end, std::uint64_t allocation) const {
    std::lock_guard lock{mutex_};  // changes are made under it
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [&](const Range& r) { return r.allocation != allocation && r.begin < end && begin < r.end; });
}

/// False: it overlaps another.
bool AddressSpace::insert(const Range& range) {
    auto at = std::lower_bound(ranges_.begin(), ranges_.end(), range.begin,
                               [](const Range& r, std::uint64_t value) { return r.begin < value; });
    if (at != ranges_.end() && at->begin < range.end) return false;
    if (at != ranges_.begin() && std::prev(at)->end > range.begin) return false;
    ranges_.insert(at, range);
    return true;
}

void AddressSpace::remove(std::uint64_t begin, std::uint64_t end, std::uint64_t only) {
    std::vector<Range> kept;
    kept.reserve(ranges_.size() + 1);
    for (const Range& r : ranges_) {
        if (r.end <= begin || r.begin >= end || (only && r.allocation != only)) {
            kept.push_back(r);
            continue;
        }
        if (r.begin < begin) kept.push_back({r.begin, begin, r.host, r.access, r.allocation, r.user_pages});
        if (r.end > end) kept.push_back({end, r.end, r.at(end), r.access, r.allocation, r.user_pages});
    }
    ranges_ = std::move(kept);
}

bool AddressSpace::map(const Range& range) {
    bool added = false;
    change([&] { added = insert(range); });
    return added;
}

bool AddressSpace::replace(const Range& range) {
    bool added = false;
    change([&] {
        remove(range.begin, range.end, range.allocation);
        added = insert(range);
    });
    return added;
}

void AddressSpace::unmap(std::uint64_t begin, std::uint64_t end, std::uint64_t only) {
    change([&] { remove(begin, end, only); });
}

}  // namespace kfdemu
