// Environment variables as strings.
//
//     variable("PATH")            // empty if it is not set
//
// Thread safety: as getenv().
#pragma once

#include <cstdlib>
#include <string>

namespace tools {

inline std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace tools
