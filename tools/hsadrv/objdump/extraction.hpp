// Writing each code object that is in a bundle to a file of its own.
//
//     extract(facts, "folder");     // folder/kernels.gfx90a.hsaco, folder/program.2.gfx900.hsaco
//
// Each file is there as a whole or not at all, and replaces one that was there. Throws Failure. Thread safety: no
// state.
#pragma once

#include <filesystem>

#include "facts.hpp"

namespace hsadrv_tool::objdump {

/// Sets each entry's written_to. Entries that cannot be read are written as they are.
void extract(Facts& facts, const std::filesystem::path& folder);

}  // namespace hsadrv_tool::objdump
