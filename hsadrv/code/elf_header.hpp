// ElfHeader: what an ELF file says it is, from its first 64 bytes, and where its two tables lie.
//
//     ElfHeader header = read_elf_header(bytes);  // throws InvalidCodeObject: not for AMDGPU HSA, truncated, …
//
// After this the program header table and the section header table are known to be inside the file. Pure
// function of bytes. Thread safety: no state. Sources: System V ABI, ELF Header; LLVM AMDGPUUsage, Code Object, Header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "hsadrv/target_id.hpp"

namespace hsadrv {

inline constexpr std::uint16_t machine_amdgpu = 224;  ///< EM_AMDGPU

struct ElfHeader {
    unsigned code_object_version = 0;  ///< 3 to 6
    TargetId target;
    unsigned program_headers = 0;
    unsigned sections = 0;
    std::uint64_t program_headers_offset = 0, sections_offset = 0;  ///< of the tables in the file
    unsigned section_names = 0;  ///< index of the section that holds the sections' names
};

/// Throws InvalidCodeObject.
ElfHeader read_elf_header(std::span<const std::byte> file);

/// What every reader of ELF files throws: InvalidCodeObject.
[[noreturn]] void refuse_elf(const std::string& why);

}  // namespace hsadrv
