// The exit statuses of hsadrv-cc.
//
//     throw Failure(ExitStatus::no_clang, "no suitable clang …");
//
// Values only. If clang itself failed, the exit status is clang's and it has printed the reason.
#pragma once

#include "tools/common/failure.hpp"

namespace hsadrv_cc {

/// As in the manual page. Any other status is clang's.
enum class ExitStatus : int {
    done = static_cast<int>(tools::ExitStatus::done),
    compile_error = 1,  ///< usually from clang
    usage = static_cast<int>(tools::ExitStatus::usage),
    no_clang = 3,                                        ///< no suitable clang
    files = static_cast<int>(tools::ExitStatus::files),  ///< also: the output cannot be read back
};

struct Failure : tools::Failure {
    Failure(ExitStatus status, const std::string& said) : tools::Failure(static_cast<int>(status), said) {}
    Failure(int status, const std::string& said) : tools::Failure(status, said) {}
};

}  // namespace hsadrv_cc
