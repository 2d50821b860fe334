#include "examples/pnm.hpp"

#include <filesystem>
#include <random>

#include "tests/support/catch.hpp"

namespace {

/// A file of given bytes for as long as the test case lasts.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& bytes) {
        static int count = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("test_pnm_" + std::to_string(std::random_device()()) + "_" + std::to_string(count++));
        std::ofstream(path_, std::ios::binary) << bytes;
    }
    TemporaryFile(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

Picture parse(const std::string& bytes) { return read_picture(TemporaryFile(bytes).path()); }

}  // namespace

TEST_CASE("pictures are read as text and as binary, grey and in colour, 8 and 16 bits deep", "[pnm]") {
    using namespace std::string_literals;
    struct Row {
        std::string bytes;
        std::uint32_t width, height, channels, max;
        std::vector<std::uint16_t> samples;
    };
    const Row rows[] = {
        {"P2\n2 1\n9\n0 9\n", 2, 1, 1, 9, {0, 9}},
        {"P2 # grey\n#a comment\n 2# width\n1\n300\n299\t300", 2, 1, 1, 300, {299, 300}},
        {"P3\r\n1 1 255\r\n1 2 3", 1, 1, 3, 255, {1, 2, 3}},
        {"P5 2 1 255\n\xff\x00"s, 2, 1, 1, 255, {255, 0}},
        {"P5 1 2 65535 \x01\x02\xff\xfe"s, 1, 2, 1, 65535, {0x102, 0xfffe}},
        {"P6\n1 1\n255\n\x23\x0a\x20"s, 1, 1, 3, 255, {0x23, 0x0a, 0x20}},  // samples that look like a
                                                                            // comment
    };
    for (const Row& row : rows) {
        CAPTURE(row.bytes);
        const Picture picture = parse(row.bytes);
        CHECK(picture.width == row.width);
        CHECK(picture.height == row.height);
        CHECK(picture.channels == row.channels);
        CHECK(picture.max == row.max);
        CHECK(picture.samples == row.samples);
    }
}

TEST_CASE("a written picture is read back unchanged", "[pnm]") {
    const TemporaryFile file("");
    for (const std::uint32_t channels : {1u, 3u}) {
        for (const std::uint32_t max : {255u, 1000u}) {
            Picture picture{2, 2, channels, max, {}};
            for (std::uint32_t i = 0; i < 4 * channels; ++i)
                picture.samples.push_back(static_cast<std::uint16_t>(max - i));
            write_picture(file.path(), picture);
            const Picture again = read_picture(file.path());
            CHECK(again.samples == picture.samples);
            CHECK(again.max == max);
        }
    }
}

TEST_CASE("a file that is not a picture is refused with its name and the reason", "[pnm]") {
    struct Row {
        const char* bytes;
        const char* reason;
    };
    const Row rows[] = {
        {"", "is not a PGM or PPM picture"},
        {"P", "is not a PGM or PPM picture"},
        {"P4\n8 1\n\xff", "is not a PGM or PPM picture"},
        {"P7\nWIDTH 1\n", "is not a PGM or PPM picture"},
        {"\x89PNG\r\n", "is not a PGM or PPM picture"},
        {"GIF89a", "is not a PGM or PPM picture"},
        {"P6\n", "has no number for its width"},
        {"P6 x 1 255\n", "has no number for its width"},
        {"P6 -3 1 255\n", "has no number for its width"},
        {"P6 3 1 # 255\n", "has no number for its maximum value"},
        {"P6 0 1 255\n", "of 0"},
        {"P6 1 1 0\n", "of 0"},
        {"P6 1 1 65536\n", "has a maximum value above 65535"},
        {"P6 99999999999999999999 1 255\n", "has a width above 65536"},
        {"P6 65536 65536 255\n", "2^31 samples"},
        {"P6 30000 20000 255\nabc", "is cut short"},
        {"P6 1 1 255\nab", "is cut short"},
        {"P6 1 1 255", "is cut short"},
        {"P3 1 1 255\n1 2", "is cut short"},
        {"P3 1 1 255\n1 2 256", "has a sample above 255"},
        {"P3 1 1 255\n1 2 three", "has no number for its sample"},
        {"P5 1 1 100\n\xff", "above its maximum"},
    };
    for (const Row& row : rows) {
        const TemporaryFile file(row.bytes);
        CAPTURE(row.bytes);
        CHECK_THROWS_AS(read_picture(file.path()), std::runtime_error);
        CHECK_THROWS_WITH(read_picture(file.path()),
                          test_support::Contains(file.path()) && test_support::Contains(row.reason));
    }
    CHECK_THROWS_WITH(read_picture("/nowhere/picture.ppm"),
                      test_support::Contains("/nowhere/picture.ppm cannot be opened"));
    CHECK_THROWS_WITH(read_picture("/tmp"), test_support::Contains("/tmp cannot be read"));
    CHECK_THROWS_WITH(write_picture("/nowhere/picture.ppm", Picture()), test_support::Contains("cannot be written"));
}
