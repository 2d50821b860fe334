// The symbols of an AMDGPU ELF file that a loader makes public: kernel descriptors, variables, functions, and
// the names it must be given an address for.
//
//     ElfSymbols symbols = read_elf_symbols(file);  // throws InvalidCodeObject: which symbol is wrong, and how
//
// Internal to the ELF readers. Pure function of bytes; the result owns what it holds. Thread safety: no
// state. Sources: System V ABI, ELF, Symbol Table; LLVM AMDGPUUsage, Symbols and Kernel Descriptor.
#pragma once

#include <vector>

#include "hsadrv/code/elf_file.hpp"
#include "hsadrv/elf_image.hpp"

namespace hsadrv {

struct ElfSymbols {
    std::vector<KernelDescriptor> kernel_descriptors;
    std::vector<VariableFacts> variables;
    std::vector<std::string> functions;
    std::vector<std::string> undefined;
    bool has_symbol_table = false;
    bool calls_hostcall = false, calls_device_malloc = false;
};

/// Throws InvalidCodeObject.
ElfSymbols read_elf_symbols(const ElfFile& file);

}  // namespace hsadrv
