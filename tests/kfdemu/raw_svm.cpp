// Attributes of pages that the program unmaps and moves: they end with the pages.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "tests/kfdemu/libc_hook.hpp"
#include "tests/kfdemu/raw_kfd.hpp"
#include "tests/support/descriptor.hpp"

using namespace raw_kfd;
using libc_hook::Hook;
using libc_hook::kPage;

namespace {

constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;

struct Request {
    abi::Svm svm;
    abi::SvmAttribute attribute;
};

int run(int fd, std::uint32_t operation, const void* begin, std::size_t pages, abi::SvmAttribute& attribute) {
    Request request{{reinterpret_cast<std::uint64_t>(begin), pages * kPage, operation, 1}, attribute};
    const int result = call(fd, abi::kSvm, request);
    attribute = request.attribute;
    return result;
}

struct Pages {
    const test_support::Descriptor kfd{open_kfd()};
    const std::uint32_t gpu = gpu_id();
    std::byte* data = static_cast<std::byte*>(mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, kAnonymous, -1, 0));

    Pages() { give(data); }
    void give(void* begin) const {
        abi::SvmAttribute attribute{abi::kSvmAccess, gpu};
        REQUIRE(run(kfd, abi::kSvmSet, begin, 4, attribute) == 0);
    }
    bool given(const void* begin, std::size_t pages) const {
        abi::SvmAttribute attribute{abi::kSvmAccess, gpu};
        REQUIRE(run(kfd, abi::kSvmGet, begin, pages, attribute) == 0);
        return attribute.type == abi::kSvmAccess;
    }
};

/// New pages, as libc's own: not through a function that a program calls.
void map_unseen(void* at, std::size_t pages) {
    REQUIRE(syscall(SYS_mmap, at, pages * kPage, PROT_READ | PROT_WRITE, kAnonymous | MAP_FIXED, -1, 0) ==
            static_cast<long>(reinterpret_cast<std::uint64_t>(at)));
}

const Pages* of_other_thread = nullptr;

int unmap_and_be_late(void* address, std::size_t size) {
    const long result = syscall(SYS_munmap, address, size);
    if (const Pages* pages = std::exchange(of_other_thread, nullptr)) {
        map_unseen(address, 4);
        pages->give(address);
    }
    return static_cast<int>(result);
}

thread_local bool maps = false;

void* allocate_by_mapping(std::size_t size) {
    void* const memory = calloc(1, size);
    if (std::exchange(maps, false)) {
        munmap(mmap(nullptr, kPage, PROT_NONE, kAnonymous, -1, 0), kPage);
        maps = true;
    }
    return memory;
}

}  // namespace

TEST_CASE("an allocator may map pages while attributes are set", "[raw][svm]") {
    const Pages pages;
    const Hook allocate("malloc", reinterpret_cast<const void*>(&allocate_by_mapping));
    abi::SvmAttribute attribute{abi::kSvmPreferredLocation, pages.gpu};
    maps = true;
    const int result = run(pages.kfd, abi::kSvmSet, pages.data + kPage, 1, attribute);  // splits the range
    maps = false;
    CHECK(result == 0);
    munmap(pages.data, 4 * kPage);
}

TEST_CASE("pages that another thread maps while others are unmapped there keep their attributes", "[raw][svm]") {
    const Pages pages;
    {
        const Hook unmap("munmap", reinterpret_cast<const void*>(&unmap_and_be_late));
        of_other_thread = &pages;
        munmap(pages.data, 4 * kPage);
    }
    CHECK(pages.given(pages.data, 4));
    munmap(pages.data, 4 * kPage);
}

TEST_CASE("pages that move have no attributes, nor have those that take their place", "[raw][svm]") {
    const Pages pages, target;
    void* const moved = mremap(pages.data, 4 * kPage, 4 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, target.data);
    REQUIRE(moved == target.data);
    CHECK_FALSE(target.given(moved, 4));
    map_unseen(pages.data, 4);
    CHECK_FALSE(pages.given(pages.data, 4));
    munmap(pages.data, 4 * kPage);
    munmap(target.data, 4 * kPage);
}

TEST_CASE("pages that stay when others are cut off keep their attributes", "[raw][svm]") {
    const Pages pages;
    REQUIRE(mremap(pages.data, 4 * kPage, kPage, 0) == pages.data);
    map_unseen(pages.data + kPage, 3);
    CHECK(pages.given(pages.data, 1));
    CHECK_FALSE(pages.given(pages.data + kPage, 3));
    munmap(pages.data, 4 * kPage);
}

TEST_CASE("what a forked child unmaps remains the parent's", "[raw][svm]") {
    const Pages pages;
    const pid_t child = fork();
    if (child == 0) _exit(munmap(pages.data, 4 * kPage));
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(pages.given(pages.data, 4));
    munmap(pages.data, 4 * kPage);
}
