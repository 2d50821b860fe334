#include "tools/common/forked.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace tools {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) _exit(1);  // the parent has closed the pipe
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

[[noreturn]] void be_child(int to, pid_t parent, const std::function<void(const Say&)>& ask) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    ask([to](const std::string& line) { write_all(to, line + '\n'); });
    _exit(0);  // without static destructors: those objects are the parent's
}

/// Reads until the other end is closed; false on timeout.
bool listen(int from, Clock::time_point until, std::string& said) {
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        if (left <= 0) return false;
        pollfd wait{from, POLLIN, 0};
        if (poll(&wait, 1, static_cast<int>(std::min<long long>(left, 1000))) <= 0) continue;
        char part[4096];
        const ssize_t got = read(from, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        said.append(part, static_cast<std::size_t>(got));
    }
}

/// Drops an unterminated last line, which a crash cut off.
std::vector<std::string> whole_lines(const std::string& said) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0, end; (end = said.find('\n', begin)) != said.npos; begin = end + 1)
        lines.push_back(said.substr(begin, end - begin));
    return lines;
}

}  // namespace

Answers ask_in_child(const std::function<void(const Say&)>& ask, std::chrono::milliseconds limit) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
    const pid_t parent = getpid(), child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        fail("fork");
    }
    if (child == 0) {
        close(ends[0]);
        be_child(ends[1], parent, ask);
    }
    close(ends[1]);
    std::string said;
    Answers answers;
    answers.timed_out = !listen(ends[0], Clock::now() + limit, said);
    close(ends[0]);
    if (answers.timed_out) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    answers.lines = whole_lines(said);
    if (WIFSIGNALED(status) && !answers.timed_out) answers.signal = WTERMSIG(status);
    if (WIFEXITED(status)) answers.status = WEXITSTATUS(status);
    return answers;
}

}  // namespace tools
