// Where a clang may be, best first: $PATH's clang-NN from the newest to the oldest, $PATH's clang, ROCm's.
//
//     for (const std::string& path : clang_places(surroundings_of_this_process())) try_it(path);
//
// Looks at folders, runs nothing. Thread safety: no state.
#pragma once

#include <string>
#include <vector>

namespace hsadrv_cc {

struct Surroundings {
    std::string path;       ///< $PATH
    std::string rocm_path;  ///< $ROCM_PATH, or empty
    std::string opt = "/opt";
};

Surroundings surroundings_of_this_process();

/// Files that can be run; each program once, however many links lead to it.
std::vector<std::string> clang_places(const Surroundings& surroundings);

/// Where clang_places() looked, for a message.
std::string looked_at(const Surroundings& surroundings);

/// The file that a shell would run for `name`, or nothing.
std::string find_in_path(const std::string& name, const std::string& path);

}  // namespace hsadrv_cc
