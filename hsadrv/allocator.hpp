// A stream-ordered caching allocator: it suballocates memory of a pool, and does not call the runtime in steady state.
//
//   hsadrv::Allocator allocator(hsadrv::device_pool(gpu));
//   hsadrv::Block block = allocator.allocate(bytes, stream);    // for work on this stream
//   kernel.launch(stream, shape, block.data(), n);
//   block = {};                                                 // freed after that work; does not block
//
// A block is freed in the order of its stream. That stream may reuse it at once, because later work is ordered after
// the free. Another stream may reuse it once the first stream has passed the free or was destroyed. So a block may be
// freed while work on its stream uses it. If other streams or the host use it, wait for them before freeing it. When
// memory runs out, cached chunks return to the pool, and allocate() waits for blocks in flight before it fails. A
// failed stream keeps its blocks until it is destroyed. Every block is aligned to 256 bytes. Owns: the memory. Blocks
// keep it alive, so they may outlive the Allocator; blocks in flight are then freed by their stream. Keeps alive: the
// runtime. Thread safety: any thread, one short lock; a Block as any value.
// Errors: OutOfMemory with the bytes requested, held and in use.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>

#include "hsadrv/mem_pool.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

namespace detail {
class AllocatorState;
struct CachedBlock;
}  // namespace detail

struct AllocatorOptions {
    std::size_t limit_bytes = SIZE_MAX;  ///< the most that is held from the pool
    std::size_t chunk_bytes = 2u << 20;  ///< blocks of up to a quarter of this are cut from a chunk
    std::chrono::nanoseconds patience = std::chrono::seconds(1);  ///< wait for blocks in flight when out of memory
};

class Block {
  public:
    Block() noexcept = default;
    Block(Block&& other) noexcept
        : state_(other.state_), block_(other.block_), data_(other.data_), size_bytes_(other.size_bytes_) {
        other.forget();
    }
    Block& operator=(Block&& other) noexcept {
        Block old(std::move(*this));
        std::swap(state_, other.state_);
        std::swap(block_, other.block_);
        std::swap(data_, other.data_);
        std::swap(size_bytes_, other.size_bytes_);
        return *this;
    }
    /// Frees it on the stream that it was allocated for.
    ~Block() { reset(); }

    void* data() const noexcept { return data_; }
    template <class T>
    T* as() const noexcept {
        return static_cast<T*>(data_);
    }
    std::size_t size_bytes() const noexcept { return size_bytes_; }  ///< as requested
    explicit operator bool() const noexcept { return data_ != nullptr; }
    /// A kernel receives its address; see kernel_args.hpp.
    friend void* kernel_argument(const Block& block) noexcept { return block.data_; }

    /// Frees it now, on the stream that it was allocated for.
    void reset() noexcept;
    /// Frees it on another stream, the last one that uses it. The first stream's work on it must be complete, or
    /// `stream` must have waited for it.
    void free_on(const Stream& stream);

  private:
    friend class Allocator;
    Block(detail::AllocatorState* state, detail::CachedBlock* block, void* data, std::size_t size_bytes) noexcept
        : state_(state), block_(block), data_(data), size_bytes_(size_bytes) {}
    void forget() noexcept {
        state_ = nullptr;
        block_ = nullptr;
        data_ = nullptr;
        size_bytes_ = 0;
    }

    detail::AllocatorState* state_ = nullptr;
    detail::CachedBlock* block_ = nullptr;
    void* data_ = nullptr;
    std::size_t size_bytes_ = 0;
};

class Allocator {
  public:
    /// Throws InvalidArgument if chunk_bytes is not a multiple of the pool's granule.
    explicit Allocator(const MemPool& pool, const AllocatorOptions& options = {});
    Allocator(Allocator&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    Allocator& operator=(Allocator&& other) noexcept;
    ~Allocator();

    /// Zero bytes give an empty block. Throws OutOfMemory.
    Block allocate(std::size_t size_bytes, const Stream& stream,
                   std::source_location where = std::source_location::current());

    /// Returns unused chunks to the pool, and the number of bytes to the caller. Chunks with a block in use or in
    /// flight stay. Releases first what streams keep alive for completed work: call it with no lock held that a
    /// destructor of such an object takes.
    std::size_t release_cached();

    struct Statistics {
        std::size_t held_bytes;  ///< from the pool
        std::size_t held_peak_bytes;
        std::size_t used_bytes;  ///< in blocks handed out, with rounding
        std::size_t used_peak_bytes;
        std::size_t cached_bytes;  ///< in freed blocks, in flight or not
        std::size_t blocks;        ///< handed out
        std::uint64_t hits;        ///< reused from the same stream
        std::uint64_t passed_on;   ///< reused from another stream, or from a destroyed one
        std::uint64_t cut;         ///< newly cut from a chunk
        std::uint64_t chunks;      ///< taken from the pool
        std::uint64_t flushes;     ///< returns of cached chunks because memory ran out
    };
    Statistics statistics() const;

  private:
    detail::AllocatorState* state_;
};

}  // namespace hsadrv
