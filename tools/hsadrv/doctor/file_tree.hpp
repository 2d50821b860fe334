// FileTree: reads files below a root folder, with the C library's plain calls.
//
//     const FileTree files("");                    // this machine; "/tmp/tree" for a tree made by a test
//     files.text("/sys/module/amdgpu/initstate")   // "live", without the newline; std::nullopt if it cannot be read
//
// A missing file throws nothing. Uses plain calls (fopen, opendir, readlink, stat), because kfdemu emulates those.
// Thread safety: any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/hsadrv/doctor/machine.hpp"

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
    /// The last component of a symbolic link's target; empty if it is not a link.
    std::string link_name(const std::string& path) const;

  private:
    std::string root_;
};

}  // namespace hsadrv_tool::doctor
