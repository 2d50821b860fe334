// ScratchFolder: a folder for intermediate files, removed with its contents by the destructor.
//
//     ScratchFolder scratch;
//     run_clang("-o", scratch / "0.o");
//
// Owns: the folder, in $TMPDIR or /tmp. Thread safety: a plain value.
#pragma once

#include <filesystem>
#include <string_view>

namespace tools {

class ScratchFolder {
  public:
    ScratchFolder();  ///< Throws Failure.
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    std::string operator/(std::string_view name) const { return (folder_ / name).string(); }

  private:
    std::filesystem::path folder_;
};

}  // namespace tools
