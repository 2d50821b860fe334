// ElfImage: the facts of an AMDGPU ELF file. Every offset, size and index that a loader follows has been checked.
//
//     ElfImage elf = read_elf_image(bytes);            // throws InvalidCodeObject: what is wrong, and where
//     elf.target, elf.code_object_version, elf.metadata_note, elf.kernel_descriptors
//
// ROCR's loader trusts its input, so every code object is checked here first. Borrows: the bytes, for as long as
// `metadata_note` and `argument_types` are used. Thread safety: no state. Sources: System V ABI, ELF; LLVM AMDGPUUsage,
// Code Object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hsadrv/target_id.hpp"

namespace hsadrv {

/// A kernel descriptor: the fields of its 64 bytes that the host uses.
struct KernelDescriptor {
    std::string symbol;  ///< "vector_add.kd"
    std::uint32_t group_segment_fixed_size = 0;
    std::uint32_t private_segment_fixed_size = 0;
    std::uint32_t kernarg_size = 0;  ///< 0: not stated by the compiler
    std::uint32_t compute_pgm_rsrc1 = 0;
};

/// A variable that the loader exports.
struct VariableFacts {
    std::string name;  ///< of the symbol: mangled, if the source's is
    std::uint64_t size_bytes = 0;
    bool read_only = false;  ///< in a read-only section
};

struct ElfImage {
    unsigned code_object_version = 0;  ///< 3 to 6
    TargetId target;
    std::span<const std::byte> metadata_note;   ///< msgpack; the descriptor of the one NT_AMDGPU_METADATA note
    std::span<const std::byte> argument_types;  ///< the section .hsadrv.types; empty if there is none
    std::vector<KernelDescriptor> kernel_descriptors;
    std::vector<VariableFacts> variables;
    std::vector<std::string> functions;  ///< visible device functions, without kernels
    std::vector<std::string> undefined;  ///< symbols that another code object or the caller must define
    bool has_symbol_table = false;       ///< false: stripped; descriptors come from the dynamic symbols then
    bool calls_hostcall = false;         ///< device-library functions that call the host are linked in
    bool calls_device_malloc = false;
};

/// Throws InvalidCodeObject.
ElfImage read_elf_image(std::span<const std::byte> file);

}  // namespace hsadrv
