// Memory from a pool, cut up and used again: allocating and freeing without the runtime.
//
//   hsadrv::Allocator allocator(hsadrv::device_pool(gpu));
//   hsadrv::Block block = allocator.allocate(bytes, stream);    // for work on this stream
//   kernel.launch(stream, shape, block.data(), n);
//   block = {};                                                 // freed behind that work; nothing waits
//
// A block is freed in the order of its stream, which may have it again at once: whatever it does with it
// comes after. Any other stream has it when the stream has passed the moment at which it was freed, or is
// gone. So a block may be freed while work on its stream uses it. For work on other streams, or by the host,
// wait for it before that. When memory runs out, what is cached goes back to the pool, and allocate waits for
// blocks in flight before it gives up. A stream that has failed keeps its blocks until it is destroyed. Owns:
// the memory. Blocks keep it alive, so they may outlive the Allocator; what is in flight then is freed by its
// stream. Keeps alive: the runtime. Thread safety: any thread, one short lock; a Block as any value. Every
// block is aligned to 256 bytes. Errors: OutOfMemory with what was asked for, held and in use.
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
    std::size_t limit_bytes = SIZE_MAX;  ///< held from the pool, at most
    std::size_t chunk_bytes = 2u << 20;  ///< from which blocks of up to a quarter of it are cut
    std::chrono::nanoseconds patience = std::chrono::seconds(1);  ///< for blocks in flight when memory has run out
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
    std::size_t size_bytes() const noexcept { return size_bytes_; }  ///< as asked for
    explicit operator bool() const noexcept { return data_ != nullptr; }
    /// As a kernel's argument it is its address; see kernel_args.hpp.
    friend void* kernel_argument(const Block& block) noexcept { return block.data_; }

    /// Frees it now, on the stream that it was allocated for.
    void reset() noexcept;
    /// Frees it on another stream, the last to use it: what the first one did with it must be complete, or
    /// waited for by that stream.
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
    /// Throws InvalidArgument for a chunk that is no multiple of the pool's granule.
    explicit Allocator(const MemPool& pool, const AllocatorOptions& options = {});
    Allocator(Allocator&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    Allocator& operator=(Allocator&& other) noexcept;
    ~Allocator();

    /// Zero bytes are an empty block. Throws OutOfMemory.
    Block allocate(std::size_t size_bytes, const Stream& stream,
                   std::source_location where = std::source_location::current());

    /// Gives the pool back what no work uses. Returns the bytes. Chunks that still hold a block stay.
    std::size_t release_cached();

    struct Statistics {
        std::size_t held_bytes;  ///< from the pool
        std::size_t held_peak_bytes;
        std::size_t used_bytes;  ///< in blocks handed out, as large as they were cut
        std::size_t used_peak_bytes;
        std::size_t cached_bytes;  ///< in blocks that are free, in flight or not
        std::size_t blocks;        ///< handed out
        std::uint64_t hits;        ///< of the same stream's
        std::uint64_t passed_on;   ///< from another stream, or from one that is gone
        std::uint64_t cut;         ///< anew from a chunk
        std::uint64_t chunks;      ///< taken from the pool
        std::uint64_t flushes;     ///< for want of memory
    };
    Statistics statistics() const;

  private:
    detail::AllocatorState* state_;
};

}  // namespace hsadrv
