// Where a program of LLVM may be, best first: $PATH's NAME-NN from the newest to the oldest, $PATH's NAME, ROCm's, and
// for other programs than clang what stands beside each clang.
//
//     for (const std::string& path : llvm_places("llvm-objdump", surroundings_of_this_process())) try_it(path);
//
// Looks at folders, runs nothing. Thread safety: no state.
#pragma once

#include <string>
#include <vector>

namespace tools {

/// Where to look.
struct LlvmSurroundings {
    std::string path;       ///< $PATH
    std::string rocm_path;  ///< $ROCM_PATH, or empty
    std::string opt = "/opt";
};

LlvmSurroundings surroundings_of_this_process();

/// Files that can be run; each program once, however many links lead to it.
std::vector<std::string> llvm_places(const std::string& name, const LlvmSurroundings& surroundings);

/// Where llvm_places() looked, for a message.
std::string looked_at(const std::string& name, const LlvmSurroundings& surroundings);

/// The file that a shell would run for `name`, or nothing.
std::string find_in_path(const std::string& name, const std::string& path);

}  // namespace tools
