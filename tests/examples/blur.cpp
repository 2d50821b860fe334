// The blur program from outside: its exit status, its message, the file it writes.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "examples/pnm.hpp"
#include "tests/support/device.hpp"

namespace {

struct Outcome {
    int status;  // the exit status; -1 if a signal ended it
    std::string output;
};

Outcome blur(const std::string& arguments) {
    const std::string command = "cd '" EXAMPLE_DIR "' && ./blur " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    Outcome outcome{};
    for (int c; (c = std::fgetc(pipe)) != EOF;) outcome.output += static_cast<char>(c);
    const int ended = pclose(pipe);
    outcome.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    return outcome;
}

class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "test_blur_XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    Folder(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string operator/(const char* file) const { return (path_ / file).string(); }

  private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a file that is not a picture ends blur with a message and status 1, and no file is written", "[blur]") {
    const Folder folder;
    const std::string in = folder / "in.png", out = folder / "out.ppm";
    std::ofstream(in) << "\x89PNG\r\n\x1a\n";
    const Outcome outcome = blur(in + " " + out);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.output, test_support::Contains("blur: " + in + " is not a PGM or PPM picture"));
    CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("a missing picture ends blur with a message and status 1", "[blur]") {
    const Outcome outcome = blur("/nowhere/in.ppm");
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.output, test_support::Contains("blur: /nowhere/in.ppm cannot be opened"));
}

TEST_CASE("pictures of any size and depth are blurred within the bound", "[blur][device]") {
    NEEDS_DEVICE();
    const Folder folder;
    const std::string in = folder / "in.pnm", out = folder / "out.pnm";
    const Picture pictures[] = {
        {1, 1, 1, 255, {200}},
        {17, 5, 3, 255, std::vector<std::uint16_t>(17 * 5 * 3, 255)},
        {33, 16, 1, 65535, std::vector<std::uint16_t>(33 * 16, 65535)},
    };
    for (const Picture& picture : pictures) {
        write_picture(in, picture);
        const Outcome outcome = blur(in + " " + out);
        CAPTURE(outcome.output);
        CHECK(outcome.status == 0);
        CHECK(read_picture(out).samples == picture.samples);  // a single colour stays unchanged
    }
}
