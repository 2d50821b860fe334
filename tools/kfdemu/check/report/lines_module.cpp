#include "tools/kfdemu/check/report/lines_module.hpp"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "tools/kfdemu/base/companion.hpp"

namespace kfdemu::check {
namespace {

using Lines = int (*)(const void* elf, std::size_t size, std::uint64_t address,
                      void (*frame)(void*, const char* function, const char* file, unsigned line), void* context);

std::atomic<Lines> known{nullptr};  // release when loaded
std::atomic<bool> is_missing{false};

/// Null if it is not installed, or cannot be loaded. No lock is held around dlopen(), which may wait for a thread that
/// needs the module too: two threads may load it.
Lines lines_module() {
    if (const Lines loaded = known.load(std::memory_order_acquire)) return loaded;
    if (is_missing.load(std::memory_order_relaxed)) return nullptr;
    const Lines found = []() -> Lines {
        const std::string path = companion("libkfdemu-lines.so", "lines");
        void* module = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        return module == nullptr ? nullptr : reinterpret_cast<Lines>(dlsym(module, "kfdemu_lines"));
    }();
    found ? known.store(found, std::memory_order_release) : is_missing.store(true, std::memory_order_relaxed);
    return found;
}

void add_frame(void* context, const char* function, const char* file, unsigned line) {
    static_cast<std::vector<Frame>*>(context)->push_back({function, file, line});
}

}  // namespace

std::vector<Frame> source_lines(std::span<const std::byte> elf, std::uint64_t address) {
    std::vector<Frame> frames;
    if (const Lines lines = lines_module()) lines(elf.data(), elf.size(), address, add_frame, &frames);
    return frames;
}

}  // namespace kfdemu::check
