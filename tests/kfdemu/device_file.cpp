#include "tools/kfdemu/resources/device_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

using kfdemu::DeviceFile;

TEST_CASE("the device reads through its mapping what a program writes through its own", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    REQUIRE(file.valid());
    const auto range = file.allocate(8192);
    REQUIRE(range);
    const int fd = file.open(O_RDWR | O_CLOEXEC);
    REQUIRE(fd >= 0);
    CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    auto* mapped = static_cast<char*>(
        mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(range->offset)));
    REQUIRE(mapped != MAP_FAILED);
    mapped[5000] = 'x';
    CHECK(range->host[5000] == std::byte{'x'});
    struct stat status{};
    REQUIRE(fstat(fd, &status) == 0);
    CHECK(file.is(status));
    munmap(mapped, 8192);
    close(fd);
    file.release(*range);
}

TEST_CASE("released ranges are handed out again, empty", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    const auto a = *file.allocate(4096), b = *file.allocate(4096), c = *file.allocate(4096);
    CHECK(a.offset != 0);
    CHECK(b.offset == a.offset + 4096);
    b.host[0] = std::byte{1};
    file.release(a);
    file.release(b);
    const auto both = *file.allocate(8192);
    CHECK(both.offset == a.offset);
    CHECK(both.host[4096] == std::byte{0});
    CHECK(file.allocate(4096)->offset == c.offset + 4096);
}

TEST_CASE("alignment is honoured; zero and too large sizes are refused", "[kfdemu][memory]") {
    DeviceFile file{"test"};
    CHECK(file.allocate(4096, std::uint64_t{1} << 32)->offset % (std::uint64_t{1} << 32) == 0);
    CHECK_FALSE(file.allocate(0));
    CHECK_FALSE(file.allocate(std::uint64_t{1} << 50));
}
