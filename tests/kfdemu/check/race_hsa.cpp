// `race` through the HSA runtime: both sides of each finding are at lines that the kernel's source marks as racing.
#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace hsa_test;

namespace {

using Lines = std::set<unsigned>;

/// The lines whose comment at the end is one word, by that word.
std::map<std::string, Lines> marked_lines(const std::string& source) {
    std::ifstream file{std::string{CHECK_KERNEL_SOURCES "/"} + source};
    REQUIRE(file.good());
    std::map<std::string, Lines> marked;
    std::string text;
    for (unsigned line = 1; std::getline(file, text); ++line) {
        const auto at = text.rfind("// ");
        if (at == text.npos || at == 0) continue;
        const std::string word = text.substr(at + 3);
        if (word.find(' ') == word.npos) marked[word].insert(line);
    }
    return marked;
}

/// The innermost line of each place in a finding's text.
std::vector<unsigned> places(const std::string& finding, const std::string& source) {
    std::vector<unsigned> lines;
    std::istringstream texts{finding};
    for (std::string text; std::getline(texts, text);) {
        const auto at = text.find("/" + source + ":");
        if (text.find("        /") != 0 || at == text.npos) continue;
        lines.push_back(static_cast<unsigned>(std::stoul(text.substr(at + source.size() + 2))));
    }
    return lines;
}

struct Source {
    const char* name;
    Shape shape;
    std::size_t pairs;
};
// Those of LDS store to the same results in each work-group: one is enough.
const Source kSources[] = {{"race", line(256, 256), 20}, {"race_memory", line(1024, 128), 13}};
constexpr const char* kLevels[] = {"O0", "O1", "O2", "O3"};

class Runs {
  public:
    Runs(const char* source, const char* level)
        : code_{machine_.gpu(), std::string{"../check/"} + source + "." + level} {
        auto* words = static_cast<std::uint32_t*>(in_.data());
        for (std::uint32_t n = 0; n < 256; ++n) words[n] = n * 7 + 4;
    }
    void operator()(const std::string& kernel, const Shape& shape) {
        std::memset(out_.data(), 0, kOutBytes);
        run(machine_, queue_, code_.kernel(kernel), shape, in_.data(), out_.data());
    }

    /// A load for the work-group is one for the agent.
    bool has_one_scope() const { return machine_.gpu().name.starts_with("gfx11"); }

  private:
    static constexpr std::size_t kOutBytes = 16384;
    Machine machine_;
    Executable code_;
    Memory in_{machine_.cpu().fine, 4096, machine_.agents()}, out_{machine_.cpu().fine, kOutBytes, machine_.agents()};
    Queue queue_{machine_.gpu()};
};

template <class Test>
void on_each_kernel(Test&& test) {
    for (const Source& source : kSources) {
        const std::string file = std::string{source.name} + ".cpp";
        const auto marked = marked_lines(file);
        REQUIRE(marked.size() == source.pairs);
        for (const char* level : kLevels) {
            Runs run{source.name, level};
            for (const auto& [kernel, lines] : marked) {
                INFO(source.name << " at -" << level << ": " << kernel);
                test(run, source, kernel, lines);
            }
        }
    }
}

}  // namespace

TEST_CASE("races are found at the lines of both sides, in their function", "[check][race]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    on_each_kernel([&](Runs& run, const Source& source, const std::string& kernel, const Lines& lines) {
        if (kernel == "scope" && run.has_one_scope()) return;
        control->forget_findings();
        run(kernel, source.shape);
        REQUIRE(control->findings() != 0);
        constexpr std::uint64_t kKept = 100;  // further ones are only counted
        for (std::uint64_t n = 0; n < std::min(control->findings(), kKept); ++n) {
            const std::string text = control.finding(n);
            INFO(text);
            CHECK(text.find("check race: ") == 0);
#ifdef HAS_LINES
            const std::vector<unsigned> found = places(text, std::string{source.name} + ".cpp");
            CHECK(found.size() == 2);
            for (const unsigned line : found) CHECK(lines.count(line) == 1);
            CHECK(text.find(" in " + kernel) != std::string::npos);
#endif
        }
    });
    control->check(0);
}

TEST_CASE("their mended twins are silent", "[check][race]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_RACE) == 0);
    on_each_kernel([&](Runs& run, const Source& source, const std::string& kernel, const Lines&) {
        control->forget_findings();
        run(kernel + "_mended", source.shape);
        INFO((control->findings() != 0 ? control.finding(0) : ""));
        CHECK(control->findings() == 0);
    });
    control->check(0);
}
