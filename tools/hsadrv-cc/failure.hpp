// The exit statuses of hsadrv-cc.
//
//     throw Failure(ExitStatus::no_clang, "no suitable clang …");
//
// Values only. Where clang itself failed, its own status is the exit status and it has said why.
#pragma once

#include "tools/common/failure.hpp"

namespace hsadrv_cc {

/// Those of the manual page. Any other is clang's.
enum class ExitStatus : int {
    done = static_cast<int>(tools::ExitStatus::done),
    compile_error = 1,  ///< clang's own, mostly
    usage = static_cast<int>(tools::ExitStatus::usage),
    no_clang = 3,                                        ///< no suitable clang, or a tool beside it is missing
    files = static_cast<int>(tools::ExitStatus::files),  ///< and what was made cannot be read back
};

struct Failure : tools::Failure {
    Failure(ExitStatus status, const std::string& said) : tools::Failure(static_cast<int>(status), said) {}
    Failure(int status, const std::string& said) : tools::Failure(status, said) {}
};

}  // namespace hsadrv_cc
