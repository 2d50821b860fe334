// FileTree: small questions about files below a root folder, by the C library's plain calls.
//
//     const FileTree files("");                    // this machine; "/tmp/tree" for a laid out one
//     files.text("/sys/module/amdgpu/initstate")   // "live", without the line end; nothing if it cannot be read
//
// Nothing throws for a missing file. Plain calls (fopen, opendir, readlink, stat), since those are what an emulated
// device answers. Thread safety: any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine.hpp"

namespace hsadrv_tool::doctor {

class FileTree {
  public:
    explicit FileTree(std::string root) : root_(std::move(root)) {}

    std::string path(const std::string& path) const { return root_ + path; }
    bool exists(const std::string& path) const;
    FileFacts status(const std::string& path) const;
    /// The whole file, trailing white space removed. At most 1 MiB.
    std::optional<std::string> text(const std::string& path) const;
    /// The same, and errno of what failed.
    std::pair<std::string, int> text_or_error(const std::string& path) const;
    std::vector<std::string> lines(const std::string& path) const;
    /// Names in a folder, sorted, without . and ..
    std::vector<std::string> names(const std::string& path) const;
    /// The last part of where a link leads to; empty if it is none.
    std::string link_name(const std::string& path) const;

  private:
    std::string root_;
};

}  // namespace hsadrv_tool::doctor
