// The options of hsadrv objdump.
//
// A plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hsadrv/packet.hpp"

namespace hsadrv_tool::objdump {

struct Options {
    std::vector<std::string> files;         ///< "-": standard input
    std::string kernel, target;             ///< empty: all
    std::optional<hsadrv::Dim3> workgroup;  ///< for which the occupancy is computed
    std::optional<std::uint32_t> dynamic_lds_bytes;
    bool verbose = false, disassemble = false;
    std::string extract;  ///< the folder; empty: nothing is written
};

}  // namespace hsadrv_tool::objdump
