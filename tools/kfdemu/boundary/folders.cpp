#include "tools/kfdemu/boundary/folders.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <climits>

#include "tools/kfdemu/boundary/libc.hpp"
#include "tools/kfdemu/boundary/memory_file.hpp"

namespace kfdemu {
namespace {

constexpr std::string_view kMark{"kfdemu-folder\n", 14};
constexpr mode_t kMode = 0511;  // unlike other memfds

std::atomic<bool> opened{false};  // relaxed: a thread that uses a descriptor has seen open() return

bool may_be_folder(const struct stat& status) {
    return S_ISREG(status.st_mode) && (status.st_mode & 07777) == kMode &&
           status.st_size > static_cast<off_t>(kMark.size()) &&
           status.st_size < static_cast<off_t>(kMark.size() + PATH_MAX);
}

}  // namespace

int open_folder(const sysfs::Directory& directory, int flags) {
    if ((flags & O_ACCMODE) != O_RDONLY) return errno = EISDIR, -1;
    const int fd = open_memory_file("kfdemu-folder", std::string{kMark} + directory.path, kMode, flags);
    if (fd < 0) return -1;
    lseek(fd, 0, SEEK_END);  // read() finds nothing
    opened.store(true, std::memory_order_relaxed);
    return fd;
}

std::string folder_path(int fd) {
    struct stat status{};
    if (fd < 0 || !opened.load(std::memory_order_relaxed)) return {};
    const int saved = errno;
    std::string text;
    if (NEXT(fstat)(fd, &status) == 0 && may_be_folder(status)) {
        text.resize(static_cast<std::size_t>(status.st_size));
        if (pread(fd, text.data(), text.size(), 0) != status.st_size || text.compare(0, kMark.size(), kMark) != 0)
            text.clear();
        else
            text.erase(0, kMark.size());
    }
    errno = saved;
    return text;
}

void correct_folder(int fd, struct stat* status) {
    if (!opened.load(std::memory_order_relaxed) || !may_be_folder(*status)) return;
    auto entry = find(folder_path(fd).c_str());
    const auto* folder = entry ? sysfs::folder_of(*entry) : nullptr;
    if (!folder) return;
    // As stat() of the path: programs that walk a tree compare them.
    status->st_mode = S_IFDIR | 0555;
    status->st_size = 0;
    status->st_dev = 0;
    status->st_ino = folder->inode;
}

AtPath::AtPath(int folder, const char* relative) : path{relative} {
    if (relative && relative[0] != '/' && relative[0] != '\0') absolute = folder_path(folder);
    if (!absolute.empty())
        path = (absolute = sysfs::without_dots(*Device::topology(), absolute + "/" + relative)).c_str();
    entry = find(path);
}

}  // namespace kfdemu
