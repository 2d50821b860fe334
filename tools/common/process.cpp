#include "tools/common/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

extern char** environ;

namespace tools {
namespace {

std::vector<std::string> with_variables(const Surroundings& surroundings) {
    std::vector<std::string> all;
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view text = *variable;
        const std::string_view name = text.substr(0, text.find('='));
        const auto is_it = [&](const auto& given) { return given.first == name; };
        if (std::none_of(surroundings.variables.begin(), surroundings.variables.end(), is_it)) all.emplace_back(text);
    }
    for (const auto& [name, value] : surroundings.variables) all.push_back(name + "=" + value);
    return all;
}

/// The argument array for exec. Borrows: the texts.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
    all.push_back(nullptr);
    return all;
}

int not_started(int error) { return error == ENOENT ? 127 : 126; }

/// A child's file descriptors and its signal mask, which is the one from before this process blocked signals.
class Spawning {
  public:
    Spawning(const Interruptions& interruptions, const Surroundings& surroundings)
        : environment_(with_variables(surroundings)) {
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
        keep_errors(file);
    }

    void keep_errors(int file) { posix_spawn_file_actions_adddup2(&actions_, file, STDERR_FILENO); }

    void own_group() {
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes_, 0);
    }

    /// Returns errno, or 0 with `child` set.
    int start(const Command& command, pid_t& child) const {
        const std::vector<char*> arguments = pointers(command);
        return posix_spawnp(&child, arguments[0], &actions_, &attributes_, arguments.data(),
                            pointers(environment_).data());
    }

  private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
    std::vector<std::string> environment_;
};

using Clock = std::chrono::steady_clock;

/// The next signal; 0 on timeout.
int next_signal(const Interruptions& interruptions, const std::optional<Clock::time_point>& until) {
    if (!until) return sigwaitinfo(&interruptions.waited_for(), nullptr);
    const auto left = std::max<Clock::duration>(*until - Clock::now(), {});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec wait{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    const int signal = sigtimedwait(&interruptions.waited_for(), nullptr, &wait);
    return signal < 0 && errno == EAGAIN ? 0 : signal;
}

/// A child's time limit, and the function that polls for it.
struct Patience {
    std::optional<Clock::time_point> until = {};
    std::function<bool()> look = {};

    static constexpr auto pause = std::chrono::milliseconds(100);
    std::optional<Clock::time_point> next() const {
        if (!look) return until;
        const Clock::time_point soon = Clock::now() + pause;
        return until ? std::min(*until, soon) : soon;
    }
    bool over() const { return (until && Clock::now() >= *until) || (look && !look()); }
};

struct Ended {
    int status = 0;
    bool timed_out = false, stuck = false;
};

/// Time that a killed child may take to end. A child blocked in a hung driver never ends.
constexpr auto dying_time = std::chrono::seconds(5);

/// Whether the child has ended. It is not reaped, so its process ID is not reused.
bool has_ended(pid_t child) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0) return info.si_pid == child;
    if (errno == EINTR) return false;
    throw std::system_error(errno, std::generic_category(), "waitid");
}

int status_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Waits for the child or a signal. SIGCHLD and the signals are blocked, so none is lost between a check and the next
/// wait. `whom`: the process, or group (negative), to forward signals to.
Ended wait_for(pid_t child, pid_t whom, const Interruptions& interruptions, Patience patience) {
    int interrupted = 0;
    bool timed_out = false;
    while (!has_ended(child)) {
        const int signal = next_signal(interruptions, patience.next());
        if (signal < 0 || signal == SIGCHLD) continue;
        if (signal == 0 && timed_out) {
            if (interrupted) throw Interrupted{interrupted};
            return {128 + SIGKILL, true, true};
        }
        if (signal == 0) {
            if (!patience.over()) continue;
            timed_out = true;
            patience = {Clock::now() + dying_time, {}};
        } else {
            if (whom < 0) patience = {Clock::now() + std::chrono::seconds(interrupted ? 0 : 5), {}};
            interrupted = signal;
        }
        kill(whom, timed_out ? SIGKILL : signal);
    }
    if (whom < 0) kill(whom, SIGKILL);
    const int status = status_of(child);
    if (interrupted) throw Interrupted{interrupted};
    interruptions.check();
    return {status, timed_out, false};
}

/// A memory file: unlike a pipe, it needs no reader while the child runs.
class MemoryFile {
  public:
    MemoryFile() : file_(memfd_create("tools", MFD_CLOEXEC)) {
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

/// Copies a child's messages to standard error, also if the wait throws.
class PassedOn {
  public:
    explicit PassedOn(const MemoryFile& file) : file_(file) {}
    ~PassedOn() {
        const std::string text = file_.text();
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t part = write(STDERR_FILENO, text.data() + done, text.size() - done);
            if (part < 0 && errno == EINTR) continue;
            if (part <= 0) return;  // closed pipe or full disk: the exit status still reports the error
            done += static_cast<std::size_t>(part);
        }
    }
    PassedOn(const PassedOn&) = delete;
    PassedOn& operator=(const PassedOn&) = delete;

  private:
    const MemoryFile& file_;
};

bool is_ignored(int signal) {
    struct sigaction action{};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool is_plain(std::string_view word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%";
    return !word.empty() && word.find_first_not_of(plain) == word.npos;
}

}  // namespace

Interruptions::Interruptions() {
    // The parent process may have left SIGCHLD ignored; children would then be reaped automatically.
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&waited_for_);
    sigaddset(&waited_for_, SIGCHLD);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
        if (!is_ignored(signal)) sigaddset(&waited_for_, signal);
    // Writing to a closed pipe is an error of write() and does not kill this process.
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

Captured run(const Command& command, const Interruptions& interruptions) {
    interruptions.check();
    const MemoryFile file;
    Spawning spawning(interruptions, {});
    spawning.keep_errors(file.descriptor());
    pid_t child = 0;
    if (const int error = spawning.start(command, child)) return {not_started(error), "", false, false};
    const PassedOn passed_on(file);
    const int status = wait_for(child, child, interruptions, {}).status;
    return {status, file.text(), false, false};
}

Captured capture(const Command& command, const Interruptions& interruptions, const Surroundings& surroundings) {
    interruptions.check();
    const MemoryFile file;
    Spawning spawning(interruptions, surroundings);
    spawning.keep_output(file.descriptor());
    spawning.own_group();
    Patience patience{{}, surroundings.look};
    if (surroundings.limit) patience.until = Clock::now() + *surroundings.limit;
    pid_t child = 0;
    if (const int error = spawning.start(command, child)) return {not_started(error), "", false, false};
    const Ended ended = wait_for(child, -child, interruptions, std::move(patience));
    return {ended.status, file.text(), ended.timed_out, ended.stuck};
}

void die_of(int number) {
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number);
}

std::string signal_name(int signal) {
    const char* name = sigabbrev_np(signal);
    return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
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

}  // namespace tools
