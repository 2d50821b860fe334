// Runs a function in a forked child, because it may crash or hang, and returns the lines that it reports.
//
//     Answers heard = ask_in_child([](const Say& say) { say(one_line()); }, std::chrono::seconds(60));
//     if (heard.signal) …                     // it crashed; heard.lines were reported before
//
// The child is forked without exec, so it shares this process's state; threads and runtimes that the function starts
// stay in the child. The child is killed on timeout and when this process ends. Call it while this process has a single
// thread. Throws std::system_error. Source: POSIX, fork; Linux, prctl(PR_SET_PDEATHSIG).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tools {

/// Reports one line, without a line end.
using Say = std::function<void(const std::string& line)>;

struct Answers {
    std::vector<std::string> lines;
    bool timed_out = false;
    int signal = 0;  ///< signal that killed the child; 0 if none
    int status = 0;  ///< the child's exit status; 0: success
};

/// `ask` must not throw.
Answers ask_in_child(const std::function<void(const Say&)>& ask, std::chrono::milliseconds limit);

}  // namespace tools
