// Random programs in one source file, compiled and run on both sides.
//
//     Unit unit{"/tmp/work/u", programs};                  // writes /tmp/work/u.cpp, runs it on the host
//     for (const Difference& d : unit.run(setting)) …      // what the device does differently
//
// What no clang compiles, and what the host cannot run, throws std::runtime_error. Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/kfdemu/random/compile.hpp"
#include "tests/kfdemu/random/program.hpp"

namespace random_programs {

/// The results of one program's work-items.
struct Results {
    std::vector<std::uint64_t> outs;
    std::vector<std::uint64_t> cells;
    std::vector<std::uint64_t> sums;
};

struct Difference {
    std::size_t program = 0;    ///< index in the unit
    std::string what{};         ///< "work-item 17, v3 (f32): expected 0x…, got 0x…"
    bool not_compiled = false;  ///< the compiler failed; no program ran
    bool undecided = false;     ///< the host's own results depend on the level it is compiled at
};

class Unit {
  public:
    /// `host_clang` compiles for the host, `macros` are of the settings that run().
    Unit(std::string path, std::vector<Program> programs, const std::string& host_clang,
         std::vector<std::string> macros);
    ~Unit();
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;

    std::vector<Difference> run(const Setting& setting);
    const std::string& source() const { return source_; }
    static constexpr unsigned kGroups = 2;

  private:
    std::vector<Results> run_on_host(const std::string& level) const;
    void doubt(std::vector<Difference>& differences);
    std::vector<Difference> one_by_one(const Setting& setting);

    std::string path_, source_, host_clang_;
    std::vector<std::string> macros_;
    std::vector<Program> programs_;
    std::vector<Results> expected_, second_opinion_;
    std::vector<std::uint32_t> inputs_;
};

/// The words that all programs of a seed read.
std::vector<std::uint32_t> inputs(std::uint64_t seed);
/// Memory as a program finds it.
Results initial(const Program& program);

}  // namespace random_programs
