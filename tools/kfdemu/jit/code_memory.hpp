// Memory for translated code: written through one mapping and executed through another, so that none is ever both.
//
//     if (auto block = CodeMemory::process().store(bytes)) call(block->entry());
//
// Blocks share chunks of 256 KiB, which are freed with their last block. A guard page follows each chunk.
// Thread safety: any thread. Lifetime: a block's code until the last copy of its pointer is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

namespace kfdemu::jit {

class CodeMemory {
  public:
    class Chunk;
    class Block {
      public:
        Block(std::shared_ptr<Chunk> chunk, const std::uint8_t* entry) : chunk_(std::move(chunk)), entry_(entry) {}
        const std::uint8_t* entry() const { return entry_; }

      private:
        std::shared_ptr<Chunk> chunk_;
        const std::uint8_t* entry_;
    };

    /// Of translated code in a process. Beyond it, code is interpreted.
    static constexpr std::size_t kMostBytes = std::size_t{128} << 20;

    static CodeMemory& process();

    /// Around a fork(): no other thread has the lock in the child.
    void before_fork() { mutex_.lock(); }
    void after_fork() { mutex_.unlock(); }

    /// Null if the limit is reached, or the host refuses executable memory.
    std::unique_ptr<Block> store(std::span<const std::uint8_t> code);

  private:
    std::mutex mutex_;
    std::weak_ptr<Chunk> open_;
};

}  // namespace kfdemu::jit
