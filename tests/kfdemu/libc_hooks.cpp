// Libraries that follow a program's mappings, as UCX does, write a jump over the beginning of libc's functions, and
// look for mapped device files in /proc/self/maps: they must see what they would see with a GPU.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/kfdemu/libc_hook.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/descriptor.hpp"

namespace {

using libc_hook::Hook;
using libc_hook::kPage;

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
