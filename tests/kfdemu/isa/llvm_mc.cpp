#include "tests/kfdemu/isa/llvm_mc.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

#include "tools/kfdemu/isa/rows/traits.hpp"

namespace test_isa {
namespace {

constexpr std::uint32_t kMarker = 0xbf803039;  // s_nop 12345 between two encodings
constexpr const char* kMarkerText = "s_nop 0x3039";

std::string bytes_of(const Words& words) {
    std::string text = "[";
    char byte[8];
    for (const std::uint32_t word : words) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            std::snprintf(byte, sizeof byte, "0x%02x,", (word >> shift) & 0xff);
            text += byte;
        }
    }
    text.back() = ']';
    return text + "\n";
}

/// A temporary file, removed at the end of its lifetime.
class TemporaryFile {
  public:
    TemporaryFile() {
        const int file = mkstemp(path_);
        if (file < 0) throw std::runtime_error("mkstemp failed");
        close(file);
    }
    ~TemporaryFile() { unlink(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const char* path() const { return path_; }

  private:
    char path_[32] = "/tmp/kfdemu-llvm-mc-XXXXXX";
};

std::vector<std::string> output_lines(const std::string& command) {
    std::vector<std::string> lines;
    std::FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error("cannot run " + command);
    char buffer[512];
    while (std::fgets(buffer, sizeof buffer, pipe)) {
        std::string line = buffer;
        while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
        const std::size_t start = line.find_first_not_of("\t ");
        if (start != std::string::npos) lines.push_back(line.substr(start));
    }
    pclose(pipe);
    return lines;
}

/// Without its comments; empty if a comment reports that an operand does not fit.
std::string cleaned(const std::string& line) {
    if (line.find("/*") != std::string::npos) return "";
    const std::size_t comment = line.find(" ;");
    std::string text = line.substr(0, comment);
    while (!text.empty() && text.back() == ' ') text.pop_back();
    for (std::size_t tab; (tab = text.find('\t')) != std::string::npos;) text[tab] = ' ';
    return text;
}

const char* program(Version version) { return version == Version::newest ? NEWEST_LLVM_MC : LLVM_MC; }

}  // namespace

/// llvm-mc 19 does not know the model, or not all of its instructions.
Version version_for(kfdemu::isa::Target target) {
    const bool is_new = target == kfdemu::isa::Target::gfx950 || target == kfdemu::isa::Target::gfx1201;
    return is_new ? Version::newest : Version::usual;
}
const char* llvm_mc_missing(Version version) {
    return version == Version::newest ? "a newer llvm-mc was not found: install llvm-22"
                                      : "llvm-mc was not found: install llvm-19";
}
bool have_llvm_mc(Version version) { return program(version)[0] != '\0'; }

std::vector<std::string> llvm_mc(kfdemu::isa::Target target, const std::vector<Words>& encodings, unsigned width,
                                 Version version) {
    const TemporaryFile input;
    std::ofstream file{input.path()};
    for (const Words& words : encodings) file << bytes_of(words) << bytes_of({kMarker});
    file.close();
    const std::string lanes =
        kfdemu::isa::traits_of(target).wave32 ? " -mattr=+wavefrontsize" + std::to_string(width) : "";
    const std::string command = std::string(program(version)) + " -disassemble -arch=amdgcn -mcpu=" + name(target) +
                                lanes + " " + input.path() + " 2>/dev/null";
    std::vector<std::string> texts, between;
    for (const std::string& line : output_lines(command)) {
        if (line == ".text") continue;
        if (line != kMarkerText) {
            between.push_back(line);
            continue;
        }
        texts.push_back(between.size() == 1 ? cleaned(between.front()) : "");
        between.clear();
    }
    if (texts.size() != encodings.size()) throw std::runtime_error("llvm-mc answered for another number of encodings");
    return texts;
}

}  // namespace test_isa
