// The processor name for KFD's version number.
//
//     processor_of(90010)         // "gfx90a"
//
// Pure. Source: kfd_topology.c, gfx_target_version: major × 10000 + minor × 100 + stepping; minor and stepping are
// hexadecimal digits in the name.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace tools {

inline std::string processor_of(std::uint32_t gfx_target_version) {
    return fmt::format("gfx{}{:x}{:x}", gfx_target_version / 10000, gfx_target_version / 100 % 100,
                       gfx_target_version % 100);
}

}  // namespace tools
