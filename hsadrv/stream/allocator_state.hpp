// Internal: the state that an Allocator and its Blocks share.
//
// Free blocks are kept in lists, one per size class of each stream that freed them, oldest first. A stream reuses its
// own blocks from the end, without querying its progress. For other streams, each block carries the sequence number of
// its free: a completion is taken from the freeing stream, and once that is reached, all blocks freed before it are
// available to every stream.
//
// Thread safety: one lock guards everything. References to the state are counted under it, so a Block costs no atomic
// operation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <unordered_map>
#include <vector>

#include "hsadrv/allocator.hpp"
#include "hsadrv/base/short_lock.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/memory/pool_checker.hpp"
#include "hsadrv/memory/size_class.hpp"
#include "hsadrv/stream/stream_handle.hpp"

namespace hsadrv::detail {

struct StreamCache;

/// Memory from the pool, and the blocks it is divided into.
struct Chunk {
    std::shared_ptr<Allocation> memory;
    std::size_t free_blocks = 0;
    std::vector<CachedBlock> blocks;  // never reallocated: other objects point to the blocks
    std::size_t uncut = 0;            // blocks at the end that have not been handed out yet
};

/// Handed out, or in the free list of its class.
struct CachedBlock {
    Chunk* chunk = nullptr;
    std::byte* data = nullptr;
    std::uint32_t size_class = 0;
    StreamCache* stream = nullptr;  ///< the stream that uses it, or that freed it
    std::uint64_t freed = 0;        ///< the sequence number of its free
    CachedBlock *before = nullptr, *after = nullptr;
    std::size_t checked_bytes = 0;  ///< that a checker believes to be in use; 0 without one
    std::source_location where = {};
};

/// Blocks in the order in which they were freed.
class BlockList {
  public:
    bool empty() const noexcept { return last_ == nullptr; }
    CachedBlock* oldest() const noexcept { return first_; }
    CachedBlock* latest() const noexcept { return last_; }
    void push(CachedBlock* block) noexcept {
        block->before = last_;
        block->after = nullptr;
        (last_ ? last_->after : first_) = block;
        last_ = block;
    }
    void remove(CachedBlock* block) noexcept {
        (block->before ? block->before->after : first_) = block->after;
        (block->after ? block->after->before : last_) = block->before;
    }

  private:
    CachedBlock *first_ = nullptr, *last_ = nullptr;
};

struct StreamCache {
    std::shared_ptr<StreamHandle> handle;
    std::uint64_t freed = 0;   ///< blocks freed so far
    std::uint64_t passed = 0;  ///< how many of the first of those are available to every stream
    std::optional<Completion> mark;
    std::uint64_t freed_at_mark = 0;
    std::size_t used = 0;  ///< blocks that it uses or that are in its lists
    std::array<BlockList, size_classes> lists;
};

class AllocatorState {
  public:
    AllocatorState(const MemPool& pool, const AllocatorOptions& options);
    AllocatorState(const AllocatorState&) = delete;
    AllocatorState& operator=(const AllocatorState&) = delete;

    CachedBlock* allocate(std::size_t size_bytes, const std::shared_ptr<StreamHandle>& stream,
                          const std::source_location& where);
    void free(CachedBlock* block) noexcept;
    void free_on(CachedBlock* block, const std::shared_ptr<StreamHandle>& stream);
    std::size_t release_cached();
    Allocator::Statistics statistics() const;
    /// Called when the Allocator is destroyed. The state deletes itself with the last block.
    void release() noexcept;

  private:
    ~AllocatorState();
    [[noreturn]] void refuse(std::size_t size_bytes) const;

    // With the mutex held.
    StreamCache& cache_of(const std::shared_ptr<StreamHandle>& stream);
    void forget_gone_streams() noexcept;
    CachedBlock* find(std::size_t wanted, std::size_t size_bytes, StreamCache& stream,
                      std::unique_lock<ShortLock>& held);
    CachedBlock* take(CachedBlock* block, StreamCache& stream) noexcept;
    /// A block that the stream itself freed; null if none has that size.
    CachedBlock* take_own(std::size_t wanted, StreamCache& stream) noexcept;
    CachedBlock* hand_out(CachedBlock* block, StreamCache& stream) noexcept;
    CachedBlock* passed_on(std::size_t wanted, StreamCache& stream);
    CachedBlock* try_fresh(std::size_t wanted, StreamCache& stream);
    Chunk* try_chunk(std::size_t wanted, std::size_t size_bytes);
    CachedBlock* when_exhausted(std::size_t wanted, std::size_t size_bytes, StreamCache& stream,
                                std::unique_lock<ShortLock>& held);
    void put_back(CachedBlock* block) noexcept;
    // For a checker.
    void check_allocated(CachedBlock* block, std::size_t size_bytes) noexcept;
    void check_freed(CachedBlock* block) noexcept;
    void check_passed() noexcept;
    static void advance(StreamCache& cache);
    bool anything_in_flight() const noexcept;
    std::size_t flush();
    bool unreferenced() const noexcept { return !owned_ && statistics_.blocks == 0; }
    std::string situation() const;

    mutable ShortLock mutex_;
    DriverRef runtime_;
    MemPool pool_;
    AllocatorOptions options_;
    std::size_t most_bytes_;
    bool owned_ = true;  // the Allocator exists
    Allocator::Statistics statistics_{};
    std::list<StreamCache> streams_;
    std::unordered_map<const StreamHandle*, std::list<StreamCache>::iterator> by_handle_;
    StreamCache* latest_ = nullptr;  // the stream that allocated last: most programs have one
    StreamCache common_;             // blocks freed by streams that were destroyed; belongs to no stream
    std::list<Chunk> chunks_;
    const PoolChecker* const checker_ = PoolChecker::find();
    std::vector<CachedBlock*> unchecked_frees_;   // freed, but the checker does not know yet: in flight
    std::array<Chunk*, size_classes> cutting_{};  // the chunk of each class that has uncut blocks
};

// The fast paths of allocation and free, inline.

inline CachedBlock* AllocatorState::hand_out(CachedBlock* block, StreamCache& stream) noexcept {
    ++stream.used;
    block->stream = &stream;
    --block->chunk->free_blocks;
    ++statistics_.blocks;
    statistics_.used_bytes += class_bytes(block->size_class);
    statistics_.used_peak_bytes = std::max(statistics_.used_peak_bytes, statistics_.used_bytes);
    return block;
}

inline CachedBlock* AllocatorState::take(CachedBlock* block, StreamCache& stream) noexcept {
    block->stream->lists[block->size_class].remove(block);
    --block->stream->used;
    statistics_.cached_bytes -= class_bytes(block->size_class);
    return hand_out(block, stream);
}

inline CachedBlock* AllocatorState::take_own(std::size_t wanted, StreamCache& stream) noexcept {
    CachedBlock* const own = stream.lists[wanted].latest();
    if (own == nullptr) [[unlikely]]
        return nullptr;
    ++statistics_.hits;
    return take(own, stream);
}

inline void AllocatorState::put_back(CachedBlock* block) noexcept {
    StreamCache& stream = *block->stream;
    block->freed = ++stream.freed;
    stream.lists[block->size_class].push(block);
    ++block->chunk->free_blocks;
    --statistics_.blocks;
    statistics_.used_bytes -= class_bytes(block->size_class);
    statistics_.cached_bytes += class_bytes(block->size_class);
    if (checker_ != nullptr) [[unlikely]]
        check_freed(block);
}

}  // namespace hsadrv::detail
