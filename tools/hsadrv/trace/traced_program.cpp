#include "tools/hsadrv/trace/traced_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tools/common/own_program.hpp"
#include "tools/hsadrv/exit_status.hpp"

namespace hsadrv_tool::trace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what) {
    throw tools::Failure(exit_status::files, fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Beside this program in a build directory, else among the installed libraries.
fs::path trace_library() {
    const char* const name = "libhsadrv-trace.so";
    const fs::path here = tools::own_program().parent_path();
    for (const fs::path& folder : {here / "../trace", here / HSADRV_LIBRARIES_FROM_BIN})
        if (fs::exists(folder / name)) return fs::canonical(folder / name);
    throw tools::Failure(exit_status::files,
                         fmt::format("{} is not in {}: build or install it", name,
                                     (here / HSADRV_LIBRARIES_FROM_BIN).lexically_normal().string()));
}

/// A path as the runtime's list of tools has it: with a backslash before blanks, quotes and backslashes.
std::string escaped(const std::string& path) {
    std::string text;
    for (const char c : path) {
        if (c == ' ' || c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text;
}

/// The tools that the program's runtime loads: ours is the last, and so the first to see a call.
void set_environment(const TraceOptions& options) {
    const std::string library = escaped(trace_library().string());
    const char* const others = std::getenv("HSA_TOOLS_LIB");
    if (others == nullptr || *others == 0)
        setenv("HSA_TOOLS_LIB", library.c_str(), 1);
    else if (std::string_view{others}.find(library) == std::string_view::npos)
        setenv("HSA_TOOLS_LIB", (std::string{others} + " " + library).c_str(), 1);
    setenv("HSADRV_TRACE", fs::absolute(options.file).c_str(), 1);
    if (options.limit_bytes != 0) setenv("HSADRV_TRACE_LIMIT", std::to_string(options.limit_bytes).c_str(), 1);
    if (options.ring) setenv("HSADRV_TRACE_RING", "1", 1);
}

/// Whether a regular file is empty or begins as a trace: a packet whose first field is its timestamp.
bool is_trace(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(path, error)) || error) return false;
    std::ifstream file{path, std::ios::binary};
    char head[6] = {};
    file.read(head, sizeof head);
    return file.gcount() == 0 || (file.gcount() == 6 && head[0] == '\x0a' && head[5] == '\x40');
}

/// The trace's files in its folder: FILE, and of further processes FILE.PID and FILE.PID.N; of each, what was full
/// before it (--ring) first, with .older at its end.
std::vector<fs::path> all_files(const fs::path& file) {
    std::vector<fs::path> found;
    const std::string name = file.filename().string();
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::absolute(file).parent_path(), error)) {
        std::string rest = entry.path().filename().string();
        if (!rest.starts_with(name)) continue;
        rest.erase(0, name.size());
        if (rest.ends_with(".older")) rest.resize(rest.size() - std::strlen(".older"));
        const bool is_number = rest.size() > 1 && rest[0] == '.' && rest.find_first_not_of("0123456789.") == rest.npos;
        if (rest.empty() || is_number) found.push_back(entry.path());
    }
    const auto key = [](const fs::path& path) {
        const std::string text = path.string();
        return text.ends_with(".older") ? text.substr(0, text.size() - 6) + " " : text + "!";
    };
    std::sort(found.begin(), found.end(), [&](const fs::path& a, const fs::path& b) { return key(a) < key(b); });
    return found;
}

/// An earlier trace is replaced; any other file is not.
void remove_earlier(const fs::path& file) {
    for (const fs::path& earlier : {file, fs::path{file.string() + ".older"}}) {
        if (!fs::exists(fs::symlink_status(earlier))) continue;
        if (!is_trace(earlier))
            throw tools::Failure(exit_status::files,
                                 fmt::format("'{}' is there, and no trace: it is not replaced", earlier.string()));
        std::error_code error;
        fs::remove(earlier, error);
        if (error) throw tools::Failure(exit_status::files, fmt::format("'{}': {}", earlier.string(), error.message()));
    }
}

/// Whether the file can be made where it is wanted, before the program runs.
void try_file(const fs::path& file) {
    const int made = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made < 0) fail(fmt::format("cannot write '{}'", file.string()));
    close(made);
    fs::remove(file);
}

/// Whether no process writes it any more.
bool is_finished(const fs::path& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool finished = flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    close(file);
    return finished;
}

/// Traces of several processes are one trace, one after the other: those of this run.
void join_files(const fs::path& file, fs::file_time_type start) {
    std::vector<fs::path> parts;
    for (const fs::path& path : all_files(file))
        if (is_trace(path) && fs::last_write_time(path) >= start) parts.push_back(path);
    if (parts.empty() || (parts.size() == 1 && parts[0].filename() == file.filename())) return;
    for (const fs::path& part : parts) {
        if (is_finished(part)) continue;
        fmt::print(stderr, "hsadrv: a process still writes {}: the run's files are not joined\n", part.string());
        return;
    }
    const fs::path joined = file.string() + ".joined";
    std::ofstream to{joined, std::ios::binary};
    for (const fs::path& part : parts) to << std::ifstream{part, std::ios::binary}.rdbuf();
    to.close();
    if (!to) fail(fmt::format("cannot write '{}'", joined.string()));
    for (const fs::path& part : parts) fs::remove(part);
    fs::rename(joined, file);
}

volatile sig_atomic_t child = 0;
void pass_on(int signal) {
    if (child > 0) kill(static_cast<pid_t>(child), signal);
}

/// While the program runs: the terminal's signals are its own.
class Signals {
  public:
    Signals() {
        struct sigaction action{};
        for (std::size_t n = 0; n < all.size(); ++n) {
            action.sa_handler = all[n] == SIGINT || all[n] == SIGQUIT ? SIG_IGN : pass_on;
            sigaction(all[n], &action, &before_[n]);
        }
    }
    ~Signals() { restore(); }
    void restore() const {
        for (std::size_t n = 0; n < all.size(); ++n) sigaction(all[n], &before_[n], nullptr);
    }

  private:
    static constexpr std::array all = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    std::array<struct sigaction, all.size()> before_{};
};

int wait_for_child() {
    int status = 0;
    while (waitpid(static_cast<pid_t>(child), &status, 0) < 0)
        if (errno != EINTR) fail("waitpid()");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

[[noreturn]] void become(const std::vector<std::string>& command) {
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    const int error = errno;
    fmt::print(stderr, "hsadrv: cannot run {}: {}\n", command[0], std::strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

}  // namespace

int run_traced(const std::vector<std::string>& command, const TraceOptions& options) {
    remove_earlier(options.file);
    try_file(options.file);
    set_environment(options);
    const fs::file_time_type start = fs::last_write_time(fs::absolute(options.file).parent_path());
    const Signals signals;
    const pid_t made = fork();
    if (made < 0) fail("fork()");
    if (made == 0) {
        signals.restore();
        become(command);
    }
    child = made;
    const int status = wait_for_child();
    child = 0;
    join_files(options.file, start);
    return status;
}

}  // namespace hsadrv_tool::trace
