// Internal: entries in this process's memory, the most recently used ones.
//
//     CacheMemory memory(64 << 20);
//     if (auto entry = memory.load(key)) …
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "hsadrv/compile/cache_entry.hpp"

namespace hsadrv::detail {

class CacheMemory {
  public:
    explicit CacheMemory(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

    /// Null if there is none.
    std::shared_ptr<const CacheEntry> load(const std::string& key);
    /// Replaces one of the same key. Drops the least recently used ones over the limit.
    void store(std::shared_ptr<const CacheEntry> entry);
    void clear();

  private:
    using Entries = std::list<std::shared_ptr<const CacheEntry>>;  // most recently used first

    static std::size_t size_of(const CacheEntry& entry) {
        return entry.key.size() + entry.printed.size() + entry.code_object.size() + sizeof entry;
    }
    void drop(Entries::iterator which);

    const std::size_t limit_bytes_;
    std::mutex mutex_;
    std::size_t size_bytes_ = 0;
    Entries entries_;
    std::unordered_map<std::string, Entries::iterator> by_key_;
};

/// The process's own.
CacheMemory& compile_memory();

}  // namespace hsadrv::detail
