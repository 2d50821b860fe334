#include "lines_module.hpp"

#include <dlfcn.h>

#include <string>

namespace kfdemu::check {
namespace {

using Lines = int (*)(const void* elf, std::size_t size, std::uint64_t address,
                      void (*frame)(void*, const char* function, const char* file, unsigned line), void* context);

/// Null if it is not installed, or cannot be loaded.
Lines lines_module() {
    static const Lines found = []() -> Lines {
        Dl_info self{};
        if (dladdr(reinterpret_cast<const void*>(&source_lines), &self) == 0 || self.dli_fname == nullptr)
            return nullptr;
        std::string folder = self.dli_fname;
        folder.resize(folder.rfind('/') + 1);
        void* module = nullptr;
        for (const char* name : {"libkfdemu-lines.so", "lines/libkfdemu-lines.so"})  // installed; in a build directory
            if (module == nullptr) module = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
        return module == nullptr ? nullptr : reinterpret_cast<Lines>(dlsym(module, "kfdemu_lines"));
    }();
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
