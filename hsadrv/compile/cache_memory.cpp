#include "hsadrv/compile/cache_memory.hpp"

#include <iterator>

namespace hsadrv::detail {

std::shared_ptr<const CacheEntry> CacheMemory::load(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front();
}

void CacheMemory::store(std::shared_ptr<const CacheEntry> entry) {
    const std::size_t size = size_of(*entry);
    const std::lock_guard lock(mutex_);
    if (const auto found = by_key_.find(entry->key); found != by_key_.end()) drop(found->second);
    if (size > limit_bytes_) return;
    while (size_bytes_ + size > limit_bytes_) drop(std::prev(entries_.end()));
    entries_.push_front(std::move(entry));
    by_key_.emplace(entries_.front()->key, entries_.begin());
    size_bytes_ += size;
}

void CacheMemory::drop(Entries::iterator which) {
    size_bytes_ -= size_of(**which);
    by_key_.erase((*which)->key);
    entries_.erase(which);
}

void CacheMemory::clear() {
    const std::lock_guard lock(mutex_);
    by_key_.clear();
    entries_.clear();
    size_bytes_ = 0;
}

CacheMemory& compile_memory() {
    // Never destroyed: other threads may compile while the process ends.
    static CacheMemory& memory = *new CacheMemory(std::size_t{64} << 20);
    return memory;
}

}  // namespace hsadrv::detail
