// Candidate paths of an LLVM program, best first: NAME-NN in $PATH from the newest to the oldest, NAME in $PATH,
// ROCm's, and for programs other than clang, the ones beside each clang.
//
//     for (const std::string& path : llvm_places("llvm-objdump", surroundings_of_this_process())) try_it(path);
//
// Lists folders; does not run programs. Thread safety: no state.
#pragma once

#include <string>
#include <vector>

namespace hsadrv::detail {

/// Where to look.
struct LlvmSurroundings {
    std::string path;       ///< $PATH
    std::string rocm_path;  ///< $ROCM_PATH, or empty
    std::string opt = "/opt";
};

LlvmSurroundings surroundings_of_this_process();

/// An environment variable; empty if it is not set.
std::string variable(const char* name);

/// Executable files; links to the same program are listed once.
std::vector<std::string> llvm_places(const std::string& name, const LlvmSurroundings& surroundings);

/// The places that llvm_places() searched, for a message.
std::string looked_at(const std::string& name, const LlvmSurroundings& surroundings);

/// The file that a shell would run for `name`, or an empty string.
std::string find_in_path(const std::string& name, const std::string& path);

}  // namespace hsadrv::detail
