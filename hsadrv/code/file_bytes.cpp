#include "hsadrv/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

[[noreturn]] void refuse(const FilePath& path, const std::string& why) {
    throw Error("file '" + path.string() + "': " + why);
}

class Descriptor {
  public:
    // Not blocking: opening a pipe without a writer must not hang.
    explicit Descriptor(const FilePath& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        if (fd_ < 0) refuse(path, std::string("cannot be opened: ") + std::strerror(errno));
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { ::close(fd_); }
    int get() const { return fd_; }

  private:
    int fd_;
};

const char* kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

struct stat facts_of(const FilePath& path, const Descriptor& file) {
    struct stat facts;
    if (::fstat(file.get(), &facts) != 0) refuse(path, std::string("fstat: ") + std::strerror(errno));
    return facts;
}

/// Up to `count` bytes; fewer at the end of the file alone.
std::size_t read_up_to(const FilePath& path, const Descriptor& file, std::byte* to, std::size_t count) {
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got = ::read(file.get(), to + done, count - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse(path, std::string("read: ") + std::strerror(errno));
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

bool same_time(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

}  // namespace

std::vector<std::byte> read_file(const FilePath& path, std::size_t max_bytes) {
    const Descriptor file(path);
    const struct stat before = facts_of(path, file);
    if (!S_ISREG(before.st_mode))
        refuse(path, std::string("is ") + kind_of(before.st_mode) + ", wanted a regular file");
    const auto size = static_cast<std::uint64_t>(before.st_size);
    if (size > max_bytes)
        refuse(path, std::to_string(size) + " bytes are more than the limit of " + std::to_string(max_bytes));

    std::vector<std::byte> bytes(size);
    const std::size_t done = read_up_to(path, file, bytes.data(), bytes.size());
    if (done < bytes.size()) {
        refuse(path,
               "became shorter while it was read: " + std::to_string(done) + " of " + std::to_string(size) + " bytes");
    }
    std::byte more;
    if (read_up_to(path, file, &more, 1) != 0)
        refuse(path, "has more than the " + std::to_string(size) + " bytes it had when it was opened");
    if (!same_time(before.st_mtim, facts_of(path, file).st_mtim))
        refuse(path, "was written to while it was read: replace files by renaming");
    return bytes;
}

}  // namespace hsadrv
