#include "hsadrv/compile/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "hsadrv/error.hpp"

extern char** environ;

namespace hsadrv::detail {
namespace {

constexpr int first_of_more = 3;

[[noreturn]] void refuse(const std::string& call, int error) {
    throw Error(call + ": " + std::strerror(error), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
}

/// The child's standard output. A pipe, because its end tells that the child and its descendants have ended, and
/// because linkers make a temporary file beside an output that is a regular file.
class Pipe {
  public:
    Pipe() {
        int made[2];
        if (pipe2(made, O_CLOEXEC) != 0) refuse("pipe2", errno);
        read_ = made[0];
        write_ = fcntl(made[1], F_DUPFD_CLOEXEC, first_free_descriptor);
        const int error = errno;
        ::close(made[1]);
        if (write_ >= 0) return;
        ::close(read_);
        refuse("fcntl(F_DUPFD_CLOEXEC)", error);
    }
    ~Pipe() {
        ::close(read_);
        close_write();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int write_end() const { return write_; }
    void close_write() {
        if (write_ >= 0) ::close(write_);
        write_ = -1;
    }

    /// False if the deadline passed before the end.
    bool read_all(std::string& text, const Deadline& deadline) const {
        char part[65536];
        while (true) {
            pollfd wait{read_, POLLIN, 0};
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(deadline.sliced(std::chrono::seconds(10)).remaining());
            const int ready = poll(&wait, 1, static_cast<int>(left.count()));
            if (ready <= 0) {
                if (deadline.passed()) return false;
                continue;
            }
            const ssize_t got = ::read(read_, part, sizeof part);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) refuse("read of a child's output", errno);
            if (got == 0) return true;
            text.append(part, static_cast<std::size_t>(got));
        }
    }

  private:
    int read_ = -1, write_ = -1;
};

class Spawning {
  public:
    explicit Spawning(const Streams& streams, int output) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        give(streams.input, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
        give(streams.errors, STDERR_FILENO);
        int next = first_of_more;
        for (const MemoryFile* file : streams.more) give(file, next++);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
        posix_spawn_file_actions_addclosefrom_np(&actions_, next);
#endif
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setpgroup(&attributes_, 0);
    }
    ~Spawning() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    Spawning(const Spawning&) = delete;
    Spawning& operator=(const Spawning&) = delete;

    pid_t start(const std::vector<std::string>& command) const {
        std::vector<char*> words;
        for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        pid_t child = 0;
        const int error = posix_spawn(&child, words[0], &actions_, &attributes_, words.data(), environ);
        if (error != 0) throw Error(command.front() + " cannot be started: " + std::strerror(error));
        return child;
    }

  private:
    void give(const MemoryFile* file, int as) {
        if (file)
            posix_spawn_file_actions_adddup2(&actions_, file->descriptor(), as);
        else
            posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", as == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
    }

    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

/// A started child. The destructor leaves none: it kills the group, if the child has not ended.
class Child {
  public:
    explicit Child(pid_t child) : child_(child) {}
    ~Child() {
        if (ended_) return;
        kill(-child_, SIGKILL);
        wait(dying_time);  // one that is blocked in the kernel is left to it
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// False if the deadline passed first.
    bool wait(const Deadline& deadline) {
        // Its output has ended, so it is about to: this seldom polls twice.
        for (auto pause = std::chrono::microseconds(20); !reap(WNOHANG); pause = std::min(pause * 2, longest_pause)) {
            if (deadline.passed()) return false;
            std::this_thread::sleep_for(pause);
        }
        return true;
    }
    std::optional<int> status() const { return status_; }

  private:
    static constexpr std::chrono::microseconds longest_pause{5000};
    static constexpr std::chrono::seconds dying_time{5};

    bool reap(int flags) {
        int status = 0;
        const pid_t got = waitpid(child_, &status, flags);
        if (got < 0 && errno == EINTR) return false;
        if (got == 0) return false;
        ended_ = true;
        if (got == child_) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return true;
    }

    pid_t child_;
    bool ended_ = false;
    std::optional<int> status_;
};

/// Ends a child that hangs and that no Child is left to kill, because this process was killed. Linkers have threads, so
/// twice the time. The child's own children inherit the limit.
void limit_processor_time(pid_t child, const Deadline& deadline) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(deadline.sliced(std::chrono::hours(1)).remaining());
    const rlim_t seconds = 2 * static_cast<rlim_t>(left.count()) + 1;
    rlimit limit;
    if (prlimit(child, RLIMIT_CPU, nullptr, &limit) != 0) return;  // the child has ended
    limit = {std::min(limit.rlim_cur, seconds), std::min(limit.rlim_max, seconds)};
    prlimit(child, RLIMIT_CPU, &limit, nullptr);
}

}  // namespace

std::string child_file(std::size_t index) {
    return "/proc/self/fd/" + std::to_string(first_of_more + static_cast<int>(index));
}

Ended run_child(const std::vector<std::string>& command, const Streams& streams, const Deadline& deadline) {
    Pipe output;
    Ended ended;
    const pid_t started = Spawning(streams, output.write_end()).start(command);
    Child child(started);
    limit_processor_time(started, deadline);
    output.close_write();
    if (!output.read_all(ended.output, deadline) || !child.wait(deadline)) {
        throw Timeout(command.front() + " did not end within " + deadline.text() +
                      "; it was killed: give a later deadline, or look for what blocks it");
    }
    ended.status = child.status();
    return ended;
}

}  // namespace hsadrv::detail
