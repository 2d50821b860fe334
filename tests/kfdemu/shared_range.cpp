#include "tools/kfdemu/base/shared_range.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "tests/support/catch.hpp"
#include "tools/kfdemu/resources/device_file.hpp"

using kfdemu::DeviceFile;
using kfdemu::SharedRange;

namespace {

struct Shared {
    explicit Shared(DeviceFile& file) : range{file.allocate(8192).value()} {
        index = file.share({.offset = range.offset, .size = range.size, .gpu_id = 7, .flags = 1});
        REQUIRE(index != 0);
    }
    DeviceFile::Range range;
    std::uint32_t index;
};

}  // namespace

TEST_CASE("a dma-buf identifies its range, however it is passed", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    const Shared shared{file};
    const int fd = file.open_shared(shared.index);
    REQUIRE(fd >= 0);
    const int copy = dup(fd);
    for (const int descriptor : {fd, copy}) {
        const auto range = SharedRange::of(descriptor);
        REQUIRE(range);
        CHECK(range->offset == shared.range.offset);
        CHECK(range->size == 8192);
        CHECK(range->gpu_id == 7);
    }
    // Neither reading nor writing moves it: its offset is past the end of a file that cannot grow.
    char byte = 0;
    CHECK(read(fd, &byte, 1) == 0);
    CHECK(write(fd, &byte, 1) < 0);
    CHECK(SharedRange::of(fd));
    close(fd);
    close(copy);
}

TEST_CASE("other descriptors are no dma-bufs", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    const int device = file.open(O_CLOEXEC), null = open("/dev/null", O_RDONLY), memory = memfd_create("other", 0);
    CHECK(lseek(memory, (off_t{1} << 62) + 1, SEEK_SET) > 0);
    for (const int fd : {-1, device, null, memory}) CHECK_FALSE(SharedRange::of(fd));
    close(device);
    close(null);
    close(memory);
}

TEST_CASE("a released range is not handed out again while a dma-buf of it is open", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    const Shared shared{file};
    shared.range.host[100] = std::byte{9};
    const int fd = file.open_shared(shared.index);
    const auto offset = shared.range.offset;
    file.release(shared.range, shared.index);
    CHECK(file.held_vram() == 8192);
    CHECK(file.allocate(4096)->offset != offset);
    void* bytes = mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset));
    REQUIRE(bytes != MAP_FAILED);
    CHECK(static_cast<std::byte*>(bytes)[100] == std::byte{9});
    munmap(bytes, 8192);
    close(fd);
    CHECK(file.held_vram() == 0);
    CHECK(file.allocate(8192)->offset == offset);
}

TEST_CASE("a killed process releases its ranges", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    const Shared shared{file};
    const int fd = file.open_shared(shared.index);
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    close(fd);
    file.release(shared.range, shared.index);
    CHECK(file.held_vram() == 8192);
    REQUIRE(kill(child, SIGKILL) == 0);
    REQUIRE(waitpid(child, nullptr, 0) == child);
    CHECK(file.held_vram() == 0);
}

TEST_CASE("an IPC handle leads to the range until its exporter releases it", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    const Shared shared{file};
    const auto handle = file.name(shared.index, 5);
    REQUIRE(handle);
    const int fd = kfdemu::open_shared(*handle);
    REQUIRE(fd >= 0);
    CHECK(SharedRange::of(fd)->offset == shared.range.offset);
    CHECK(SharedRange::of(fd)->ipc_flags == 5);

    auto wrong = *handle;
    SECTION("another nonce") { wrong.nonce ^= 1; }
    SECTION("another entry") { wrong.index += 1; }
    SECTION("no entry") { wrong.index = 0x7fffffff; }
    SECTION("another file") { wrong.file = static_cast<std::uint32_t>(open("/dev/null", O_RDWR)); }
    SECTION("no process") { wrong.pid = 0x7fffffff; }
    SECTION("released") { file.release(shared.range, shared.index); }
    CHECK(kfdemu::open_shared(wrong) < 0);
    CHECK(errno == EINVAL);
    close(fd);
}

TEST_CASE("metadata is of an entry, for every descriptor, until the entry is freed", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    const auto range = file.allocate(8192).value();
    const SharedRange content{.offset = range.offset, .size = range.size, .gpu_id = 7, .flags = 1};
    const auto index = file.share(content);
    CHECK(file.metadata(index)->size_bytes == 0);
    REQUIRE(file.set_metadata(index, {.flags = 1, .tiling = 2, .size_bytes = 4, .data = {3}}));
    const int fd = file.open_shared(index);
    const auto found = kfdemu::shared_table::read_metadata(fd, index);
    REQUIRE(found);
    CHECK(found->tiling == 2);
    CHECK(found->data[0] == 3);
    close(fd);
    file.release(range, index);
    const auto again = file.allocate(8192).value();
    const auto other = file.share({.offset = again.offset, .size = again.size, .gpu_id = 7, .flags = 1});
    CHECK(other == index);
    CHECK(file.metadata(other)->size_bytes == 0);
}

TEST_CASE("metadata that several threads and processes set is never a mixture", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    const Shared shared{file};
    const auto all_of = [](std::uint32_t value) {
        kfdemu::BufferMetadata metadata{.flags = value, .tiling = value, .size_bytes = value, .data = {}};
        std::fill(std::begin(metadata.data), std::end(metadata.data), value);
        return metadata;
    };
    REQUIRE(file.set_metadata(shared.index, all_of(0)));
    const pid_t child = fork();
    if (child == 0)
        for (std::uint32_t n = 0; n < 5000; ++n) file.set_metadata(shared.index, all_of(2 * n));
    if (child == 0) _exit(0);
    std::thread writer{[&] {
        for (std::uint32_t n = 0; n < 5000; ++n) file.set_metadata(shared.index, all_of(2 * n + 1));
    }};
    int mixed = 0;
    for (int n = 0; n < 5000; ++n) {
        const auto found = file.metadata(shared.index);
        const bool equal = found && found->flags == found->size_bytes && found->tiling == found->size_bytes &&
                           std::all_of(std::begin(found->data), std::end(found->data),
                                       [&](std::uint32_t word) { return word == found->size_bytes; });
        mixed += !equal;
    }
    writer.join();
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(mixed == 0);
}
