#include "hsadrv/file_bytes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "code_objects.hpp"
#include "hsadrv/error.hpp"
#include "support/catch.hpp"

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

TEST_CASE("what is no readable regular file is refused by name", "[file_bytes]") {
    const Folder folder;
    const auto why = [&](const std::filesystem::path& path, std::size_t limit = max_code_file_bytes) {
        return message_of<Error>([&] { read_file(path, limit); });
    };
    CHECK_THAT(why(folder.path / "missing"), Contains("missing") && Contains("No such file"));
    CHECK_THAT(why(folder.path), Contains("is a directory"));
    REQUIRE(mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
    CHECK_THAT(why(folder.path / "pipe"), Contains("is a pipe"));
    CHECK_THAT(why("/dev/null"), Contains("is a device"));
    std::ofstream(folder.path / "big") << "12345";
    CHECK_THAT(why(folder.path / "big", 4), Contains("5 bytes are more than the limit of 4"));
}
