// Where a clang may be, best first: see tools/common/llvm_places.hpp.
//
//     for (const std::string& path : clang_places(surroundings_of_this_process())) try_it(path);
//
// Lists folders; runs no program. Thread safety: no state.
#pragma once

#include "tools/common/llvm_places.hpp"

namespace hsadrv_cc {

using Surroundings = tools::LlvmSurroundings;
using tools::find_in_path;
using tools::surroundings_of_this_process;

inline std::vector<std::string> clang_places(const Surroundings& surroundings) {
    return tools::llvm_places("clang", surroundings);
}

inline std::string looked_at(const Surroundings& surroundings) { return tools::looked_at("clang", surroundings); }

}  // namespace hsadrv_cc
