#include "tools/common/pending_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/common/failure.hpp"

namespace tools {
namespace fs = std::filesystem;

namespace {

/// The mode of a file that open(O_CREAT, 0666) creates.
mode_t new_file_mode() {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/// The target of a link, whether it exists or not.
fs::path link_target(fs::path place) {
    std::error_code error;
    for (int links = 0; links < 40 && fs::is_symlink(place, error); ++links) {
        const fs::path next = fs::read_symlink(place, error);
        if (error) break;
        place = place.parent_path() / next;
    }
    return place;
}

}  // namespace

PendingFile::PendingFile(const fs::path& place) : given_(place), place_(link_target(place)) {
    std::error_code error;
    const fs::file_status status = fs::status(place_, error);
    if (fs::is_directory(status)) refuse(EISDIR);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        file_ = open(place_.c_str(), O_WRONLY | O_CLOEXEC);
        if (file_ < 0) refuse(errno);
        return;
    }
    // Refuse to replace a file that is not writable.
    if (fs::exists(status) && access(place_.c_str(), W_OK) != 0) refuse(errno);
    std::string name = (place_.parent_path() / ".hsadrv-XXXXXX").string();
    file_ = mkostemp(name.data(), O_CLOEXEC);
    if (file_ < 0) refuse(errno);
    hidden_ = name;
}

PendingFile::~PendingFile() {
    if (file_ >= 0) close(file_);
    if (!hidden_.empty()) unlink(hidden_.c_str());
}

void PendingFile::refuse(int error) const {
    throw Failure(ExitStatus::files, fmt::format("cannot write {}: {}", given_.string(), std::strerror(error)));
}

void PendingFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) refuse(errno);
        if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void PendingFile::commit() {
    const int file = file_;
    file_ = -1;
    if (!hidden_.empty() && fchmod(file, new_file_mode()) != 0) {
        const int error = errno;
        close(file);
        refuse(error);
    }
    if (close(file) != 0) refuse(errno);
    if (hidden_.empty()) return;
    if (rename(hidden_.c_str(), place_.c_str()) != 0) refuse(errno);
    hidden_.clear();
}

}  // namespace tools
