#include "hsadrv/allocator.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/leak.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/allocator_state.hpp"
#include "hsadrv/stream/live_streams.hpp"

namespace hsadrv {

namespace detail {

namespace {
using namespace std::chrono_literals;

constexpr auto look_again = 100us;

bool flushable(const CachedBlock& block) noexcept { return block.freed <= block.stream->passed; }
}  // namespace

AllocatorState::AllocatorState(const MemPool& pool, const AllocatorOptions& options)
    : runtime_(Driver::current("hsadrv::Allocator")),
      pool_(pool),
      options_(options),
      most_bytes_(std::min(pool.alloc_max_bytes(), largest_block_bytes)) {
    const std::size_t granule = pool.alloc_granule_bytes();
    if (options.chunk_bytes == 0 || granule == 0 || options.chunk_bytes % granule != 0)
        throw InvalidArgument("hsadrv::Allocator(" + pool.label() + ", chunk_bytes " +
                              std::to_string(options.chunk_bytes) + "): the size must be a multiple of " +
                              std::to_string(granule));
}

// Blocks that are free but in flight keep their memory until their streams have passed them.
AllocatorState::~AllocatorState() {
    for (StreamCache& cache : streams_) advance(cache);
    for (Chunk& chunk : chunks_) {
        const StreamCache* told = nullptr;
        for (std::size_t i = 0; i < chunk.blocks.size() - chunk.uncut; ++i) {
            const CachedBlock& block = chunk.blocks[i];
            if (flushable(block) || block.stream == told) continue;
            told = block.stream;
            try {
                told->handle->keep_alive(chunk.memory);
            } catch (...) {
                leak(chunk.memory);
            }
        }
    }
}

void AllocatorState::release() noexcept {
    bool last = false;
    {
        const std::lock_guard held(mutex_);
        owned_ = false;
        last = unreferenced();
    }
    if (last) delete this;
}

StreamCache& AllocatorState::cache_of(const std::shared_ptr<StreamHandle>& stream) {
    if (latest_ != nullptr && latest_->handle == stream) [[likely]]
        return *latest_;
    if (const auto found = by_handle_.find(stream.get()); found != by_handle_.end())
        return *(latest_ = &*found->second);
    forget_gone_streams();
    streams_.emplace_back().handle = stream;
    by_handle_.emplace(stream.get(), std::prev(streams_.end()));
    return *(latest_ = &streams_.back());
}

// Blocks freed by a destroyed stream become available to every stream.
void AllocatorState::forget_gone_streams() noexcept {
    for (auto cache = streams_.begin(); cache != streams_.end();) {
        const auto next = std::next(cache);
        if (cache->handle->state() == StreamHandle::State::gone) {
            for (std::size_t i = 0; i < size_classes; ++i)
                while (CachedBlock* block = cache->lists[i].oldest()) {
                    cache->lists[i].remove(block);
                    --cache->used;
                    block->stream = &common_;
                    block->freed = 0;
                    common_.lists[i].push(block);
                }
            if (cache->used == 0) {
                if (latest_ == &*cache) latest_ = nullptr;
                by_handle_.erase(cache->handle.get());
                streams_.erase(cache);
            }
        }
        cache = next;
    }
}

CachedBlock* AllocatorState::allocate(std::size_t size_bytes, const std::shared_ptr<StreamHandle>& stream,
                                      const std::source_location& where) {
    if (size_bytes > most_bytes_) [[unlikely]]
        refuse(size_bytes);
    const std::size_t wanted = size_class(size_bytes);
    mutex_.lock();
    if (latest_ != nullptr && latest_->handle == stream) [[likely]]
        if (CachedBlock* const block = take_own(wanted, *latest_)) [[likely]] {
            block->where = where;
            if (checker_ != nullptr) [[unlikely]]
                check_allocated(block, size_bytes);
            mutex_.unlock();
            return block;
        }
    std::unique_lock held(mutex_, std::adopt_lock);
    CachedBlock* const block = find(wanted, size_bytes, cache_of(stream), held);
    block->where = where;
    if (checker_ != nullptr) check_allocated(block, size_bytes);
    return block;
}

// A block that its stream reuses in flight is still used by earlier work: the checker is told the larger of both sizes.
void AllocatorState::check_allocated(CachedBlock* block, std::size_t size_bytes) noexcept {
    check_passed();
    std::erase(unchecked_frees_, block);
    block->checked_bytes = std::max(size_bytes, block->checked_bytes);
    checker_->allocated(block->data, block->checked_bytes);
}

void AllocatorState::check_freed(CachedBlock* block) noexcept {
    try {
        unchecked_frees_.push_back(block);
    } catch (const std::bad_alloc&) {
        return;  // the checker never learns of it, and reports less
    }
    check_passed();
}

// A free is in the order of its stream: the checker learns of it when the stream has passed it.
void AllocatorState::check_passed() noexcept {
    std::erase_if(unchecked_frees_, [this](CachedBlock* block) {
        if (!flushable(*block)) advance(*block->stream);
        if (!flushable(*block)) return false;
        block->checked_bytes = 0;
        checker_->freed(block->data);
        return true;
    });
}

void AllocatorState::refuse(std::size_t size_bytes) const {
    throw OutOfMemory("hsadrv::Allocator::allocate(" + std::to_string(size_bytes) + " B, " + pool_.label() +
                          "): exceeds the limit of " + std::to_string(most_bytes_) + " B for one allocation",
                      HSA_STATUS_ERROR_OUT_OF_RESOURCES);
}

// In order: the stream's own blocks, another stream's, a new one, or one that is freed in time.
CachedBlock* AllocatorState::find(std::size_t wanted, std::size_t size_bytes, StreamCache& stream,
                                  std::unique_lock<ShortLock>& held) {
    if (CachedBlock* const own = take_own(wanted, stream)) return own;
    if (CachedBlock* const other = passed_on(wanted, stream)) return other;
    if (CachedBlock* const fresh = try_fresh(wanted, stream)) return fresh;
    return when_exhausted(wanted, size_bytes, stream, held);
}

// Takes a completion from the stream only when another stream wants its blocks, and queries it later.
void AllocatorState::advance(StreamCache& cache) {
    if (cache.passed == cache.freed) return;
    if (cache.handle->state() == StreamHandle::State::gone) {
        cache.passed = cache.freed;
        return;
    }
    if (!cache.mark) {
        cache.mark = cache.handle->mark();
        cache.freed_at_mark = cache.freed;
    }
    if (!cache.mark || !cache.handle->reached(*cache.mark)) return;
    cache.passed = cache.freed_at_mark;
    cache.mark.reset();
}

CachedBlock* AllocatorState::passed_on(std::size_t wanted, StreamCache& stream) {
    const auto from = [&](StreamCache& cache) -> CachedBlock* {
        CachedBlock* const oldest = cache.lists[wanted].oldest();
        if (oldest == nullptr || &cache == &stream) return nullptr;
        if (!flushable(*oldest)) advance(cache);
        if (!flushable(*oldest)) return nullptr;
        ++statistics_.passed_on;
        return take(oldest, stream);
    };
    if (CachedBlock* block = from(common_)) return block;
    for (StreamCache& cache : streams_)
        if (CachedBlock* block = from(cache)) return block;
    return nullptr;
}

CachedBlock* AllocatorState::try_fresh(std::size_t wanted, StreamCache& stream) {
    Chunk* chunk = cutting_[wanted];
    if (chunk == nullptr || chunk->uncut == 0) {
        const std::size_t one = std::min(class_bytes(wanted), most_bytes_);
        const std::size_t many = one <= options_.chunk_bytes / 4 ? options_.chunk_bytes : one;
        chunk = try_chunk(wanted, many);
        if (chunk == nullptr && many > one) chunk = try_chunk(wanted, one);
        if (chunk == nullptr) return nullptr;
        cutting_[wanted] = chunk;
    }
    CachedBlock* const block = &chunk->blocks[chunk->blocks.size() - chunk->uncut--];
    ++statistics_.cut;
    return hand_out(block, stream);
}

Chunk* AllocatorState::try_chunk(std::size_t wanted, std::size_t size_bytes) {
    if (size_bytes > options_.limit_bytes || statistics_.held_bytes > options_.limit_bytes - size_bytes) return nullptr;
    Chunk chunk;
    try {
        chunk.memory = std::make_shared<Allocation>(Allocation::from_pool(pool_, size_bytes));
    } catch (const OutOfMemory&) {
        return nullptr;
    }
    chunk.blocks.resize(std::max<std::size_t>(1, size_bytes / class_bytes(wanted)));
    chunk.uncut = chunk.free_blocks = chunk.blocks.size();
    chunks_.push_back(std::move(chunk));
    Chunk& kept = chunks_.back();
    auto* data = static_cast<std::byte*>(kept.memory->data());
    for (CachedBlock& block : kept.blocks) {
        block.chunk = &kept;
        block.data = std::exchange(data, data + class_bytes(wanted));
        block.size_class = static_cast<std::uint32_t>(wanted);
    }
    ++statistics_.chunks;
    statistics_.held_bytes += size_bytes;
    statistics_.held_peak_bytes = std::max(statistics_.held_peak_bytes, statistics_.held_bytes);
    return &kept;
}

CachedBlock* AllocatorState::when_exhausted(std::size_t wanted, std::size_t size_bytes, StreamCache& stream,
                                            std::unique_lock<ShortLock>& held) {
    const Deadline deadline(options_.patience);
    ++statistics_.flushes;
    ++stream.used;  // keeps the cache alive while the lock is released
    CachedBlock* block = nullptr;
    while (block == nullptr) {
        // First return the blocks that streams still hold although their work has completed.
        held.unlock();
        const bool held_in_flight = live_streams::retire_holds();
        held.lock();
        flush();
        // Blocks that this stream freed meanwhile, blocks of other streams, or new memory from the pool.
        if ((block = stream.lists[wanted].latest()) != nullptr) {
            take(block, stream);
        } else if ((block = passed_on(wanted, stream)) == nullptr && (block = try_fresh(wanted, stream)) == nullptr) {
            if ((!anything_in_flight() && !held_in_flight) || deadline.passed()) break;
            held.unlock();
            std::this_thread::sleep_for(look_again);
            held.lock();
        }
    }
    --stream.used;
    if (block != nullptr) return block;
    throw OutOfMemory(
        "hsadrv::Allocator::allocate(" + std::to_string(size_bytes) + " B, " + pool_.label() + "): " + situation(),
        HSA_STATUS_ERROR_OUT_OF_RESOURCES);
}

std::string AllocatorState::situation() const {
    const auto bytes = [](std::size_t count) { return std::to_string(count) + " B "; };
    return bytes(statistics_.held_bytes) + "held of " + bytes(pool_.size_bytes()) + "in pool" +
           (options_.limit_bytes != SIZE_MAX ? " and " + bytes(options_.limit_bytes) + "allowed" : "") + ", " +
           bytes(statistics_.used_bytes) + "of them in " + std::to_string(statistics_.blocks) + " blocks, " +
           bytes(statistics_.cached_bytes) + "freed but in flight or of other sizes";
}

bool AllocatorState::anything_in_flight() const noexcept {
    return std::any_of(streams_.begin(), streams_.end(), [](const StreamCache& cache) {
        return cache.passed != cache.freed && cache.handle->state() != StreamHandle::State::lost;
    });
}

std::size_t AllocatorState::flush() {
    forget_gone_streams();
    for (StreamCache& cache : streams_) advance(cache);
    check_passed();  // whole chunks leave below
    std::size_t freed = 0;
    for (auto chunk = chunks_.begin(); chunk != chunks_.end();) {
        const auto next = std::next(chunk);
        const auto cut_end = chunk->blocks.end() - static_cast<std::ptrdiff_t>(chunk->uncut);
        if (chunk->free_blocks == chunk->blocks.size() && std::all_of(chunk->blocks.begin(), cut_end, flushable)) {
            for (auto block = chunk->blocks.begin(); block != cut_end; ++block) {
                block->stream->lists[block->size_class].remove(&*block);
                --block->stream->used;
                statistics_.cached_bytes -= class_bytes(block->size_class);
            }
            Chunk*& cutting = cutting_[chunk->blocks.front().size_class];
            if (cutting == &*chunk) cutting = nullptr;
            freed += chunk->memory->size_bytes();
            chunks_.erase(chunk);
        }
        chunk = next;
    }
    statistics_.held_bytes -= freed;
    return freed;
}

std::size_t AllocatorState::release_cached() {
    live_streams::retire_holds();
    const std::lock_guard held(mutex_);
    return flush();
}

void AllocatorState::free(CachedBlock* block) noexcept {
    bool last = false;
    {
        const std::lock_guard held(mutex_);
        put_back(block);
        last = unreferenced();
    }
    if (last) delete this;
}

void AllocatorState::free_on(CachedBlock* block, const std::shared_ptr<StreamHandle>& stream) {
    bool last = false;
    {
        const std::lock_guard held(mutex_);
        StreamCache& cache = cache_of(stream);
        --block->stream->used;
        ++cache.used;
        block->stream = &cache;
        put_back(block);
        last = unreferenced();
    }
    if (last) delete this;
}

Allocator::Statistics AllocatorState::statistics() const {
    const std::lock_guard held(mutex_);
    return statistics_;
}

}  // namespace detail

void Block::reset() noexcept {
    if (block_ == nullptr) return;
    if (!in_forked_child())
        detail::call_log::logged(
            detail::call_log::Area::memory, "Block::reset", [&] { return detail::hex(data()); },
            [&] { state_->free(block_); });
    forget();
}

void Block::free_on(const Stream& stream) {
    if (block_ == nullptr) return;
    refuse_in_forked_child("hsadrv::Block::free_on");
    state_->free_on(block_, stream.handle());
    forget();
}

Allocator::Allocator(const MemPool& pool, const AllocatorOptions& options)
    : state_(new detail::AllocatorState(pool, options)) {}

Allocator& Allocator::operator=(Allocator&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}

Allocator::~Allocator() {
    if (state_ != nullptr && !in_forked_child()) state_->release();
}

Block Allocator::allocate(std::size_t size_bytes, const Stream& stream, std::source_location where) {
    refuse_in_forked_child("hsadrv::Allocator::allocate");
    if (size_bytes == 0) return {};
    return detail::call_log::logged(
        detail::call_log::Area::memory, "Allocator::allocate", [&] { return std::to_string(size_bytes) + " B"; },
        [&] {
            detail::CachedBlock* const block = state_->allocate(size_bytes, stream.handle(), where);
            return Block(state_, block, block->data, size_bytes);
        });
}

std::size_t Allocator::release_cached() {
    return detail::call_log::logged(
        detail::call_log::Area::memory, "Allocator::release_cached", [] { return std::string(); },
        [&] {
            refuse_in_forked_child("Allocator::release_cached");
            return state_->release_cached();
        });
}
Allocator::Statistics Allocator::statistics() const {
    refuse_in_forked_child("Allocator::statistics");
    return state_->statistics();
}

}  // namespace hsadrv
