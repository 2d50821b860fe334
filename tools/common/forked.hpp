// A question that is asked in a child of this process, because what answers it may crash or hang.
//
//     Answers heard = ask_in_child([](const Say& say) { say(one_line()); }, std::chrono::seconds(60));
//     if (heard.signal) …                     // it crashed; heard.lines is what it said before
//
// The child is forked and executes nothing else, so it has what this process has; whatever the question starts
// (threads, a runtime) stays in it. It is killed when the time is over, and when this process ends. Call it while this
// process has one thread. Throws: std::system_error. Source: POSIX, fork; Linux, prctl(PR_SET_PDEATHSIG).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tools {

/// Hands over one line, which has no line end in it.
using Say = std::function<void(const std::string& line)>;

struct Answers {
    std::vector<std::string> lines;
    bool timed_out = false;
    int signal = 0;  ///< that it died of; 0 if it did not
    int status = 0;  ///< its exit status; 0: the question was answered
};

/// `ask` must not throw.
Answers ask_in_child(const std::function<void(const Say&)>& ask, std::chrono::milliseconds limit);

}  // namespace tools
