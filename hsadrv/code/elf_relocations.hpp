// The relocations of an AMDGPU ELF file: only those that HSA loaders apply, each inside the file's segments.
//
//     check_elf_relocations(file);  // throws InvalidCodeObject: which one is wrong, and how
//
// Internal to the ELF readers. Pure function of bytes. Thread safety: no state. Source: LLVM AMDGPUUsage,
// Relocation Records; ROCR's loader, which trusts what they say.
#pragma once

#include "hsadrv/code/elf_file.hpp"

namespace hsadrv {

/// Throws InvalidCodeObject. Symbols that are defined elsewhere are not looked for.
void check_elf_relocations(const ElfFile& file);

}  // namespace hsadrv
