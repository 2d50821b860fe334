#include "hsadrv/file_bytes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {
struct Folder {
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "hsadrv-test-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        path = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};
}  // namespace

TEST_CASE("a regular file is read whole", "[file_bytes]") {
    const Folder folder;
    std::ofstream(folder.path / "f", std::ios::binary) << std::string("a\0b", 3);
    const auto bytes = read_file(folder.path / "f");
    REQUIRE(bytes.size() == 3);
    CHECK(bytes[2] == std::byte{'b'});
    std::ofstream(folder.path / "empty");
    CHECK(read_file(folder.path / "empty").empty());
}

TEST_CASE("anything but a readable regular file is refused by name", "[file_bytes]") {
    const Folder folder;
    const auto why = [&](const std::filesystem::path& path, std::size_t limit = max_code_file_bytes) {
        return message_of<Error>([&] { read_file(path, limit); });
    };
    CHECK_THAT(why(folder.path / "missing"), Contains("missing") && Contains("No such file"));
    CHECK_THAT(why(folder.path), Contains("is a directory"));
    REQUIRE(mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
    CHECK_THAT(why(folder.path / "pipe"), Contains("is a pipe"));
    CHECK_THAT(why("/dev/null"), Contains("is a device"));
    std::filesystem::create_symlink("loop", folder.path / "loop");
    CHECK_THAT(why(folder.path / "loop"), Contains("symbolic links"));
    CHECK_THAT(why(folder.path / std::string(300, 'x')), Contains("name too long"));
    CHECK_THAT(why(""), Contains("file ''") && Contains("No such file"));
    std::ofstream(folder.path / "big") << "12345";
    CHECK_THAT(why(folder.path / "big", 4), Contains("5 bytes are more than the limit of 4"));
}

TEST_CASE("a huge file is refused before memory is allocated", "[file_bytes]") {
    const Folder folder;
    const std::string path = (folder.path / "huge").string();
    std::ofstream(path, std::ios::binary) << "x";
    REQUIRE(truncate(path.c_str(), off_t{1} << 40) == 0);  // sparse: takes no disk
    CHECK_THAT(message_of<Error>([&] { read_file(path); }),
               Contains("1099511627776 bytes are more than the limit of 2147483648"));
}

TEST_CASE("a non-empty file of size 0 is refused", "[file_bytes]") {
    if (!std::filesystem::exists("/proc/self/status")) SKIP_BECAUSE("there is no /proc");
    CHECK_THAT(message_of<Error>([&] { read_file("/proc/self/status"); }), Contains("more than the 0 bytes"));
}

TEST_CASE("a file replaced while it is read is the old one or the new one, whole", "[file_bytes]") {
    const Folder folder;
    const auto path = folder.path / "f";
    constexpr std::size_t sizes[] = {300000, 200000};
    const auto write = [&](int which) {
        std::ofstream(folder.path / "new", std::ios::binary) << std::string(sizes[which], which ? 'b' : 'a');
        std::filesystem::rename(folder.path / "new", path);
    };
    write(0);
    std::atomic<bool> stop = false;
    std::thread writer([&] {
        for (int i = 1; !stop; ++i) write(i % 2);
    });
    bool whole = true;
    for (int i = 0; i < 300; ++i) {
        const auto bytes = read_file(path);
        const std::byte first = bytes.empty() ? std::byte{0} : bytes[0];
        whole = whole && bytes.size() == sizes[first == std::byte{'b'}] &&
                std::count(bytes.begin(), bytes.end(), first) == static_cast<std::ptrdiff_t>(bytes.size());
    }
    stop = true;
    writer.join();
    CHECK(whole);
}

TEST_CASE("a file truncated and extended while it is read is refused by name, or has its size", "[file_bytes]") {
    const Folder folder;
    const auto path = folder.path / "f";
    constexpr std::size_t size = 4 << 20;
    std::ofstream(path, std::ios::binary) << std::string(size, 'a');
    std::atomic<bool> stop = false;
    std::thread writer([&] {
        while (!stop) {
            std::filesystem::resize_file(path, 10);
            std::filesystem::resize_file(path, size);
        }
    });
    std::size_t refused = 0;
    for (int i = 0; i < 100 || (!refused && i < 20000); ++i) {
        try {
            const std::size_t got = read_file(path).size();
            if (got != size && got != 10) FAIL("read " << got << " bytes");
        } catch (const Error& error) {
            ++refused;
            if (std::string_view(error.what()).find(path.string()) == std::string_view::npos) FAIL(error.what());
        }
    }
    stop = true;
    writer.join();
    CHECK(refused > 0);
}
