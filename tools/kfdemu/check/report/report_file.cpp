#include "tools/kfdemu/check/report/report_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

namespace kfdemu::check {
namespace {

constexpr std::string_view kBegin = "{\"version\": 1, \"processes\": [", kEnd = "]}";

std::string last_error() { return std::strerror(errno); }

class Descriptor {
  public:
    Descriptor(const std::string& path, int flags) : fd_{::open(path.c_str(), flags | O_CLOEXEC, 0666)} {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const { return fd_; }
    bool valid() const { return fd_ >= 0; }

  private:
    int fd_;
};

/// Not flock(): a child of fork() would share the lock.
bool lock(int fd) {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    while (fcntl(fd, F_SETLKW, &whole) != 0)
        if (errno != EINTR) return errno == ENOLCK || errno == EINVAL;  // a file system without locks
    return true;
}

/// Whether the file still has this name: another process may have replaced it before the lock was ours.
bool is_named(int fd, const std::string& path) {
    struct stat own{}, named{};
    return fstat(fd, &own) == 0 && stat(path.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
           own.st_dev == named.st_dev;
}

std::string contents(int fd) {
    std::string text;
    char part[4096];
    for (ssize_t got; (got = pread(fd, part, sizeof part, static_cast<off_t>(text.size()))) > 0;)
        text.append(part, static_cast<std::size_t>(got));
    return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return lines;
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::string document(const std::vector<std::string>& objects) {
    std::string text{kBegin};
    for (std::size_t n = 0; n < objects.size(); ++n) text += (n == 0 ? "\n" : ",\n") + objects[n];
    return text + "\n" + std::string{kEnd} + "\n";
}

/// In place if nothing can be created beside the file.
std::string replace(int old, const std::string& path, const std::string& text) {
    const std::string fresh = path + "." + std::to_string(getpid()) + ".new";
    {
        const Descriptor file{fresh, O_WRONLY | O_CREAT | O_TRUNC};
        if (!file.valid())
            return ftruncate(old, 0) == 0 && lseek(old, 0, SEEK_SET) == 0 && write_all(old, text) ? "" : last_error();
        struct stat status{};
        if (fstat(old, &status) == 0) fchmod(file.get(), status.st_mode & 0777);
        if (write_all(file.get(), text) && std::rename(fresh.c_str(), path.c_str()) == 0) return {};
    }
    const std::string error = last_error();
    ::unlink(fresh.c_str());
    return error;
}

/// Replaces the file by what `change` makes of its contents; its second argument is for an error text.
template <class Change>
std::string update(const std::string& path, Change&& change) {
    for (;;) {
        const Descriptor file{path, O_RDWR | O_CREAT};
        struct stat status{};
        if (!file.valid() || fstat(file.get(), &status) != 0) return last_error();
        if (!S_ISREG(status.st_mode)) return "it is not a regular file";
        if (!lock(file.get())) return last_error();
        if (!is_named(file.get(), path)) continue;
        std::string error;
        const std::string text = change(contents(file.get()), error);
        return error.empty() ? replace(file.get(), path, text) : error;
    }
}

}  // namespace

std::string begin_report(const std::string& path) {
    return update(path, [](const std::string&, std::string&) { return document({}); });
}

std::string try_report(const std::string& path) {
    if (access(path.c_str(), F_OK) == 0) return access(path.c_str(), R_OK | W_OK) == 0 ? "" : last_error();
    const auto slash = path.rfind('/');
    const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
    return access(folder.c_str(), W_OK | X_OK) == 0 ? "" : last_error();
}

std::string add_to_report(const std::string& path, const std::string& prefix, const std::string& object) {
    return update(path, [&](const std::string& before, std::string& error) {
        std::vector<std::string> objects;
        for (std::string_view line : lines_of(before)) {
            if (line == kBegin || line == kEnd) continue;
            if (!line.starts_with("{")) error = "it exists and is no report of kfdemu";
            if (line.starts_with(prefix)) continue;
            if (line.ends_with(",")) line.remove_suffix(1);
            objects.emplace_back(line);
        }
        objects.push_back(object);
        return document(objects);
    });
}

}  // namespace kfdemu::check
