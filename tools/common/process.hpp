// Running other programs, so that a signal to this one ends them first and leaves time to tidy up.
//
//     Interruptions interruptions;                       // in main, once: signals wait for run() and capture() now
//     if (run({"clang", "-c", "k.cl"}, interruptions).status != 0) …
//     Captured said = capture({"clang", "--version"}, interruptions);
//
// SIGINT, SIGTERM and SIGHUP are handed on to the running child; when that has ended, Interrupted is thrown, and main
// dies of the signal after destructors have removed what there was. Signals that were ignored stay so. Thread safety:
// one thread. Source: POSIX, sigwaitinfo and posix_spawn.
#pragma once

#include <signal.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tools {

using Command = std::vector<std::string>;

struct Interrupted {
    int signal;
};

/// Keeps this process's signals from it until it goes.
class Interruptions {
  public:
    Interruptions();
    ~Interruptions();
    Interruptions(const Interruptions&) = delete;
    Interruptions& operator=(const Interruptions&) = delete;

    const sigset_t& waited_for() const { return waited_for_; }
    const sigset_t& before() const { return before_; }
    /// Throws Interrupted if a signal came meanwhile.
    void check() const;

  private:
    sigset_t waited_for_, before_;
};

struct Captured {
    int status = 0;          ///< as a shell gives it: 127 if there is no such program, 128 + N for signal N
    std::string text;        ///< what was kept of standard output and standard error
    bool timed_out = false;  ///< and was killed, with what it had started
    bool stuck = false;      ///< even that did not end it: it waits inside the kernel, and was left to it
};

/// What a child is to have that we have not.
struct Surroundings {
    std::vector<std::pair<std::string, std::string>> variables;  ///< of the environment, in place of ours
    std::optional<std::chrono::milliseconds> limit;              ///< how long it may take
    std::function<bool()> look = {};  ///< asked ten times a second; false: it has taken too long
};

/// The child has our streams, but for standard error: that is kept, and written to ours when the child has ended or was
/// interrupted.
Captured run(const Command& command, const Interruptions& interruptions);

/// For a child without input whose output, of both kinds, is kept. It is the first of a process group of its own, and
/// what is left of that when it has ended is killed. So is all of it five seconds after a signal was handed on, or at
/// the second signal.
Captured capture(const Command& command, const Interruptions& interruptions, const Surroundings& surroundings = {});

/// Ends this process as if it had never caught the signal.
[[noreturn]] void die_of(int signal);

/// "SIGSEGV"; "signal 40" for one without a name.
std::string signal_name(int signal);

/// As one would type it.
std::string shell_words(const Command& command);

}  // namespace tools
