#include "tools/trace/record/recorder.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace trace {
namespace {

std::vector<std::string> own_command() {
    std::vector<std::string> words;
    std::ifstream file{"/proc/self/cmdline"};
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    return words;
}

std::uint32_t own_thread() {
    thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
    return id;
}

std::string own_name() {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    return name;
}

std::uint64_t limit_of_environment() {
    const char* text = std::getenv("HSADRV_TRACE_LIMIT");
    const std::uint64_t given = text ? std::strtoull(text, nullptr, 10) : 0;
    return given != 0 ? given : TraceFile::Limits{}.most_bytes;
}

void say(const std::string& text) { std::fprintf(stderr, "hsadrv trace: %s\n", text.c_str()); }

/// The first of a run has the file; others, of other processes or of a later hsa_init, one each beside it.
std::string path_number(const std::string& wanted, unsigned n) {
    if (n == 0) return wanted;
    return wanted + "." + std::to_string(getpid()) + (n == 1 ? "" : "." + std::to_string(n - 1));
}

/// Different for each file, also of processes with one number: exec() keeps it.
std::uint32_t random_number() {
    std::uint32_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint32_t>(now_ns());
    return number | 1;
}

Recorder* locked_by_fork = nullptr;

}  // namespace

std::atomic<Recorder*> Recorder::instance_{nullptr};

Recorder::Recorder(std::uint64_t limit_bytes, bool ring)
    : writer_{{static_cast<std::uint32_t>(getpid()), own_command(), random_number()}},
      limit_bytes_{ring ? limit_bytes / 2 : limit_bytes},
      ring_{ring},
      next_work_{std::uint64_t{random_number() >> 1} << 32 | 1} {}

bool Recorder::open(const std::string& wanted) {
    for (unsigned n = 0;; ++n) {
        try {
            file_.emplace(path_number(wanted, n), TraceFile::Limits{limit_bytes_});
            return file_->append(writer_.begin());
        } catch (const std::system_error& error) {
            if (error.code() == std::errc::file_exists) continue;
            say(error.what() + std::string{"; nothing is traced"});
            return false;
        }
    }
}

Recorder* Recorder::start() {
    if (Recorder* made = active()) return made;
    const char* path = std::getenv("HSADRV_TRACE");
    if (path == nullptr || *path == 0) return nullptr;
    auto* recorder = new Recorder{limit_of_environment(), std::getenv("HSADRV_TRACE_RING") != nullptr};
    if (!recorder->open(path)) {
        delete recorder;
        return nullptr;
    }
    instance_.store(recorder, std::memory_order_release);
    static const int registered = pthread_atfork(
        [] {
            locked_by_fork = active();
            if (locked_by_fork) locked_by_fork->mutex_.lock();
        },
        [] {
            if (locked_by_fork) locked_by_fork->mutex_.unlock();
        },
        [] {
            if (locked_by_fork) locked_by_fork->leave_to_parent();
        });
    static_cast<void>(registered);
    return recorder;
}

void Recorder::leave_to_parent() {
    if (file_) file_->abandon();
    file_.reset();
    instance_.store(nullptr, std::memory_order_release);
    mutex_.unlock();
}

void Recorder::stop(bool patient) {
    Recorder* const recorder = active();
    if (recorder == nullptr) return;
    instance_.store(nullptr, std::memory_order_release);
    const std::unique_lock lock = patient ? std::unique_lock{recorder->mutex_} : try_for_long(recorder->mutex_);
    if (lock) recorder->file_.reset();  // else its padding stays, and it is whole as well
}

bool Recorder::make_room() {
    const std::string path = file_->path();
    if (ring_ && file_->size_bytes() > limit_bytes_ / 2) {  // else the disk is full
        file_.reset();
        if (std::rename(path.c_str(), (path + ".older").c_str()) == 0 && open(path)) return true;
        file_.reset();
        return false;
    }
    say("'" + file_->path() + "' has " + std::to_string(file_->size_bytes()) +
        " bytes, and there is no room for more: later events are missing (--limit, or a full disk)");
    file_.reset();
    return false;
}

void Recorder::slice(const Slice& slice) {
    write([&](TraceWriter& writer, std::string& packets) { writer.slice(packets, own_track(writer, packets), slice); });
}

void Recorder::instant(std::string_view name, std::span<const Annotation> annotations) {
    const std::uint64_t at_ns = now_ns();
    write([&](TraceWriter& writer, std::string& packets) {
        writer.instant(packets, own_track(writer, packets), name, at_ns, annotations);
    });
}

Track Recorder::own_track(TraceWriter& writer, std::string& packets) {
    thread_local const std::string name = own_name();
    return writer.thread(packets, own_thread(), name);
}

}  // namespace trace
