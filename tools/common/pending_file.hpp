// PendingFile: an output file that is replaced atomically or left unchanged.
//
//     PendingFile output("k.hsaco");   // throws if the file is not writable
//     output.write(bytes);
//     output.commit();                 // until here an existing file is unchanged
//
// write() goes to a hidden file in the same folder, which commit() renames; devices and pipes are written directly.
// Links are followed. Owns: the hidden file until commit(); the destructor removes it. Throws Failure.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tools {

class PendingFile {
  public:
    explicit PendingFile(const std::filesystem::path& place);
    ~PendingFile();
    PendingFile(const PendingFile&) = delete;
    PendingFile& operator=(const PendingFile&) = delete;

    void write(std::span<const std::byte> bytes);
    void commit();

  private:
    [[noreturn]] void refuse(int error) const;

    std::filesystem::path given_, place_, hidden_;
    int file_ = -1;
};

}  // namespace tools
