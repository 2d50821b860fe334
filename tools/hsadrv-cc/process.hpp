// Running other programs, so that a signal to this one ends them first and leaves time to tidy up.
//
//     Interruptions interruptions;                       // in main, once: signals wait for run() and capture() now
//     if (int status = run({"clang", "-c", "k.cl"}, interruptions)) …
//     Captured said = capture({"clang", "--version"}, interruptions);
//
// SIGINT, SIGTERM and SIGHUP are handed on to the running child; when that has ended, Interrupted is thrown, and main
// dies of the signal after destructors have removed what there was. Signals that were ignored stay so. Thread safety:
// one thread. Source: POSIX, sigwaitinfo and posix_spawn.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace hsadrv_cc {

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
    int status = 0;
    std::string text;  ///< standard output and standard error
};

/// The exit status, as a shell gives it: 127 if there is no such program, 128 + N for signal N. The child has our
/// streams.
int run(const Command& command, const Interruptions& interruptions);

/// The same for a child without input whose output is kept.
Captured capture(const Command& command, const Interruptions& interruptions);

/// As one would type it.
std::string shell_words(const Command& command);

}  // namespace hsadrv_cc
