#include "hsadrv/base/call_log.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <typeinfo>

#include "hsadrv/error.hpp"

namespace hsadrv::detail::call_log {
namespace {

constexpr std::string_view names[] = {"driver", "memory", "signal", "queue", "stream", "launch", "code"};
constexpr std::uint32_t every_area = (1u << std::size(names)) - 1;
constexpr std::uint32_t undecided = 1u << 31;

using Clock = std::chrono::steady_clock;

std::once_flag decided;
int file = STDERR_FILENO;     // written by decide()
Clock::time_point beginning;  // of the first line's call; written by decide()

thread_local unsigned depth = 0;

int opened(const std::string& name) {
    if (name.empty()) return STDERR_FILENO;
    const int made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (made >= 0) return made;
    throw Error("HSADRV_LOG: file " + name + " cannot be opened: " + std::strerror(errno));
}

/// Reads the environment. A setting that is wrong is reported and leaves the log off: a diagnosis must not stop the
/// program.
void decide() noexcept {
    std::uint32_t wanted = 0;
    try {
        const char* set = ::secure_getenv("HSADRV_LOG");
        if (set && *set) {
            const Setting setting = parse(set);
            file = opened(setting.file);
            wanted = setting.areas;
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hsadrv: %s; nothing is logged\n", error.what());
    }
    beginning = Clock::now();
    areas.store(wanted, std::memory_order_relaxed);
}

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// While it exists, this thread's writes to a closed pipe raise no SIGPIPE, which would end the program.
class NoPipeSignal {
  public:
    NoPipeSignal() noexcept {
        sigset_t pending;
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    NoPipeSignal(const NoPipeSignal&) = delete;
    NoPipeSignal& operator=(const NoPipeSignal&) = delete;
    ~NoPipeSignal() {
        const timespec now{};
        if (!was_pending_)  // then it is ours
            while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
            }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

  private:
    sigset_t pipe_{}, before_{};
    bool was_pending_ = false;
};

std::string type_of(const std::exception& error) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(
        abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status), ::free);
    return status == 0 ? name.get() : typeid(error).name();
}

/// A message may have several lines.
std::string in_one_line(std::string text) {
    for (char& c : text)
        if (c == '\n') c = ' ';
    return text;
}

}  // namespace

std::atomic<std::uint32_t> areas{undecided | every_area};

Setting parse(std::string_view text) {
    constexpr std::string_view file_word = "file=";
    Setting setting;
    while (true) {
        const std::string_view word = text.substr(0, text.find(','));
        std::uint32_t found = word == "all" || word == "1" ? every_area : 0;
        for (std::size_t i = 0; i < std::size(names); ++i)
            if (word == names[i]) found = 1u << i;
        if (word.starts_with(file_word) && word.size() > file_word.size()) {
            setting.file = word.substr(file_word.size());
        } else if (found == 0 && word != "stderr") {
            throw InvalidArgument("HSADRV_LOG: '" + std::string(word) +
                                  "' is none of all, driver, memory, signal, queue, stream, launch, code, stderr and "
                                  "file=NAME, separated by commas");
        }
        setting.areas |= found;
        if (text.find(',') == text.npos) break;
        text.remove_prefix(text.find(',') + 1);
    }
    if (setting.areas == 0) setting.areas = every_area;
    return setting;
}

bool is_on(Area area) noexcept {
    std::call_once(decided, decide);
    return areas.load(std::memory_order_relaxed) & 1u << static_cast<unsigned>(area);
}

Call::Call(Area area, const char* name) noexcept
    : area_(area), name_(name), outermost_(depth++ == 0), begin_(Clock::now()) {}

Call::~Call() { --depth; }

void Call::end(const std::string& result) const noexcept {
    if (!outermost_) return;
    try {
        write(result.empty() ? "" : " = " + result);
    } catch (const std::exception&) {  // no memory for the line
    }
}

void Call::fail(const std::exception* error) const noexcept {
    if (!outermost_) return;
    try {
        write(error ? " threw " + type_of(*error) + ": " + in_one_line(error->what()) : " threw");
    } catch (const std::exception&) {
    }
}

void Call::write(const std::string& outcome) const {
    const Clock::time_point end = Clock::now();
    char head[64], tail[32];
    std::snprintf(head, sizeof head, "hsadrv %.6f %d ", milliseconds(begin_ - beginning) / 1e3,
                  static_cast<int>(::gettid()));
    std::snprintf(tail, sizeof tail, ", %.3f ms\n", milliseconds(end - begin_));
    const std::string line = head + std::string(names[static_cast<std::size_t>(area_)]) + " " + name_ + "(" +
                             in_one_line(arguments_) + ")" + outcome + tail;
    const int error = errno;  // of the caller
    {
        const NoPipeSignal quiet;
        for (std::string_view rest = line; !rest.empty();) {
            const ssize_t put = ::write(file, rest.data(), rest.size());
            if (put < 0 && errno == EINTR) continue;
            if (put <= 0) break;  // a closed pipe or a full disk: the program goes on
            rest.remove_prefix(static_cast<std::size_t>(put));
        }
    }
    errno = error;
}

}  // namespace hsadrv::detail::call_log
