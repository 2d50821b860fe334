// Failure: why hsadrv-cc ends without an output, and its exit status.
//
//     throw Failure(ExitStatus::no_clang, "no suitable clang …");
//
// Values only. Where clang itself failed, its own status is the exit status and it has said why: `said` is empty then.
#pragma once

#include <stdexcept>
#include <string>

namespace hsadrv_cc {

/// The exit statuses of the manual page. Any other is clang's.
enum class ExitStatus : int {
    done = 0,
    compile_error = 1,  ///< clang's own, mostly
    usage = 2,          ///< wrong options or a combination of them that cannot be meant
    no_clang = 3,       ///< no suitable clang, or a tool beside it is missing
    files = 4,          ///< a file cannot be written, or what was made cannot be read back
};

class Failure : public std::runtime_error {
  public:
    Failure(ExitStatus status, const std::string& said) : Failure(static_cast<int>(status), said) {}
    Failure(int status, const std::string& said) : std::runtime_error(said), status_(status) {}

    int status() const { return status_; }

  private:
    int status_;
};

}  // namespace hsadrv_cc
