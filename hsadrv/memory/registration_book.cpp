#include "hsadrv/memory/registration_book.hpp"

#include <algorithm>
#include <utility>

namespace hsadrv::detail {

namespace {

bool same_bytes(const HostRange& a, const HostRange& b) noexcept {
    return a.begin == b.begin && a.size_bytes == b.size_bytes && a.kind == b.kind;
}

bool serves(const HostLock& lock, const HostRange& wanted) noexcept {
    return same_bytes(lock.range, wanted) && std::includes(lock.range.agents.begin(), lock.range.agents.end(),
                                                           wanted.agents.begin(), wanted.agents.end());
}

}  // namespace

std::optional<RegistrationBook::Entry> RegistrationBook::share(const HostRange& range, bool scoped) {
    const auto [first, last] = by_host_.equal_range(range.begin);
    const auto found = std::find_if(first, last, [&](const auto& entry) { return serves(entry.second->lock, range); });
    if (found == last) return std::nullopt;
    return Entry{enter(found->second, scoped), found->second->lock.device};
}

std::optional<std::uintptr_t> RegistrationBook::reserve_name(std::uintptr_t begin) {
    if (names_.insert(begin).second) return begin;
    const std::uintptr_t page = begin / page_bytes * page_bytes;
    for (std::uintptr_t name = page; name < page + page_bytes; ++name)
        if (names_.insert(name).second) return name;
    return std::nullopt;
}

// All or nothing, here and in add(): if memory runs out, what has been entered is removed again.
RegistrationBook::Id RegistrationBook::enter(Locks::iterator lock, bool scoped) {
    const Id id = last_id_ + 1;
    const auto entered = registered_.emplace(id, lock).first;
    try {
        (scoped ? lock->scoped : lock->unscoped).insert(id);
    } catch (...) {
        registered_.erase(entered);
        throw;
    }
    return last_id_ = id;
}

RegistrationBook::Id RegistrationBook::add(HostLock lock, bool scoped) {
    locks_.push_back({std::move(lock), {}, {}});
    const auto record = std::prev(locks_.end());
    const HostLock& kept = record->lock;
    try {
        by_host_.emplace(kept.range.begin, record);
        by_device_.emplace(kept.device, record);
        longest_bytes_ = std::max(longest_bytes_, kept.range.size_bytes);
        return enter(record, scoped);
    } catch (...) {
        erase(by_host_, kept.range.begin, record);
        erase(by_device_, kept.device, record);
        locks_.pop_back();
        throw;
    }
}

void RegistrationBook::erase(Index& index, std::uintptr_t key, Locks::iterator lock) noexcept {
    const auto [first, last] = index.equal_range(key);
    const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second == lock; });
    if (found != last) index.erase(found);
}

std::optional<HostLock> RegistrationBook::remove(Id id) {
    const auto found = registered_.find(id);
    if (found == registered_.end()) return std::nullopt;
    const auto record = found->second;
    registered_.erase(found);
    record->scoped.erase(id);
    record->unscoped.erase(id);
    if (!record->scoped.empty() || !record->unscoped.empty()) return std::nullopt;
    erase(by_host_, record->lock.range.begin, record);
    erase(by_device_, record->lock.device, record);
    std::optional<HostLock> last(std::move(record->lock));
    locks_.erase(record);
    return last;
}

std::optional<RegistrationBook::Id> RegistrationBook::latest(std::uintptr_t begin,
                                                             std::optional<std::size_t> size_bytes) const {
    std::optional<Id> latest;
    const auto [first, last] = by_host_.equal_range(begin);
    for (auto it = first; it != last; ++it) {
        const Record& record = *it->second;
        if (size_bytes && record.lock.range.size_bytes != *size_bytes) continue;
        if (!record.unscoped.empty()) latest = std::max(latest.value_or(0), *record.unscoped.rbegin());
    }
    return latest;
}

const HostLock* RegistrationBook::furthest(const Index& index, std::uintptr_t address) const {
    const HostLock* best = nullptr;
    std::size_t most = 0;
    for (auto it = index.upper_bound(address); it != index.begin();) {
        const auto& [begin, record] = *--it;
        const std::size_t size_bytes = record->lock.range.size_bytes;
        if (address - begin >= longest_bytes_) break;
        if (address - begin >= size_bytes) continue;
        if (const std::size_t after = size_bytes - (address - begin); after > most) {
            best = &record->lock;
            most = after;
        }
    }
    return best;
}

const HostLock* RegistrationBook::covering(std::uintptr_t address) const {
    if (const HostLock* lock = furthest(by_host_, address)) return lock;
    return furthest(by_device_, address);
}

std::optional<RegistrationBook::Id> RegistrationBook::any() const {
    if (registered_.empty()) return std::nullopt;
    return registered_.begin()->first;
}

}  // namespace hsadrv::detail
