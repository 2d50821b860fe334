// Internal: a file that is replaced as a whole, and stays what it was otherwise.
//
//     Replacement file("save_npy", path);
//     file.write(bytes, size);
//     file.complete();                       // until then path is what it was
//
// As if the file that is there were opened and written to: symbolic links are followed, also to where there is nothing
// yet; a file keeps its mode, and its owner where the system lets the process give it; a file that may not be written
// to is refused. Its other hard links keep the old content. What is no regular file (a pipe, a terminal, a device) is
// written to as it is. Thread safety: as of a value. Throws Error, naming call, path and the system's reason.
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
    /// Without complete(): the new file is gone, the old one there.
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
    std::string own_;     ///< the new file; empty where what is there is written to
    int fd_ = -1;
    bool complete_ = false;
};

}  // namespace hsadrv::detail
