// Failure: the error that ends a tool, with its exit status.
//
//     throw Failure(ExitStatus::files, "cannot write k.hsaco: No space left on device");
//
// A value. Each tool's manual page documents its statuses; the shared ones are here. If a child has already printed the
// error, the text is empty and the status is the child's.
#pragma once

#include <stdexcept>
#include <string>

namespace tools {

/// Statuses with the same meaning in every tool.
enum class ExitStatus : int {
    done = 0,
    usage = 2,  ///< unknown, invalid or conflicting options
    files = 4,  ///< a file or standard output cannot be read or written
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
