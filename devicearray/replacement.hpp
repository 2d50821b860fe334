// Internal: replaces a file's content atomically, or leaves it unchanged.
//
//     Replacement file("save_npy", path);
//     file.write(bytes, size);
//     file.complete();                       // until then `path` is unchanged
//
// Behaves as if the existing file were opened and written: symbolic links are followed, even if the target does not
// exist yet; an existing file keeps its mode, and its owner if the process may set it; a file without write permission
// is refused. Other hard links keep the old content. Anything but a regular file (a pipe, a terminal, a device) is
// written directly. Thread safety: as of a value. Throws Error, naming the call, the path and the system's reason.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "hsadrv/file_path.hpp"

namespace hsadrv::detail {

class Replacement {
  public:
    Replacement(const char* call, const FilePath& path);
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;
    /// Without complete(): removes the new file, and the old one remains.
    ~Replacement();

    void write(const void* data, std::size_t bytes);
    void complete();

  private:
    bool open_existing(struct stat& status);
    void open_beside(mode_t mode);
    void take_over(const struct stat& status);
    [[noreturn]] void refuse(const char* what) const;

    const char* call_;
    FilePath path_;
    std::string target_;  ///< with all links resolved
    std::string own_;     ///< the new file; empty if target_ is written directly
    int fd_ = -1;
    bool complete_ = false;
};

}  // namespace hsadrv::detail
