// JournalReader: reads the journal that the suite's program writes while it runs (tests/conformance/journal.hpp): the
// running test case, and the results of earlier ones.
//
//     JournalReader reader(path);
//     reader.read();                                   // reads what was appended since the last call
//     if (const RunningTest* running = reader.running()) …
//     for (const EndedTest& test : reader.ended()) …
//
// Thread safety: one thread. Lines that are not JSON are ignored: the program may have died while writing one.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/hsadrv/conformance/results.hpp"

namespace hsadrv_tool {

struct RunningTest {
    std::string name;
    std::size_t output_begin = 0;
    std::string failures = {};  ///< so far
    std::string fatal = {};     ///< the signal that it got, if it could still be written
};

struct EndedTest {
    std::string name;
    Outcome outcome = Outcome::passed;
    std::string message = {};
    double seconds = 0;
    std::size_t output_begin = 0, output_end = 0;
    unsigned long seed = 0;  ///< of its round
};

struct Round {
    unsigned long seed;
    StressRounds::Footprint footprint;
};

class JournalReader {
  public:
    /// `seed`: of the first round.
    explicit JournalReader(std::string path, unsigned long seed = 0) : path_(std::move(path)), seed_(seed) {}

    void read();
    /// As read(), from a text.
    void take(std::string_view lines);

    const std::optional<RunningTest>& running() const { return running_; }
    const std::vector<EndedTest>& ended() const { return ended_; }
    const std::vector<Round>& rounds() const { return rounds_; }
    unsigned long seed() const { return seed_; }
    /// The time of the last line.
    std::chrono::steady_clock::time_point last() const { return last_; }

  private:
    void take_line(std::string_view line);

    std::string path_, rest_;
    std::size_t offset_ = 0;
    unsigned long seed_;
    std::optional<RunningTest> running_;
    std::vector<EndedTest> ended_;
    std::vector<Round> rounds_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace hsadrv_tool
