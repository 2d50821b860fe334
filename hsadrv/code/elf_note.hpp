// The note that holds an AMDGPU code object's metadata, found where loaders look for it.
//
//     std::span<const std::byte> msgpack = find_metadata_note(file);  // throws InvalidCodeObject: missing, twice, …
//
// Internal to the ELF readers. Borrows the file's bytes for as long as the result is used. Thread safety: no
// state. Sources: System V ABI, ELF, Note Section; LLVM AMDGPUUsage, Code Object V3 and Above Note Records.
#pragma once

#include <cstddef>
#include <span>

#include "hsadrv/code/elf_file.hpp"

namespace hsadrv {

/// The descriptor of the one NT_AMDGPU_METADATA note. Throws InvalidCodeObject.
std::span<const std::byte> find_metadata_note(const ElfFile& file);

}  // namespace hsadrv
