#include "tools/kfdemu/jit/code_memory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace kfdemu::jit {
namespace {

constexpr std::size_t kChunkBytes = 256 << 10, kGuardBytes = 4096, kAlignBytes = 64;

std::atomic<std::size_t> mapped_bytes{0};

// The C library's functions are interposed for the programs above: see boundary/.
std::uint8_t* map(std::size_t bytes, int protection, int flags, int fd, void* at = nullptr) {
    const long address = syscall(SYS_mmap, at, bytes, protection, flags, fd, off_t{0});  // all 64 bits of it
    return address == -1 ? nullptr : reinterpret_cast<std::uint8_t*>(address);
}

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

/// A memory file of two mappings.
class CodeMemory::Chunk {
  public:
    explicit Chunk(std::size_t bytes) : size_bytes_(bytes) {
        mapped_bytes += bytes;
        const long fd = syscall(SYS_memfd_create, "kfdemu-code", MFD_CLOEXEC);
        if (fd < 0) return;
        const int file = static_cast<int>(fd);
        if (syscall(SYS_ftruncate, file, bytes) == 0) {
            write_ = map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file);
            execute_ = map(bytes + kGuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
            if (execute_ != nullptr &&
                map(bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file, execute_) == nullptr) {
                syscall(SYS_munmap, execute_, bytes + kGuardBytes);
                execute_ = nullptr;
            }
        }
        syscall(SYS_close, file);
    }
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    ~Chunk() {
        if (write_ != nullptr) syscall(SYS_munmap, write_, size_bytes_);
        if (execute_ != nullptr) syscall(SYS_munmap, execute_, size_bytes_ + kGuardBytes);
        mapped_bytes -= size_bytes_;
    }

    /// A forked process shares the memory of the chunks before it, and must not write there.
    bool is_own() const { return process_ == getpid(); }
    /// Where it can be executed; null: no room.
    const std::uint8_t* add(std::span<const std::uint8_t> code) {
        if (write_ == nullptr || execute_ == nullptr || code.size() > size_bytes_ - used_bytes_) return nullptr;
        const std::uint8_t* const entry = execute_ + used_bytes_;
        std::memcpy(write_ + used_bytes_, code.data(), code.size());
        used_bytes_ = std::min(rounded(used_bytes_ + code.size(), kAlignBytes), size_bytes_);
        return entry;
    }

  private:
    const pid_t process_ = getpid();
    std::size_t size_bytes_, used_bytes_ = 0;
    std::uint8_t *write_ = nullptr, *execute_ = nullptr;
};

CodeMemory& CodeMemory::process() {
    static CodeMemory& memory = *new CodeMemory;  // never destroyed: workers may run while the process ends
    return memory;
}

std::unique_ptr<CodeMemory::Block> CodeMemory::store(std::span<const std::uint8_t> code) {
    const std::lock_guard lock{mutex_};
    std::shared_ptr<Chunk> chunk = open_.lock();
    if (chunk && !chunk->is_own()) chunk.reset();
    const std::uint8_t* entry = chunk ? chunk->add(code) : nullptr;
    if (entry == nullptr) {
        const std::size_t bytes = std::max(rounded(code.size(), 4096), kChunkBytes);
        if (mapped_bytes + bytes > kMostBytes) return nullptr;
        chunk = std::make_shared<Chunk>(bytes);
        entry = chunk->add(code);
        if (entry == nullptr) return nullptr;
        open_ = chunk;
    }
    return std::make_unique<Block>(std::move(chunk), entry);
}

}  // namespace kfdemu::jit
