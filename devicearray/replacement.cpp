#include "devicearray/replacement.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include "hsadrv/error.hpp"

namespace hsadrv::detail {
namespace {

constexpr int most_links = 40;  // Linux's limit

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == path.npos ? "" : path.substr(0, slash + 1);
}

/// The link's target, relative to the working directory; std::nullopt if the path is not a link.
std::optional<std::string> linked_from(const std::string& path) {
    char text[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), text, sizeof text);
    if (length <= 0) return std::nullopt;
    const std::string to(text, static_cast<std::size_t>(length));
    return to.front() == '/' ? to : folder_of(path) + to;
}

/// The path with all links resolved, whether or not a file exists there. Empty, with errno set, for a cycle of links.
std::optional<std::string> followed(std::string path) {
    for (int i = 0; i < most_links; ++i) {
        auto next = linked_from(path);
        if (!next) return path;
        path = *std::move(next);
    }
    errno = ELOOP;
    return std::nullopt;
}

}  // namespace

Replacement::Replacement(const char* call, const FilePath& path) : call_(call), path_(path) {
    auto target = followed(path.string());
    if (!target) refuse("cannot resolve symbolic links");
    target_ = *std::move(target);
    struct stat status{};
    if (!open_existing(status)) {
        open_beside(0666);  // as for any new file; umask applies
    } else if (S_ISREG(status.st_mode)) {
        ::close(fd_);
        fd_ = -1;
        open_beside(status.st_mode & 0600);  // not readable by others until it has the old mode
        take_over(status);
    }
}

Replacement::~Replacement() {
    if (fd_ >= 0) ::close(fd_);
    if (!complete_ && !own_.empty()) ::unlink(own_.c_str());
}

/// Checks that the file is writable. Directories are left to rename().
bool Replacement::open_existing(struct stat& status) {
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0 && (errno == ENOENT || errno == EISDIR)) return false;
    if (fd_ < 0 || ::fstat(fd_, &status) != 0) refuse("cannot be written to");
    return true;
}

void Replacement::open_beside(mode_t mode) {
    // Not mkstemp, whose files do not have a new file's default permissions.
    for (int n = 0; n < 1000 && fd_ < 0; ++n) {
        own_ = target_ + ".part" + std::to_string(n);
        fd_ = ::open(own_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd_ < 0 && errno != EEXIST) break;
    }
    if (fd_ >= 0) return;
    own_.clear();  // not ours to unlink
    refuse("cannot be created");
}

void Replacement::take_over(const struct stat& status) {
    // The owner first, because changing it clears mode bits. Only root may give files away.
    const bool same_owner = ::fchown(fd_, status.st_uid, status.st_gid) == 0 || errno == EPERM;
    if (same_owner && ::fchmod(fd_, status.st_mode & 07777) == 0) return;
    const int reason = errno;
    ::unlink(own_.c_str());
    ::close(fd_);
    errno = reason;
    refuse("cannot set mode and owner");
}

void Replacement::write(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t done = ::write(fd_, from, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) refuse("write");
        from += done;
        bytes -= static_cast<std::size_t>(done);
    }
}

void Replacement::complete() {
    const int closed = ::close(fd_);
    fd_ = -1;
    if (closed != 0) refuse("close");
    if (!own_.empty() && ::rename(own_.c_str(), target_.c_str()) != 0) refuse("rename");
    complete_ = true;
}

void Replacement::refuse(const char* what) const {
    throw Error(std::string(call_) + "('" + path_.string() + "'): " + what + ": " + std::strerror(errno));
}

}  // namespace hsadrv::detail
