#include "hsadrv/compile/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hsadrv/compile/child.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::detail {
namespace {

[[noreturn]] void refuse(const char* call) {
    throw Error(std::string(call) + ": " + std::strerror(errno), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
}

}  // namespace

MemoryFile::MemoryFile(const char* name, std::string_view content) {
    const int made = memfd_create(name, MFD_CLOEXEC);
    if (made < 0) refuse("memfd_create");
    // Above the numbers that a child is given, so that giving it one does not replace another.
    descriptor_ = fcntl(made, F_DUPFD_CLOEXEC, first_free_descriptor);
    const int error = errno;
    ::close(made);
    errno = error;
    if (descriptor_ < 0) refuse("fcntl(F_DUPFD_CLOEXEC)");
    for (std::size_t done = 0; done < content.size();) {
        const ssize_t part =
            pwrite(descriptor_, content.data() + done, content.size() - done, static_cast<off_t>(done));
        if (part < 0 && errno == EINTR) continue;
        if (part >= 0) {
            done += static_cast<std::size_t>(part);
            continue;
        }
        const int reason = errno;
        ::close(descriptor_);
        errno = reason;
        refuse("write to a memory file");
    }
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

std::string MemoryFile::content() const {
    struct stat facts;
    if (fstat(descriptor_, &facts) != 0) refuse("fstat of a memory file");
    std::string all(static_cast<std::size_t>(facts.st_size), '\0');
    std::size_t done = 0;
    while (done < all.size()) {
        const ssize_t got = pread(descriptor_, all.data() + done, all.size() - done, static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse("read of a memory file");
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    all.resize(done);
    return all;
}

}  // namespace hsadrv::detail
