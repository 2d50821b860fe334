#include "tools/kfdemu/base/host_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kfdemu {

std::vector<std::string> host_names(const char* folder) {
    std::vector<std::string> names;
    const long fd = syscall(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return names;
    alignas(dirent64) char buffer[4096];
    for (long size = 0; (size = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < size;) {
            const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
            const std::string name = entry->d_name;
            if (name != "." && name != "..") names.push_back(name);
            at += entry->d_reclen;
        }
    syscall(SYS_close, fd);
    return names;
}

}  // namespace kfdemu
