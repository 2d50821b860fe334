// Collects the findings of all checkers: prints each once, counts its repetitions, and sums up.
//
//     if (report.is_new(Check::wait, "read", inst)) report.add(finding);
//     std::string text = report.summary();
//
// Thread safety: every function, any thread. A finding is written as one piece, so findings of several threads do not
// mix.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tools/kfdemu/check/report/finding.hpp"
#include "tools/kfdemu/check/report/suppressions.hpp"
#include "tools/kfdemu/isa/encodings/inst.hpp"

namespace kfdemu::check {

/// What was checked; for the summary.
struct Coverage {
    std::atomic<std::uint64_t> dispatches{0}, waves{0}, instructions{0};  // relaxed: statistics
};

/// Distinct findings, also those that are only counted.
struct Totals {
    std::uint64_t distinct = 0, suppressed = 0;  ///< suppressed ones are not in distinct
};

class Report {
  public:
    using Print = std::function<void(const std::string&)>;
    /// Names functions and source lines of its sites and stacks, if it can. May be called for a finding by two threads.
    using Resolve = std::function<void(Finding&)>;

    explicit Report(Print print = nullptr, Resolve resolve = nullptr)
        : print_{std::move(print)}, resolve_{std::move(resolve)} {}
    ~Report();
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    struct Settings {
        Suppressions suppressions;
        std::size_t limit = 100;
        std::function<void()> stop, on_finding;
    };
    Settings settings() const;
    void set(Settings settings);
    /// Adds a line of a suppression file. Returns "" or an error text. For findings from now on.
    std::string suppress(std::string_view line);
    void set_suppressions(Suppressions suppressions);
    /// More distinct findings are counted, but neither printed nor kept.
    void set_limit(std::size_t limit);
    /// Called after the first finding is printed; later ones are ignored. May end the process.
    void set_stop(std::function<void()> stop);
    /// Called after each finding that is kept, on any thread.
    void set_on_finding(std::function<void()> call);

    /// Counts one occurrence; true if it is the first, whose details must follow with add().
    bool is_new(Check check, const char* rule, const isa::Inst& inst);
    bool is_new(const Finding& finding);
    /// A finding about an instruction is resolved by a thread of the report's own, which this one waits for, but not
    /// for long: what holds that thread up may wait for this one.
    void add(Finding finding);
    /// Resolves, in this thread, what is not yet: call it before findings and sums are read.
    void settle();
    /// A finding that is not about an instruction, and how often it was found.
    void add_counted(Finding finding, std::uint64_t times);
    /// What people should know and is no finding: printed, and in the summary and the JSON.
    void note(std::string text);

    /// Without suppressed ones, as occurrences().
    std::uint64_t distinct() const;
    Totals totals() const;
    std::uint64_t occurrences() const;
    std::vector<Finding> findings() const;
    std::vector<std::string> notes() const;
    void clear();
    std::string summary(const Checks& checks) const;

    Coverage coverage;

  private:
    /// The instruction's bits, too: other code may be at its address later.
    using Key = std::tuple<Check, std::uint64_t, std::uint64_t, std::string>;
    struct Count {
        std::uint64_t times = 0;
        bool suppressed = false, none = false;
    };
    static Key key_of(const Finding& f) { return {f.check, f.of_kernel() ? f.at.pc : f.identity, f.at.code, f.rule}; }

    // With the lock held.
    std::vector<Finding> counted() const;
    /// It is counted whatever its names are.
    bool is_unseen(Check check) const {
        return stopped_ || (findings_.size() >= settings_.limit && !settings_.suppressions.may_match(check));
    }
    bool keep(Finding&& finding);
    bool start_thread();
    void wait_for(std::unique_lock<std::mutex>& lock, std::uint64_t number);
    /// Calls on_finding and stop, without the lock, if the finding was kept.
    void announce(std::unique_lock<std::mutex>& lock, bool kept);

    // Without.
    void serve();
    bool settle_first();

    const Print print_;
    const Resolve resolve_;
    mutable std::mutex mutex_;
    std::map<Key, Count> counts_;
    std::vector<Finding> findings_;
    std::vector<std::string> notes_;
    Settings settings_;
    bool limit_told_ = false, stopped_ = false;

    // Findings that are not resolved yet, and the thread that does it. The first has the number taken_ + 1.
    std::deque<Finding> pending_;
    std::uint64_t taken_ = 0, settled_ = 0;
    bool stuck_ = false, ending_ = false;  ///< stuck: add() has waited in vain
    std::condition_variable changed_;
    std::thread thread_;
};

/// A finding as people read it: several lines, the first of which begins with the check's name.
std::string to_text(const Finding& finding);
/// "main.cpp:30 in main, program".
std::string to_text(const HostFrame& frame);

/// A process image: a number is used again, by exec and later.
struct ProcessName {
    std::int64_t id = 0;
    std::uint64_t started_ns = 0;  ///< since 1970
    std::string program;
};
/// How the process's to_json() begins, and no other's.
std::string identity(const ProcessName& process);

/// What to_json() writes.
struct Found {
    std::vector<Finding> findings;
    std::vector<std::string> notes;
    Totals totals;
    ProcessName process{};
};
/// The findings as JSON on one line; kfdemu(1) describes the members.
std::string to_json(const Found& found, const Checks& checks, const Coverage& coverage);

}  // namespace kfdemu::check
