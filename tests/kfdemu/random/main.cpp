// Random programs on the host and on kfdemu: differences are printed and reduced.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/kfdemu/random/generate.hpp"
#include "tests/kfdemu/random/reduce.hpp"
#include "tests/support/turn.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace {

using namespace random_programs;
using Clock = std::chrono::steady_clock;
using kfdemu::isa::Target;

struct Options {
    std::uint64_t seed = 1 + test_support::test_turn(), first = 0, programs = 0;
    double minutes = 0;
    std::vector<std::string> targets{"gfx900", "gfx90a"}, levels{"O0", "O2"}, clangs{RANDOM_PROGRAMS_CLANG};
    std::string host_clang = RANDOM_PROGRAMS_CLANG, keep = "random-programs";
    unsigned at_once = 125, reduce_seconds = 60, most = 10;
    bool in_turn = false, hip = false;
};

std::vector<Setting> settings(const Options& o) {
    std::vector<Setting> all;
    for (const std::string& clang : o.clangs)
        for (const std::string& level : o.levels)
            for (const std::string& wanted : o.targets)
                for (const Target target : kfdemu::isa::kTargets) {
                    const std::string name = kfdemu::isa::name(target);
                    const bool chooses = kfdemu::isa::traits_of(target).wave32;
                    if (wanted == name) all.push_back({target, level, clang, chooses ? 32u : 64u, o.hip});
                    if (chooses && wanted == name + "w64") all.push_back({target, level, clang, 64, o.hip});
                }
    return all;
}

class Session {
  public:
    explicit Session(Options options)
        : options_{std::move(options)}, settings_{settings(options_)}, folder_{make_folder()} {}
    ~Session() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    int run() {
        const auto until =
            start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.minutes * 60));
        std::uint64_t number = options_.first;
        for (unsigned turn = 0; differing_ < options_.most; ++turn) {
            if (options_.programs > 0 && number >= options_.first + options_.programs) break;
            if (options_.minutes > 0 ? Clock::now() >= until : options_.programs == 0) break;
            std::uint64_t count = options_.at_once;
            if (options_.programs > 0) count = std::min(count, options_.first + options_.programs - number);
            unit(number, count, turn);
            number += count;
        }
        const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
        fmt::print(
            "{} programs of seed {} from number {}, {} runs of them, {} more that a clang does not compile, "
            "{} where the host differs "
            "from itself, {:.1f} s\n",
            number - options_.first, options_.seed, options_.first, runs_, not_compiled_, undecided_, seconds);
        fmt::print("{} passed, {} failed, 0 skipped\n", runs_ - differing_, differing_);
        return differing_ == 0 && runs_ > 0 ? 0 : 1;
    }

  private:
    static std::string make_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "random-programs-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"cannot make a folder " + name};
        return name;
    }
    void unit(std::uint64_t number, std::uint64_t count, unsigned turn) {
        std::vector<Program> programs;
        for (std::uint64_t n = 0; n < count; ++n) programs.push_back(generate(options_.seed, number + n));
        std::unique_ptr<Unit> unit;
        std::vector<std::string> macros;
        for (std::size_t n = 0; n < settings_.size(); ++n) {
            const Setting& setting = settings_[n];
            if (options_.in_turn && n != (turn + options_.seed) % settings_.size()) continue;
            if (!unit || macros != wave_macros(setting)) {
                macros = wave_macros(setting);
                unit.reset();
                unit = std::make_unique<Unit>(folder_ + "/u", programs, options_.host_clang, macros);
            }
            runs_ += count;
            for (const Difference& d : unit->run(setting)) report(programs[d.program], d, setting);
        }
    }
    void report(const Program& program, const Difference& d, const Setting& setting) {
        const std::string which = fmt::format("seed {} program {} {}", program.seed, program.number, describe(setting));
        if (d.not_compiled) {
            ++not_compiled_, --runs_;
            fmt::print("{}: {}\n", which, d.what);
            return;
        }
        if (d.undecided) {
            ++undecided_;
            fmt::print("{}: the host at -O0 and -O2 differs from itself\n", which);
            return;
        }
        ++differing_;
        fmt::print("{}: {}\n", which, d.what);
        std::fflush(stdout);
        if (options_.reduce_seconds == 0 || differing_ > options_.most) return;
        const Reduced small = reduce({program, d.what}, setting, folder_ + "/r", options_.host_clang,
                                     Clock::now() + std::chrono::seconds{options_.reduce_seconds});
        std::filesystem::create_directories(options_.keep);
        const std::string file = fmt::format("{}/{}-{}-{}-{}-{}.cpp", options_.keep, program.seed, program.number,
                                             kfdemu::isa::name(setting.target), setting.level,
                                             std::filesystem::path(setting.clang).filename().string());
        std::ofstream{file} << "#include \"program.hpp\"\n\n" << small.program.text(0);
        fmt::print("  reduced from {} nodes to {}, {}: {}\n", program.size(), small.program.size(), file, small.what);
        std::fflush(stdout);
    }

    Options options_;
    std::vector<Setting> settings_;
    std::string folder_;
    Clock::time_point start_ = Clock::now();
    std::uint64_t runs_ = 0, differing_ = 0, not_compiled_ = 0, undecided_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Options o;
    CLI::App app{"Random programs, compiled for the host and for kfdemu's GPUs, whose results must be the same."};
    app.add_option("--seed", o.seed, "of all programs")->capture_default_str();
    app.add_option("--first", o.first, "number of the first program")->capture_default_str();
    app.add_option("--programs", o.programs, "how many (without --minutes: 1000)");
    app.add_option("--minutes", o.minutes, "for how long");
    app.add_option("--targets", o.targets,
                   "gfx900, gfx906, gfx908, gfx90a, gfx942, gfx950, gfx1030, gfx1100, gfx1151, gfx1201, and gfx1030w64 "
                   "and the like for waves of 64 lanes")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--levels", o.levels, "O0, O1, O2, O3, Os")->delimiter(',')->capture_default_str();
    app.add_option("--clang", o.clangs, "compilers for the device")->delimiter(',')->capture_default_str();
    app.add_flag("--hip", o.hip, "compile for the device in HIP's language, as clang before 16 needs it");
    app.add_option("--host-clang", o.host_clang, "compiler for the host")->capture_default_str();
    app.add_option("--at-once", o.at_once, "programs in one file")->capture_default_str();
    app.add_flag("--in-turn", o.in_turn,
                 "each file for one target and level only, in turn; the seed says which is first");
    app.add_option("--keep", o.keep, "folder for reduced programs that differ")->capture_default_str();
    app.add_option("--reduce", o.reduce_seconds, "seconds for making a program small")->capture_default_str();
    app.add_option("--most", o.most, "programs that differ before it stops")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    if (o.programs == 0 && o.minutes <= 0) o.programs = 1000;
    try {
        return Session{o}.run();
    } catch (const std::exception& error) {
        fmt::print(stderr, "random_programs: {}\n", error.what());
        return 2;
    }
}
