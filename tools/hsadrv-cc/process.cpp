#include "process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

extern char** environ;

namespace hsadrv_cc {
namespace {

/// What a child's file descriptors are to be, and its signals: as they were before ours were blocked.
class Spawning {
  public:
    explicit Spawning(const Interruptions& interruptions) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setsigmask(&attributes_, &interruptions.before());
    }
    ~Spawning() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    Spawning(const Spawning&) = delete;
    Spawning& operator=(const Spawning&) = delete;

    void keep_output(int file) {
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, file, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, file, STDERR_FILENO);
    }

    /// errno, or 0 and a child.
    int start(const Command& command, pid_t& child) const {
        std::vector<char*> arguments;
        for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        return posix_spawnp(&child, arguments[0], &actions_, &attributes_, arguments.data(), environ);
    }

  private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

/// Waits for the child and for signals at once; both are blocked, so neither comes between a look and the next wait.
int wait_for(pid_t child, const Interruptions& interruptions) {
    int interrupted = 0;
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
        if (ended == child) {
            if (interrupted) throw Interrupted{interrupted};
            interruptions.check();
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        const int signal = sigwaitinfo(&interruptions.waited_for(), nullptr);
        if (signal <= 0 || signal == SIGCHLD) continue;
        interrupted = signal;
        kill(child, signal);
    }
}

int start_and_wait(const Spawning& spawning, const Command& command, const Interruptions& interruptions) {
    interruptions.check();
    pid_t child = 0;
    if (const int error = spawning.start(command, child)) return error == ENOENT ? 127 : 126;
    return wait_for(child, interruptions);
}

/// A file in memory: a pipe would have to be emptied while waiting.
class MemoryFile {
  public:
    MemoryFile() : file_(memfd_create("hsadrv-cc", MFD_CLOEXEC)) {
        if (file_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
    }
    ~MemoryFile() { close(file_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    int descriptor() const { return file_; }

    std::string text() const {
        std::string all;
        char part[4096];
        for (ssize_t got; (got = pread(file_, part, sizeof part, static_cast<off_t>(all.size()))) > 0;)
            all.append(part, static_cast<std::size_t>(got));
        return all;
    }

  private:
    int file_;
};

bool is_ignored(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool is_plain(std::string_view word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%";
    return !word.empty() && word.find_first_not_of(plain) == word.npos;
}

}  // namespace

Interruptions::Interruptions() {
    // Whoever started us may have left SIGCHLD ignored, and then there would be no child to wait for.
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&waited_for_);
    sigaddset(&waited_for_, SIGCHLD);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
        if (!is_ignored(signal)) sigaddset(&waited_for_, signal);
    // A reader that has gone is an error of write(), not the end of us.
    sigset_t blocked = waited_for_;
    sigaddset(&blocked, SIGPIPE);
    sigprocmask(SIG_BLOCK, &blocked, &before_);
}

Interruptions::~Interruptions() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

void Interruptions::check() const {
    sigset_t pending;
    sigpending(&pending);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
        if (sigismember(&waited_for_, signal) && sigismember(&pending, signal)) throw Interrupted{signal};
}

int run(const Command& command, const Interruptions& interruptions) {
    return start_and_wait(Spawning(interruptions), command, interruptions);
}

Captured capture(const Command& command, const Interruptions& interruptions) {
    const MemoryFile file;
    Spawning spawning(interruptions);
    spawning.keep_output(file.descriptor());
    const int status = start_and_wait(spawning, command, interruptions);
    return {status, file.text()};
}

std::string shell_words(const Command& command) {
    std::string text;
    for (const std::string& word : command) {
        if (!text.empty()) text += ' ';
        if (is_plain(word)) {
            text += word;
            continue;
        }
        text += '\'';
        for (char c : word) c == '\'' ? text += "'\\''" : text += c;
        text += '\'';
    }
    return text;
}

}  // namespace hsadrv_cc
