// Runs other programs; a signal to this process ends them first and leaves time to clean up.
//
//     Interruptions interruptions;                       // once, in main: run() and capture() now handle signals
//     if (run({"clang", "-c", "k.cl"}, interruptions).status != 0) …
//     Captured said = capture({"clang", "--version"}, interruptions);
//
// SIGINT, SIGTERM and SIGHUP are forwarded to the running child; when it has ended, Interrupted is thrown, destructors
// clean up, and main ends the process by the signal. Ignored signals stay ignored. Thread safety: one thread. Source:
// POSIX, sigwaitinfo and posix_spawn.
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

/// Blocks this process's signals until it is destroyed.
class Interruptions {
  public:
    Interruptions();
    ~Interruptions();
    Interruptions(const Interruptions&) = delete;
    Interruptions& operator=(const Interruptions&) = delete;

    const sigset_t& waited_for() const { return waited_for_; }
    const sigset_t& before() const { return before_; }
    /// Throws Interrupted if a signal is pending.
    void check() const;

  private:
    sigset_t waited_for_, before_;
};

struct Captured {
    int status = 0;          ///< as in a shell: 127 if there is no such program, 128 + N for signal N
    std::string text;        ///< the captured standard output and standard error
    bool timed_out = false;  ///< the child and its descendants were killed
    bool stuck = false;      ///< the kill did not end it: it is blocked in the kernel and was abandoned
};

/// A child's differences from this process.
struct Surroundings {
    std::vector<std::pair<std::string, std::string>> variables;  ///< override this process's environment
    std::optional<std::chrono::milliseconds> limit;              ///< time limit
    std::function<bool()> look = {};  ///< called ten times a second; false: treat as timed out
};

/// The child inherits the standard streams except standard error, which is captured, and copied to this process's when
/// the child has ended or was interrupted.
Captured run(const Command& command, const Interruptions& interruptions);

/// Runs a child without input and captures its standard output and standard error. The child leads a new process group;
/// what remains of the group when it has ended is killed. The whole group is killed five seconds after a forwarded
/// signal, or at the second signal.
Captured capture(const Command& command, const Interruptions& interruptions, const Surroundings& surroundings = {});

/// Ends this process by the signal, as if it were not handled.
[[noreturn]] void die_of(int signal);

/// "SIGSEGV"; "signal 40" for one without a name.
std::string signal_name(int signal);

/// Quoted for a shell.
std::string shell_words(const Command& command);

}  // namespace tools
