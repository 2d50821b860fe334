// Fat binaries: host programs, libraries and objects with code for GPUs in sections of their own, as hipcc and clang
// make them.
//
//     if (is_host_elf(file))
//         for (const EmbeddedCode& code : find_embedded_code(file)) use(code.section, code.bytes);   // a bundle each
//
// Pure functions of bytes. What is returned points into the bytes given: Borrows them for as long as it is used.
// Thread safety: no state. Sources: System V ABI, ELF; clang's CodeGen for HIP (section .hip_fatbin, a bundle for each
// translation unit, at multiples of a page); LLVM's offload wrapper (section .llvm.offloading).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hsadrv {

struct EmbeddedCode {
    std::string_view section;          ///< ".hip_fatbin", ".llvm.offloading"
    std::uint64_t offset_bytes = 0;    ///< in the file
    std::span<const std::byte> bytes;  ///< one offload bundle, plain or compressed, or one offload binary
};

/// An ELF file for another machine than AMDGPU.
bool is_host_elf(std::span<const std::byte> file);

/// "ELF program or library for x86-64", "ELF object for AArch64", for messages about such a file; it may be truncated.
std::string host_elf_text(std::span<const std::byte> file);

/// What such a file holds for GPUs, in its order; nothing if it has no such section. Throws InvalidCodeObject for a
/// file that is truncated or malformed, and for sections that hold something else.
std::vector<EmbeddedCode> find_embedded_code(std::span<const std::byte> file);

}  // namespace hsadrv
