#include "tools/hsadrv/conformance/runner.hpp"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <fstream>

namespace hsadrv_tool {
namespace {

using Clock = std::chrono::steady_clock;

TestResult* find(const std::vector<TestResult*>& tests, const std::string& name) {
    const auto found =
        std::find_if(tests.begin(), tests.end(), [&](const TestResult* test) { return test->name == name; });
    return found == tests.end() ? nullptr : *found;
}

/// The end of what was printed between two places, in whole lines.
std::string printed(const std::string& output, std::size_t begin, std::size_t end) {
    constexpr std::size_t most = 4000;
    end = std::min(end, output.size());
    if (begin >= end) return "";
    std::string text = output.substr(begin, end - begin);
    if (text.size() > most) {
        const std::size_t line = text.find('\n', text.size() - most);
        text = "…\n" + text.substr(line == text.npos ? text.size() - most : line + 1);
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

void add_some_line(std::string& text, const std::string& line) {
    if (!line.empty()) text += (text.empty() ? "" : "\n") + line;
}

int severity(Outcome outcome) {
    return is_failure(outcome) ? 3 : outcome == Outcome::passed ? 2 : outcome == Outcome::skipped ? 1 : 0;
}

}  // namespace

std::string ending_of(int status) {
    if (status <= 128 || status > 128 + SIGRTMAX) return fmt::format("exit status {}", status);
    return tools::signal_name(status - 128);
}

bool Runner::stopped() const { return options_.fail_fast && count(report_).failures() > 0; }

void Runner::run() {
    std::size_t next = 0;
    std::vector<TestResult>& tests = report_.tests;
    while (next < tests.size() && !stopped()) {
        const TestResult& first = tests[next];
        const bool stress = options_.stress.count() > 0 && first.area == "stress";
        Tests together;
        for (; next < tests.size() && tests[next].area == first.area && (stress || tests[next].file == first.file);
             ++next)
            together.push_back(&tests[next]);
        done_ = next - together.size();
        stress ? run_stress(together) : run_file(together);
    }
    progress_.clear();
    if (flatness_) tests.push_back(*flatness_);
    for (TestResult& test : tests)
        if (test.outcome == Outcome::not_run && test.message.empty())
            test.message = "a test before it failed, and --fail-fast was given";
}

void Runner::run_file(Tests pending) {
    while (!pending.empty() && !stopped()) {
        JournalReader journal(scratch_ / fmt::format("journal-{}", ++children_), options_.seed);
        run_child(pending, journal, 0);
        std::erase_if(pending, [](const TestResult* test) { return test->outcome != Outcome::not_run; });
    }
}

void Runner::run_stress(Tests tests) {
    StressRounds& stress = report_.stress.emplace();
    stress.minutes = options_.stress.count() / 60;
    stress.first_seed = options_.seed;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.stress);
    unsigned long seed = options_.seed;
    std::string grown;
    const auto take = [&](const JournalReader& journal) {
        stress.rounds += journal.rounds().size();
        stress.last_seed = seed = journal.seed();
        if (!journal.rounds().empty()) stress.last_seed = journal.rounds().back().seed;
        add_some_line(grown, growth(journal.rounds(), stress));
    };
    do {
        JournalReader journal(scratch_ / fmt::format("journal-{}", ++children_), seed);
        const double left = std::max(0.0, std::chrono::duration<double>(end - Clock::now()).count());
        try {
            run_child(tests, journal, left);
        } catch (const tools::Interrupted&) {
            take(journal);
            throw;
        }
        take(journal);
        // The test that crashed or hung has its verdict; the others continue.
        std::erase_if(tests, [](const TestResult* test) {
            return test->outcome == Outcome::crashed || test->outcome == Outcome::timed_out;
        });
    } while (!tests.empty() && !stopped() && Clock::now() < end);
    if (!stress.after) return;
    const std::string numbers =
        fmt::format("memory {} KiB, then {} KiB; descriptors {}, then {}", stress.before->resident_kb,
                    stress.after->resident_kb, stress.before->descriptors, stress.after->descriptors);
    flatness_ =
        TestResult{"stress", "", "memory and descriptors stay as they are from round to round",
                   grown.empty() ? Outcome::passed : Outcome::failed, grown.empty() ? "" : grown + "\n" + numbers};
}

void Runner::run_child(const Tests& tests, JournalReader& journal, double seconds) {
    const std::string names = scratch_ / "names", path = scratch_ / fmt::format("journal-{}", children_);
    {
        std::ofstream file(names);
        for (const TestResult* test : tests) file << test->name << '\n';
    }
    stopping_ = false;
    const tools::Command command{program_.string(),
                                 "--conformance-run",
                                 names,
                                 path,
                                 report_.device->name,
                                 std::to_string(journal.seed()),
                                 std::to_string(static_cast<unsigned long>(seconds))};
    try {
        const tools::Captured said = tools::capture(
            command, interruptions_, {options_.variables, {}, [&] { return look(tests, journal, seconds); }});
        journal.read();
        settle(tests, journal, said.text);
        explain_end(tests, journal, said);
    } catch (const tools::Interrupted&) {
        progress_.clear();
        journal.read();
        settle(tests, journal, "");
        for (TestResult& test : report_.tests)
            if (test.outcome == Outcome::not_run)
                test.message = journal.running() && journal.running()->name == test.name
                                   ? "interrupted in the middle of it"
                                   : "interrupted before it";
        throw;
    }
}

/// Whether the child may go on.
bool Runner::look(const Tests& tests, JournalReader& journal, double seconds) {
    journal.read();
    const std::string name = journal.running() ? journal.running()->name : "starting";
    const std::string place = seconds > 0
                                  ? fmt::format("round {}", journal.rounds().size() + 1)
                                  : fmt::format("{} of {}", done_ + journal.ended().size() + 1, report_.tests.size());
    progress_.say(fmt::format("{}, {}: {}", tests.front()->area, place, name));
    stopping_ = options_.fail_fast && std::any_of(journal.ended().begin(), journal.ended().end(),
                                                  [](const EndedTest& test) { return is_failure(test.outcome); });
    return !stopping_ && Clock::now() - journal.last() < options_.timeout;
}

/// Adds ended tests to the report. With several rounds the worst outcome counts.
void Runner::settle(const Tests& tests, const JournalReader& journal, const std::string& output) {
    for (const EndedTest& ended : journal.ended()) {
        TestResult* const test = find(tests, ended.name);
        if (!test) continue;
        test->seconds += ended.seconds;
        const bool first_failure = is_failure(ended.outcome) && !is_failure(test->outcome);
        if (severity(ended.outcome) >= severity(test->outcome) && !is_failure(test->outcome)) {
            test->outcome = ended.outcome;
            test->message = ended.message;
        }
        if (!first_failure) continue;
        if (test->message.empty()) test->message = "failed without saying why";
        if (ended.seed != 0) test->message += fmt::format("\nHSADRV_TEST_SEED={}", ended.seed);
        test->output = printed(output, ended.output_begin, ended.output_end);
    }
}

/// If the child did not end by itself after its last test: the test to blame.
void Runner::explain_end(const Tests& tests, const JournalReader& journal, const tools::Captured& said) {
    if (stopping_) return;
    const auto& running = journal.running();
    const bool all_begun = std::all_of(tests.begin(), tests.end(),
                                       [](const TestResult* test) { return test->outcome != Outcome::not_run; });
    if (!running && said.status == 0 && !said.timed_out && all_begun) return;

    std::string name = running ? running->name : !journal.ended().empty() ? journal.ended().back().name : "";
    const char* when = running ? "in the middle of it" : "after it";
    const auto waiting = std::find_if(tests.begin(), tests.end(),
                                      [](const TestResult* test) { return test->outcome == Outcome::not_run; });
    if (!running && waiting != tests.end() && (journal.ended().empty() || said.status == 0)) {
        name = (*waiting)->name;
        when = "before it began";
    }
    TestResult* const test = find(tests, name);
    if (!test) return;
    test->outcome = said.timed_out ? Outcome::timed_out : said.status > 128 ? Outcome::crashed : Outcome::failed;
    std::string message = said.timed_out
                              ? fmt::format("nothing happened for {} s {}: killed", options_.timeout.count(), when)
                              : fmt::format("the suite's program ended with {} {}", ending_of(said.status), when);
    if (journal.seed() != 0) message += fmt::format("\nHSADRV_TEST_SEED={}", journal.seed());
    if (running) {
        add_some_line(message, running->fatal);
        add_some_line(message, running->failures);
        test->seconds += std::chrono::duration<double>(Clock::now() - journal.last()).count();
    }
    test->message = message;
    test->output = printed(said.text, running ? running->output_begin : 0, said.text.size());
}

}  // namespace hsadrv_tool
