// Failure: why a tool ends without what it was asked for, and its exit status.
//
//     throw Failure(ExitStatus::files, "cannot write k.hsaco: No space left on device");
//
// A value. Each tool's manual page says what its statuses mean; those that all share are here. Where a child has said
// already why, the text is empty and the status the child's.
#pragma once

#include <stdexcept>
#include <string>

namespace tools {

/// The same in every tool.
enum class ExitStatus : int {
    done = 0,
    usage = 2,  ///< wrong options, or a combination of them that cannot be meant
    files = 4,  ///< a file cannot be read or written, standard output among them
};

class Failure : public std::runtime_error {
  public:
    Failure(int status, const std::string& said) : std::runtime_error(said), status_(status) {}
    Failure(ExitStatus status, const std::string& said) : Failure(static_cast<int>(status), said) {}

    int status() const { return status_; }

  private:
    int status_;
};

}  // namespace tools
