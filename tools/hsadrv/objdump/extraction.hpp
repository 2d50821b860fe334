// Writes each code object of a bundle to a separate file.
//
//     extract(facts, "folder");     // folder/kernels.gfx90a.hsaco, folder/program.2.gfx900.hsaco
//
// Files are written atomically and replace existing ones. Throws Failure. Thread safety: no state.
#pragma once

#include <filesystem>

#include "tools/hsadrv/objdump/facts.hpp"

namespace hsadrv_tool::objdump {

/// Sets each entry's written_to. Entries that cannot be read are written as they are.
void extract(Facts& facts, const std::filesystem::path& folder);

}  // namespace hsadrv_tool::objdump
