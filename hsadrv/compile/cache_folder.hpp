// Internal: entries on disk, in a folder that processes share.
//
//     const CacheFolder folder(cache_place());
//     if (auto entry = folder.load(key)) …
//     folder.store(entry);                      // does nothing if the folder cannot be written
//
// An entry is a file named by its key's digest. It is written under a temporary name and renamed, so that a reader has
// all of it or none; one that is damaged all the same is removed. A load makes an entry the youngest; a store removes
// the oldest ones once all together are larger than the limit. Thread safety: any thread, any process. No call throws
// for what is wrong with the folder. Files of other users are not read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hsadrv/compile/cache_entry.hpp"

namespace hsadrv::detail {

struct CachePlace {
    std::string folder;  ///< empty: no cache on disk
    std::uint64_t limit_bytes = std::uint64_t{256} << 20;
};

/// As $HSADRV_CACHE ("off" or a folder), $XDG_CACHE_HOME, $HOME and $HSADRV_CACHE_SIZE (bytes, or with K, M or G) say.
/// Throws InvalidArgument for a size that is none.
CachePlace cache_place();

/// "64M". Throws InvalidArgument naming the variable.
std::uint64_t parse_size(const std::string& text);

class CacheFolder {
  public:
    explicit CacheFolder(CachePlace place) : place_(std::move(place)) {}

    std::optional<CacheEntry> load(const std::string& key) const;
    void store(const CacheEntry& entry) const noexcept;
    /// Removes the oldest entries until the rest is a tenth below the limit, and what killed processes left.
    void trim() const noexcept;

    /// The file of a key's entry.
    std::string file_of(const std::string& key) const;

  private:
    void write(const CacheEntry& entry) const;
    /// Of an entry: larger ones are neither written nor read.
    std::uint64_t most_bytes() const;
    CachePlace place_;
};

}  // namespace hsadrv::detail
