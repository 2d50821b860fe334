// Libraries that follow a program's mappings, as UCX does, write a jump over the beginning of libc's functions, and
// look for mapped device files in /proc/self/maps: they must see what they would see with a GPU.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "support/catch.hpp"
#include "support/descriptor.hpp"

namespace {

constexpr std::size_t kPage = 4096;

/// A jump over the beginning of libc's function, for the lifetime of this object. x86-64.
class Hook {
  public:
    Hook(const char* function, const void* replacement) : at_(find(function)) {
        REQUIRE(at_);
        const auto page = reinterpret_cast<std::uintptr_t>(at_) & ~(kPage - 1);
        REQUIRE(mprotect(reinterpret_cast<void*>(page), 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
        std::memcpy(before_.data(), at_, before_.size());
        std::array<unsigned char, 12> jump{0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // movabs rax, …; jmp rax
        std::memcpy(&jump[2], &replacement, sizeof replacement);
        std::memcpy(at_, jump.data(), jump.size());
    }
    ~Hook() { std::memcpy(at_, before_.data(), before_.size()); }
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;

  private:
    static void* find(const char* function) {
        void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
        return libc ? dlsym(libc, function) : nullptr;
    }

    void* at_;
    std::array<unsigned char, 12> before_{};
};

int maps = 0;
int unmaps = 0;

void* count_map(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
    ++maps;
    return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, fd, offset));
}
int count_unmap(void* address, std::size_t size) {
    ++unmaps;
    return static_cast<int>(syscall(SYS_munmap, address, size));
}

}  // namespace

TEST_CASE("a library that patches libc's mmap and munmap sees the program's calls", "[boundary]") {
    void* pages = nullptr;
    {
        const Hook map("mmap", reinterpret_cast<const void*>(&count_map));
        const Hook unmap("munmap", reinterpret_cast<const void*>(&count_unmap));
        pages = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages != MAP_FAILED) munmap(pages, kPage);
    }
    CHECK(pages != MAP_FAILED);
    CHECK(maps == 1);
    CHECK(unmaps == 1);
}

TEST_CASE("mapped memory of a GPU has the name of its device file", "[boundary]") {
    for (const std::string path : {"/dev/dri/renderD128", "/dev/kfd"}) {
        INFO(path);
        const test_support::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
        void* page = mmap(nullptr, kPage, PROT_NONE, MAP_SHARED, file, 0);
        REQUIRE(page != MAP_FAILED);
        std::ifstream maps("/proc/self/maps");
        const std::string text{std::istreambuf_iterator<char>(maps), {}};
        munmap(page, kPage);
        CHECK(text.find(" " + path + "\n") != text.npos);
        CHECK(text.find("[stack]") != text.npos);
    }
}
