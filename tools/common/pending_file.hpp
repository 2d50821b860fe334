// PendingFile: a file that is at its place as a whole or not at all.
//
//     PendingFile output("k.hsaco");   // throws now if nothing can be written there
//     output.write(bytes);
//     output.commit();                 // until here a file of that name is what it was
//
// What is written goes to a hidden file beside the place, which commit() renames. Devices and pipes are written to
// directly, by write(). Links are followed. Owns: the hidden file until commit(), and removes it in its destructor.
// Throws Failure.
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
